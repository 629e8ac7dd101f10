//===- NNDialect.cpp - Registration of the nn dialect
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Dialect/NN/NN.h"
#include "pipewright/Dialect/NN/TensorSize.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace pipewright;

#include "pipewright/Dialect/NN/NNDialect.cpp.inc"
#include "pipewright/Dialect/NN/NNEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "pipewright/Dialect/NN/NNAttrs.cpp.inc"
#define GET_OP_CLASSES
#include "pipewright/Dialect/NN/NNOps.cpp.inc"

void nn::NNDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "pipewright/Dialect/NN/NNAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "pipewright/Dialect/NN/NNOps.cpp.inc"
      >();
}

Operation *nn::NNDialect::materializeConstant(OpBuilder &builder,
                                              Attribute value, Type type,
                                              Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return nullptr;
  return nn::ConstantOp::create(builder, loc, type, elements);
}
