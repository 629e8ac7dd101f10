//===- PlanFile.cpp - A plan as options of a build
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanFile.h"

#include "pipewright/Driver/RematOption.h"
#include "pipewright/Support/TextFile.h"

#include "llvm/ADT/StringExtras.h"

#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include <sstream>

using namespace llvm;
using namespace pipewright;

namespace {
/// Notes what is not as by default.
class OptionTable {
public:
  void add(StringRef name, int64_t value, int64_t usual = 0) {
    if (value != usual)
      table.insert(std::string_view(name), value);
  }
  void add(StringRef name, double value) {
    table.insert(std::string_view(name), value);
  }
  void add(StringRef name, StringRef value, StringRef usual = "") {
    if (value != usual)
      table.insert(std::string_view(name), std::string_view(value));
  }
  void addList(StringRef name, ArrayRef<std::string> values) {
    toml::array list;
    for (const std::string &value : values)
      list.push_back(value);
    if (!list.empty())
      table.insert(std::string_view(name), std::move(list));
  }
  void addFlag(StringRef name, bool value) {
    if (value)
      table.insert(std::string_view(name), true);
  }
  std::string format() const {
    std::ostringstream stream;
    stream << table << '\n';
    return stream.str();
  }

private:
  toml::table table;
};
} // namespace

static std::string formatBindings(const BuildOptions &options) {
  std::vector<std::string> bindings;
  for (const auto &entry : options.bind)
    bindings.push_back((entry.getKey() + "=" + Twine(entry.getValue())).str());
  sort(bindings);
  return join(bindings, ",");
}

static std::string format(const BuildOptions &options) {
  const BuildOptions usual;
  OptionTable table;
  table.add("ranks", options.ranks);
  table.add("dp", options.replicas, usual.replicas);
  table.add("ep", options.peers, usual.peers);
  if (options.expertCapacity)
    table.add("expert-capacity", *options.expertCapacity);
  table.add("chunks", options.chunks);
  table.add("microbatches", options.microbatches);
  table.add("microbatch-size", *options.microbatchSize);
  table.add("schedule", options.schedule);
  table.addList("split-at", options.splitAt);
  table.add("remat", formatRemat(options));
  table.add("memory", options.memory);
  table.add("optimizer", options.optimizer);
  table.add("device", options.device, usual.device);
  table.add("profile", options.profile);
  table.add("layer-times", options.layerTimes);
  table.add("topology", options.topology);
  table.add("bind", formatBindings(options));
  table.add("loss", options.loss);
  table.add("ignore-index", options.ignoreIndex, usual.ignoreIndex);
  table.add("train", options.train);
  table.add("freeze", options.freeze);
  table.add("precision", options.precision);
  table.add("params-from-inputs", options.paramsFromInputs);
  table.add("weights", options.weights);
  table.addFlag("separate-copies", options.separateCopies);
  table.addFlag("allow-external-symlinks", options.allowExternalSymlinks);
  return table.format();
}

Error pipewright::writePlanFile(const BuildOptions &options, StringRef path) {
  return writeTextFile(path, [&](raw_ostream &os) { os << format(options); });
}
