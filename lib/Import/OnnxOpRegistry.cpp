//===- OnnxOpRegistry.cpp - The ONNX operators that we import
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Import/OnnxOpRegistry.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace pipewright;

namespace pipewright {
#define PIPEWRIGHT_ENTRY(name) void register##name(OnnxOpRegistry &registry);
#include "pipewright/Import/Ops.def"
#undef PIPEWRIGHT_ENTRY
} // namespace pipewright

const OnnxOpRegistry &OnnxOpRegistry::get() {
  static const OnnxOpRegistry registry = [] {
    OnnxOpRegistry all;
#define PIPEWRIGHT_ENTRY(name)                                                 \
  all.setDomain("");                                                           \
  register##name(all);
#include "pipewright/Import/Ops.def"
#undef PIPEWRIGHT_ENTRY
    return all;
  }();
  return registry;
}

static std::string getKey(StringRef domain, StringRef name) {
  return (domain + "::" + name).str();
}

void OnnxOpRegistry::addOp(OnnxOp op) {
  std::string key = getKey(op.domain, op.name);
  bool isNew = ops.try_emplace(key, std::move(op)).second;
  (void)isNew;
  assert(isNew && "an operator is registered once");
}

const OnnxOp *OnnxOpRegistry::find(StringRef domain, StringRef name) const {
  auto it = ops.find(getKey(domain, name));
  return it == ops.end() ? nullptr : &it->second;
}

std::vector<const OnnxOp *> OnnxOpRegistry::getOps() const {
  std::vector<const OnnxOp *> sorted;
  for (const auto &entry : ops)
    sorted.push_back(&entry.second);
  llvm::sort(sorted, [](const OnnxOp *lhs, const OnnxOp *rhs) {
    return std::tie(lhs->domain, lhs->name) < std::tie(rhs->domain, rhs->name);
  });
  return sorted;
}

LogicalResult OnnxOp::import(OnnxNode &node) const {
  if (node.getOpset() < since)
    return node.emitError() << "is that of operator set " << node.getOpset()
                            << ", but the oldest supported is " << since
                            << "; export the model with a newer one";
  for (int64_t i = 0; i < arity.required; ++i)
    if (!node.hasOperand(i))
      return node.emitError() << "lacks operand " << i;
  if (arity.most != Arity::unlimited && node.getNumOperands() > arity.most)
    return node.emitError() << "has " << node.getNumOperands()
                            << " operands, more than " << arity.most;
  if (importNode)
    return importNode(node);
  FailureOr<Value> value = importValue(node);
  if (succeeded(value))
    node.setResult(0, *value);
  return value;
}
