//===- ParameterBytes.cpp - What parameters need on a rank
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Dialect/PP/ParameterBytes.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace pipewright;

int64_t pp::countCopies(ModuleOp module) {
  auto rules = module.getOps<UpdateRuleOp>();
  return rules.empty() ? 1 : 2 + countStates((*rules.begin()).getOptimizer());
}

int64_t pp::getParameterBytes(ArrayRef<Attribute> parameters,
                              const SymbolTable &symbols, int64_t copies) {
  int64_t bytes = 0;
  for (Attribute name : parameters) {
    auto parameter =
        symbols.lookup<ParameterOp>(cast<FlatSymbolRefAttr>(name).getValue());
    bytes +=
        getBytes(parameter.getType()) * (parameter.getTrainable() ? copies : 1);
  }
  return bytes;
}
