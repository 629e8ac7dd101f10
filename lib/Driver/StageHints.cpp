//===- StageHints.cpp - Stages that the model asks for
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Driver/StageHints.h"

#include "pipewright/Dialect/PP/PP.h"

#include "llvm/Support/Error.h"

using namespace mlir;
using namespace pipewright;

/// The stage that the first of the nodes at \p loc which names one names.
static std::optional<int64_t> findHint(Location loc,
                                       const llvm::StringMap<int64_t> &hints) {
  std::optional<int64_t> stage;
  loc->walk([&](Location part) {
    if (auto node = dyn_cast<NameLoc>(part))
      if (auto hint = hints.find(node.getName()); hint != hints.end())
        stage = hint->second;
    return stage ? WalkResult::interrupt() : WalkResult::advance();
  });
  return stage;
}

/// The layers at which the second stage and those after it begin; says why not
/// if they cannot begin there.
static llvm::Expected<std::vector<std::string>>
findStarts(pp::ModelOp model, const BuildOptions &options) {
  std::vector<std::string> starts;
  std::optional<int64_t> current;
  for (auto layer : model.getBody().getOps<pp::LayerOp>()) {
    std::optional<int64_t> stage =
        findHint(layer.getLoc(), options.needs.stageHints);
    if (!stage || stage == current)
      continue;
    if (current && *stage < *current)
      return llvm::createStringError("asks for layer '" + layer.getName() +
                                     "' on pipeline stage " + Twine(*stage) +
                                     ", after one on stage " + Twine(*current));
    if (current)
      starts.push_back(layer.getName().str());
    current = stage;
  }
  const Placement &placement = options.needs.placement;
  size_t stages = placement.empty() ? options.ranks * options.chunks
                                    : placement.front().size();
  if (starts.size() + 1 == stages)
    return starts;
  return llvm::createStringError("asks for " + Twine(starts.size() + 1) +
                                 " pipeline stages, but the build has " +
                                 Twine(stages));
}

LogicalResult pipewright::followStageHints(ModuleOp module,
                                           BuildOptions &options) {
  pp::ModelOp model = pp::getModel(module);
  bool isAsked = options.balance == "hints";
  bool isCut = !options.splitAt.empty() || !options.needs.stageSizes.empty();
  if (isAsked && isCut)
    return model.emitError("is to be cut at its own hints and otherwise; give "
                           "--balance hints alone");
  bool hasHints = !options.needs.stageHints.empty();
  if (isAsked && !hasHints)
    return model.emitError("has no pipeline stages for '--balance hints' in "
                           "the device configurations of its nodes");
  bool mayFollow = isAsked || (options.balance.empty() && !isCut);
  if (!hasHints || !mayFollow)
    return success();
  llvm::Expected<std::vector<std::string>> starts = findStarts(model, options);
  if (starts) {
    options.splitAt = std::move(*starts);
    return success();
  }
  if (isAsked)
    return model.emitError(toString(starts.takeError()));
  model.emitRemark(toString(starts.takeError())) << "; balanced by time";
  return success();
}
