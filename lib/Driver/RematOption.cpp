//===- RematOption.cpp - What `--remat` takes
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Driver/RematOption.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace pipewright;

/// The policy of one layer, or of several: "full", "full*3".
static Expected<std::pair<std::string, int64_t>> parseRun(StringRef run) {
  constexpr int64_t mostLayers = 1'000'000;
  auto [name, times] = run.split('*');
  int64_t count = 1;
  bool isCount =
      name.size() == run.size() ||
      (!times.getAsInteger(10, count) && count >= 1 && count <= mostLayers);
  if (isCount && is_contained({"none", "selective", "full"}, name))
    return std::pair(name.str(), count);
  return createStringError("--remat: '" + run +
                           "' is not none, selective, full or auto, nor the "
                           "policies of all layers, such as none*3,full*2");
}

Error pipewright::parseRemat(StringRef text, BuildOptions &options) {
  options.needs.layerRemats.clear();
  if (is_contained({"none", "selective", "full", "auto"}, text)) {
    options.remat = text;
    return Error::success();
  }
  for (StringRef part : split(text, ',')) {
    Expected<std::pair<std::string, int64_t>> run = parseRun(part);
    if (!run)
      return run.takeError();
    options.needs.layerRemats.insert(options.needs.layerRemats.end(),
                                     run->second, run->first);
  }
  return Error::success();
}

std::string pipewright::formatRemat(const BuildOptions &options) {
  ArrayRef<std::string> layers = options.needs.layerRemats;
  if (layers.empty())
    return options.remat;
  if (all_equal(layers))
    return layers.front();
  std::vector<std::string> runs;
  while (!layers.empty()) {
    ArrayRef<std::string> run = layers.take_while(
        [&](const std::string &layer) { return layer == layers.front(); });
    runs.push_back(run.front() +
                   (run.size() == 1 ? "" : "*" + std::to_string(run.size())));
    layers = layers.drop_front(run.size());
  }
  return join(runs, ",");
}
