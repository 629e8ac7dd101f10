//===- StepModel.cpp - What a step of a plan is simulated from
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Driver/StepModel.h"

#include "PredictStep.h"

#include "pipewright/Support/TableFile.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;
using namespace pipewright;
namespace json = llvm::json;

//===----------------------------------------------------------------------===//
// The manifest
//===----------------------------------------------------------------------===//

// In the namespace of the types, where llvm::json looks for them.
namespace pipewright {
static bool fromJSON(const json::Value &value, DeviceSummary &device,
                     json::Path path) {
  json::ObjectMapper mapper(value, path);
  if (!mapper || !mapper.map("node", device.node) ||
      !mapper.map("device", device.device) ||
      !mapper.map("time_factor", device.factor))
    return false;
  if (device.factor > 0)
    return true;
  path.field("time_factor").report("must be above 0");
  return false;
}

static bool fromJSON(const json::Value &value, PlacementSummary &placement,
                     json::Path path) {
  json::ObjectMapper mapper(value, path);
  return mapper && mapper.map("file", placement.origin);
}

static bool fromJSON(const json::Value &value, PredictedMachine &machine,
                     json::Path path) {
  json::ObjectMapper mapper(value, path);
  if (!mapper || !mapper.map("update_seconds", machine.updateSeconds) ||
      !mapper.map("topology", machine.placement))
    return false;
  return machine.placement ||
         (mapper.map("latency_seconds", machine.latencySeconds) &&
          mapper.map("bytes_per_second", machine.bytesPerSecond));
}
} // namespace pipewright

/// What the manifest in \p path says of the machine.
static llvm::Expected<PredictedMachine> readMachine(const std::string &path) {
  llvm::Expected<json::Value> manifest = readTableFile(path);
  if (!manifest)
    return manifest.takeError();
  PredictedMachine machine;
  json::Path::Root root(path);
  json::ObjectMapper mapper(*manifest, root);
  if (!mapper || !mapper.map("prediction", machine) ||
      (machine.placement && !mapper.map("ranks", machine.placement->ranks)))
    return root.getError();
  return machine;
}

//===----------------------------------------------------------------------===//
// The machine
//===----------------------------------------------------------------------===//

/// Puts the ranks of \p model on the devices that they had when it was built.
static llvm::Error addDevices(const PlacementSummary &summary,
                              StepModel &model) {
  llvm::Expected<Topology> topology = loadTopology(summary.origin);
  if (!topology)
    return topology.takeError();
  int64_t ranks = model.schedule.getRanks();
  RankPlacement placement;
  for (const DeviceSummary &rank : summary.ranks) {
    if (rank.node < 0 || rank.node >= topology->getNodes() || rank.device < 0 ||
        rank.device >= topology->getDevices(rank.node))
      return llvm::createStringError(
          "'" + summary.origin + "' has no node " + Twine(rank.node) +
          " with a device " + Twine(rank.device) +
          "; it is not the topology that this was built for");
    placement.order.devices.push_back(topology->getFirstDevice(rank.node) +
                                      rank.device);
    placement.factors.push_back(rank.factor);
  }
  if (static_cast<int64_t>(placement.order.devices.size()) != ranks)
    return llvm::createStringError("the manifest has other ranks than the "
                                   "plan");
  addPlacement({std::move(*topology)}, placement, model.costs.latency,
               model.costs.machine);
  return llvm::Error::success();
}

FailureOr<StepModel> pipewright::readBuiltStep(StringRef directory,
                                               MLIRContext &context) {
  auto refuse = [&](llvm::Error error) -> LogicalResult {
    return emitError(UnknownLoc::get(&context))
           << llvm::toString(std::move(error));
  };
  llvm::Expected<PredictedMachine> machine =
      readMachine((directory + "/manifest.json").str());
  if (!machine)
    return refuse(machine.takeError());
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(
      (directory + "/plan.mlir").str(), ParserConfig(&context));
  if (!module)
    return failure();
  FailureOr<StepModel> model = readStepModel(*module, summarizePlan(*module));
  if (failed(model))
    return failure();
  model->updateSeconds = machine->updateSeconds;
  if (!machine->placement)
    addLink(*machine, model->costs);
  else if (llvm::Error error = addDevices(*machine->placement, *model))
    return refuse(std::move(error));
  return model;
}
