//===- GradientRegistry.cpp - The list of gradient rules
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Training/Gradients.h"

using namespace mlir;
using namespace pipewright;

namespace pipewright {
#define PIPEWRIGHT_ENTRY(name) void register##name(GradientRegistry &registry);
#include "pipewright/Training/Gradients.def"
#undef PIPEWRIGHT_ENTRY
} // namespace pipewright

const GradientRegistry &GradientRegistry::get() {
  static const GradientRegistry registry = [] {
    GradientRegistry entries;
#define PIPEWRIGHT_ENTRY(name) register##name(entries);
#include "pipewright/Training/Gradients.def"
#undef PIPEWRIGHT_ENTRY
    return entries;
  }();
  return registry;
}

bool GradientRegistry::covers(StringRef opName, unsigned operand) const {
  if (variadic.contains(opName))
    return true;
  auto entry = rules.find(opName);
  return entry != rules.end() && entry->second.count(operand);
}

bool GradientRegistry::hasRule(StringRef opName, unsigned operand) const {
  if (variadic.contains(opName))
    return true;
  auto entry = rules.find(opName);
  if (entry == rules.end())
    return false;
  auto rule = entry->second.find(operand);
  return rule != entry->second.end() && rule->second;
}

bool GradientRegistry::hasRule(OpOperand &operand) const {
  return hasRule(operand.getOwner()->getName().getStringRef(),
                 operand.getOperandNumber());
}

Value GradientRegistry::build(OpOperand &operand, ArrayRef<Value> cotangents,
                              GradientBuilder &builder) const {
  Operation *op = operand.getOwner();
  StringRef name = op->getName().getStringRef();
  unsigned number = operand.getOperandNumber();
  if (auto rule = variadic.find(name); rule != variadic.end())
    return rule->second(op, number, cotangents[0], builder);
  return rules.find(name)->second.find(number)->second(op, cotangents, builder);
}
