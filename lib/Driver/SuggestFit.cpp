//===- SuggestFit.cpp - What would make a build fit
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SuggestFit.h"

#include "CutModel.h"
#include "QuietErrors.h"

#include "pipewright/Driver/ResolveSchedule.h"
#include "pipewright/Package/PlanSummary.h"
#include "pipewright/Schedule/ScheduleRegistry.h"

using namespace mlir;
using namespace pipewright;

/// The largest arena of a build of \p module with \p options, cut again;
/// nothing if there is none.
static std::optional<int64_t> tryOptions(ModuleOp module,
                                         BuildOptions options) {
  QuietErrors quiet(*module.getContext());
  if (llvm::Error error = resolveSchedule(options)) {
    llvm::consumeError(std::move(error));
    return std::nullopt;
  }
  if (failed(cutModel(module, options)))
    return std::nullopt;
  return findPeak(module, options);
}

/// Each is a larger change than the one before.
static std::vector<std::pair<std::string, BuildOptions>>
listTrials(const BuildOptions &options) {
  std::vector<std::pair<std::string, BuildOptions>> trials;
  BuildOptions trial = options;
  trial.needs.layerRemats.clear();
  trial.remat = "auto";
  bool isNamed = !isSearch(options.schedule);
  if (isNamed && options.remat != "auto")
    trials.emplace_back("--remat auto", trial);
  trial.schedule = "1f1b";
  trial.chunks = 1;
  trial.needs.placement.clear();
  if (options.schedule != "1f1b" && options.splitAt.empty() &&
      options.needs.stageSizes.empty())
    trials.emplace_back("--schedule 1f1b --remat auto", trial);
  return trials;
}

void pipewright::suggestFit(ModuleOp module, const BuildOptions &options) {
  Location loc = UnknownLoc::get(module.getContext());
  std::optional<int64_t> least;
  std::string leastWith;
  for (auto &[change, trial] : listTrials(options)) {
    std::optional<int64_t> peak = tryOptions(module, trial);
    if (!peak || (least && *peak >= *least))
      continue;
    least = peak;
    leastWith = change;
    if (*least <= options.memory)
      break;
  }
  if (!least)
    return;
  if (*least <= options.memory)
    emitRemark(loc) << "with '" << leastWith << "' it fits: a rank needs "
                    << formatBytes(*least) << " at most";
  else
    emitRemark(loc) << "even with '" << leastWith << "' a rank needs "
                    << formatBytes(*least)
                    << "; use smaller micro-batches, or more ranks";
}
