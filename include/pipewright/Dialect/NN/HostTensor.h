//===- HostTensor.h - A tensor's values on this machine ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the reference evaluator computes with: a shape and its elements in
// row-major order. Floats of any width are held as double and integers of any
// width (and booleans, 0 or 1) as int64_t, so that each op is written twice at
// most; the element type that the IR asks for is applied by rounding.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_DIALECT_NN_HOSTTENSOR_H
#define PIPEWRIGHT_DIALECT_NN_HOSTTENSOR_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SmallVector.h"

#include <vector>

namespace pipewright::nn {

class HostTensor {
public:
  /// A tensor of floats or of integers; the number of values must be that of
  /// the shape.
  HostTensor(llvm::ArrayRef<int64_t> shape, std::vector<double> values);
  HostTensor(llvm::ArrayRef<int64_t> shape, std::vector<int64_t> values);

  /// A tensor of \p type whose elements are all 0.
  static HostTensor zeros(mlir::RankedTensorType type);

  /// The values of a constant; fails for elements that are not numbers, and
  /// for resources, whose bytes the IR does not hold.
  static mlir::FailureOr<HostTensor> fromAttribute(mlir::ElementsAttr value);

  /// A constant of \p type, which must have this tensor's shape.
  mlir::DenseElementsAttr toAttribute(mlir::RankedTensorType type) const;

  llvm::ArrayRef<int64_t> getShape() const { return shape; }
  int64_t getRank() const { return shape.size(); }
  int64_t getNumElements() const {
    return holdsFloats ? floats.size() : integers.size();
  }

  bool isFloat() const { return holdsFloats; }
  llvm::ArrayRef<double> getFloats() const { return floats; }
  llvm::MutableArrayRef<double> getFloats() { return floats; }
  llvm::ArrayRef<int64_t> getIntegers() const { return integers; }
  llvm::MutableArrayRef<int64_t> getIntegers() { return integers; }

  /// Whether shape and kind of element are those of \p type.
  bool matches(mlir::RankedTensorType type) const;

  /// Copies element \p from of \p source, of the same kind, to element \p to.
  void setElement(int64_t to, const HostTensor &source, int64_t from);

  /// Rounds floats to \p type, nearest even.
  void roundFloats(mlir::FloatType type);

  /// Wraps integers to the width of \p type.
  void wrapIntegers(mlir::IntegerType type);

private:
  llvm::SmallVector<int64_t> shape;
  bool holdsFloats;
  std::vector<double> floats;
  std::vector<int64_t> integers;
};

} // namespace pipewright::nn

#endif // PIPEWRIGHT_DIALECT_NN_HOSTTENSOR_H
