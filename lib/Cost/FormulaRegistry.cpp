//===- FormulaRegistry.cpp - The work of each nn op
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Cost/FormulaRegistry.h"

#include "pipewright/Dialect/PP/PP.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace pipewright;

namespace pipewright {
#define PIPEWRIGHT_ENTRY(NAME) void register##NAME(FormulaRegistry &registry);
#include "pipewright/Cost/Formulas.def"
#undef PIPEWRIGHT_ENTRY
} // namespace pipewright

const FormulaRegistry &FormulaRegistry::get() {
  static const FormulaRegistry registry = [] {
    FormulaRegistry registry;
#define PIPEWRIGHT_ENTRY(NAME) register##NAME(registry);
#include "pipewright/Cost/Formulas.def"
#undef PIPEWRIGHT_ENTRY
    return registry;
  }();
  return registry;
}

std::optional<Work> FormulaRegistry::evaluate(Operation *op) const {
  auto formula = formulas.find(op->getName().getStringRef());
  if (formula == formulas.end())
    return std::nullopt;
  Work work = formula->second(op);
  if (!op->hasTrait<nn::Contraction>())
    work.vectorFlops = work.flops;
  return work;
}

Work FormulaRegistry::perResultElement(Operation *op, int64_t flops) {
  return streamOperands(op, flops * countElements(op->getResult(0)));
}

FloatKind pipewright::getFloatKind(Operation *op) {
  bool readsOperands = op->hasTrait<nn::Contraction>();
  Type type =
      readsOperands ? op->getOperand(0).getType() : op->getResult(0).getType();
  Type element = getElementTypeOrSelf(type);
  if (element.isF64())
    return FloatKind::F64;
  if (element.isBF16())
    return FloatKind::BF16;
  return element.isF16() ? FloatKind::F16 : FloatKind::F32;
}

int64_t pipewright::countElements(Value value) {
  return cast<RankedTensorType>(value.getType()).getNumElements();
}

Work pipewright::streamOperands(Operation *op, int64_t flops) {
  Work work;
  work.flops = flops;
  // What is the same everywhere is part of the code.
  SplatElementsAttr splat;
  for (Value operand : op->getOperands())
    if (!matchPattern(operand, m_Constant(&splat)))
      work.bytesRead += pp::getBytes(operand.getType());
  for (Type type : op->getResultTypes())
    work.bytesWritten += pp::getBytes(type);
  return work;
}
