//===- InsertAllReduce.cpp - Add the gradients of both directions
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Comm/Passes.h"

#include "pipewright/Dialect/PP/PP.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

#include <set>

namespace pipewright {
#define GEN_PASS_DEF_INSERTALLREDUCE
#include "pipewright/Comm/Passes.h.inc"
} // namespace pipewright

using namespace mlir;
using namespace pipewright;

namespace {
struct InsertAllReduce
    : pipewright::impl::InsertAllReduceBase<InsertAllReduce> {
  void runOnOperation() override;
};
} // namespace

/// The numbers of the layers whose gradients tasks make, by parameter.
static llvm::StringMap<std::set<int64_t>> findGradients(ModuleOp module) {
  llvm::StringMap<std::set<int64_t>> layers;
  for (auto task : module.getOps<pp::TaskOp>())
    for (auto binding : task.getResultBindings().getAsRange<pp::BindingAttr>())
      if (binding.getKind() == pp::BindingKind::Gradient)
        layers[binding.getName()].insert(binding.getIndex());
  return layers;
}

void InsertAllReduce::runOnOperation() {
  llvm::StringMap<std::set<int64_t>> layers = findGradients(getOperation());
  for (auto update : getOperation().getOps<pp::UpdateOp>()) {
    const std::set<int64_t> &made = layers[update.getParameter()];
    update.setLayers(SmallVector<int64_t>(made.begin(), made.end()));
  }
}
