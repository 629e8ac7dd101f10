//===- Loops.cpp - Loop nests of what is sequential by nature
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Loops.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace pipewright;

void pipewright::createLoops(
    Arithmetic &arith, ArrayRef<int64_t> shape,
    llvm::function_ref<void(Arithmetic &, ValueRange)> body) {
  auto getConstants = [&](ArrayRef<int64_t> values) {
    return llvm::map_to_vector(values, [&](int64_t value) -> Value {
      return arith.constantInt(arith.getIndexType(), value);
    });
  };
  SmallVector<int64_t> zeros(shape.size(), 0), ones(shape.size(), 1);
  scf::buildLoopNest(
      arith, arith.getLoc(), getConstants(zeros), getConstants(shape),
      getConstants(ones),
      [&](OpBuilder &nested, Location loc, ValueRange coordinates) {
        Arithmetic inner(loc, nested);
        body(inner, coordinates);
      });
}
