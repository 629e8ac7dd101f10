//===- AnnotateCosts.cpp - Put a cost on each layer
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Cost/Passes.h"

#include "pipewright/Cost/ExchangeTimes.h"
#include "pipewright/Cost/FormulaRegistry.h"
#include "pipewright/Cost/FunctionCost.h"
#include "pipewright/Cost/LayerFunctions.h"
#include "pipewright/Cost/LayerTimes.h"
#include "pipewright/Cost/Profile.h"
#include "pipewright/Dialect/PP/ExchangedRows.h"

#include "mlir/IR/BuiltinOps.h"

#include <cmath>

namespace pipewright {
#define GEN_PASS_DEF_ANNOTATECOSTS
#include "pipewright/Cost/Passes.h.inc"
} // namespace pipewright

using namespace mlir;
using namespace pipewright;

namespace {
/// What the functions of a layer cost.
struct RoleCosts {
  FunctionCost forward, backward, weight, recompute;
};

struct AnnotateCosts : pipewright::impl::AnnotateCostsBase<AnnotateCosts> {
  using AnnotateCostsBase::AnnotateCostsBase;
  void runOnOperation() override;

private:
  LogicalResult readFiles();
  double getFilledRows(pp::LayerOp layer);
  pp::CostAttr price(pp::LayerOp layer, const LayerFunctions &functions);
  pp::CostAttr estimate(pp::LayerOp layer, nn::FunctionOp function);
  const MeasuredLayer *findMeasured(const LayerFunctions &functions);
  LogicalResult checkGiven();
  Device device;
  std::optional<Profile> measured;
  std::optional<LayerTimes> given;
  ExchangeTimes exchanges;
};
} // namespace

static int64_t toPicoseconds(double seconds) {
  return std::llround(seconds * 1e12);
}

static int64_t getResultBytes(pp::LayerOp layer) {
  int64_t bytes = 0;
  for (Type type : layer.getResultTypes())
    bytes += pp::getBytes(type);
  return bytes;
}

static pp::CostAttr makeCost(pp::LayerOp layer, const RoleCosts &roles,
                             int64_t residualBytes, int64_t selectiveBytes) {
  return pp::CostAttr::get(
      layer.getContext(), roles.forward.work.flops, roles.backward.work.flops,
      roles.weight.work.flops, toPicoseconds(roles.forward.seconds),
      toPicoseconds(roles.backward.seconds),
      toPicoseconds(roles.weight.seconds), getResultBytes(layer), residualBytes,
      toPicoseconds(roles.recompute.seconds), selectiveBytes,
      getInputBytes(layer), pp::CostSource::Formula);
}

/// The part of the rows before the experts of \p layer that have one, if all
/// peers send as many: of the places for its rows, a peer has all of them for
/// each of the others, or as many as the capacity leaves.
double AnnotateCosts::getFilledRows(pp::LayerOp layer) {
  auto exchanged = pp::findExchanged(layer);
  double part = exchanged.empty() ? 1 : 1.0 / exchanged.front().getPeers();
  if (capacity > 0)
    part = std::max(part, 1 / capacity);
  return std::min(part, 1.0);
}

/// Without a derivative: B and W repeat the contractions, and the result of
/// each op that does arithmetic is kept, or with the policy `selective` that
/// of each contraction, and the other ops are repeated.
pp::CostAttr AnnotateCosts::estimate(pp::LayerOp layer,
                                     nn::FunctionOp function) {
  double filledRows = getFilledRows(layer);
  FunctionCost contractions =
      priceFunction(function, device, /*contractionsOnly=*/true, filledRows);
  int64_t residualBytes = 0;
  for (Operation &op : function.getBody().front().without_terminator()) {
    std::optional<Work> work = FormulaRegistry::get().evaluate(&op);
    if (work && work->flops != 0)
      residualBytes += work->bytesWritten;
  }
  RoleCosts roles;
  roles.forward =
      priceFunction(function, device, /*contractionsOnly=*/false, filledRows);
  roles.backward = contractions;
  if (!layer.getParameters().empty())
    roles.weight = contractions;
  roles.recompute.seconds = roles.forward.seconds - contractions.seconds;
  return makeCost(layer, roles, residualBytes, contractions.work.bytesWritten);
}

pp::CostAttr AnnotateCosts::price(pp::LayerOp layer,
                                  const LayerFunctions &functions) {
  if (!functions.derivative)
    return estimate(layer, functions.forward);
  double filledRows = getFilledRows(layer);
  auto priceRole = [&](nn::FunctionOp function) {
    return function ? priceFunction(function, device,
                                    /*contractionsOnly=*/false, filledRows)
                    : FunctionCost();
  };
  auto getKept = [&](pp::RematPolicy policy) {
    return getKeptBytes(layer, functions.derivative, functions.forward, policy);
  };
  return makeCost(layer,
                  {priceRole(functions.forward), priceRole(functions.backward),
                   priceRole(functions.weight), priceRole(functions.recompute)},
                  getKept(pp::RematPolicy::None),
                  getKept(pp::RematPolicy::Selective));
}

/// The measurement of layers, if there is a profile; a remark if it has none.
const MeasuredLayer *
AnnotateCosts::findMeasured(const LayerFunctions &functions) {
  if (!measured)
    return nullptr;
  const MeasuredLayer *found = measured->find(getLayerKey(functions));
  if (found)
    return found;
  bool areGiven = given && llvm::all_of(functions.layers, [&](pp::LayerOp op) {
                    return given->find(op.getName());
                  });
  if (areGiven)
    return nullptr;
  pp::LayerOp first = functions.layers.front();
  InFlightDiagnostic remark = first.emitRemark("layer '")
                              << first.getName() << "' has no measurement in '"
                              << profileFile << "'; its cost is by formula";
  if (size_t others = functions.layers.size() - 1)
    remark << ", and that of " << others << (others == 1 ? " layer" : " layers")
           << " like it";
  return nullptr;
}

/// \p cost with \p times, as far as they are given, in place of its own.
static pp::CostAttr replaceTimes(pp::CostAttr cost, const RoleTimes &times,
                                 pp::CostSource source) {
  auto convert = [](std::optional<double> seconds, int64_t picoseconds) {
    return seconds ? toPicoseconds(*seconds) : picoseconds;
  };
  return pp::CostAttr::get(
      cost.getContext(), cost.getFlopsF(), cost.getFlopsB(), cost.getFlopsW(),
      convert(times.forward, cost.getPicosecondsF()),
      convert(times.backwardInput, cost.getPicosecondsB()),
      convert(times.backwardWeight, cost.getPicosecondsW()),
      cost.getActivationBytes(), cost.getResidualBytes(),
      convert(times.recompute, cost.getPicosecondsR()),
      cost.getSelectiveBytes(), cost.getInputBytes(), source);
}

/// A gradient that was not measured is one that the layer does not have.
static RoleTimes getTimes(const MeasuredLayer &layer) {
  auto getSeconds = [](const std::optional<Measurement> &time) {
    return time ? time->seconds : 0;
  };
  RoleTimes times;
  times.forward = layer.forward.seconds;
  times.backwardInput = getSeconds(layer.backwardInput);
  times.backwardWeight = getSeconds(layer.backwardWeight);
  if (layer.recompute)
    times.recompute = layer.recompute->seconds;
  return times;
}

/// Adds the times of the exchanges that the layer waits for. B is there unless
/// the derivative has none.
static pp::CostAttr addExchanges(pp::CostAttr cost, pp::LayerOp layer,
                                 const LayerFunctions &functions) {
  bool hasBackward = functions.backward || !functions.derivative;
  int64_t forward = pp::getExchangePicoseconds(layer);
  int64_t backward =
      hasBackward ? pp::getExchangePicoseconds(layer, /*ofGradients=*/true) : 0;
  return pp::CostAttr::get(
      cost.getContext(), cost.getFlopsF(), cost.getFlopsB(), cost.getFlopsW(),
      cost.getPicosecondsF() + forward, cost.getPicosecondsB() + backward,
      cost.getPicosecondsW(), cost.getActivationBytes(),
      cost.getResidualBytes(), cost.getPicosecondsR(), cost.getSelectiveBytes(),
      cost.getInputBytes(), cost.getSource());
}

/// Refuses times of other micro-batches, and rows that match nothing.
LogicalResult AnnotateCosts::checkGiven() {
  pp::ModelOp model = pp::getModel(getOperation());
  auto refuse = [&] {
    return emitError(UnknownLoc::get(&getContext()))
           << "'" << layerTimesFile << "' has times ";
  };
  if (given->microbatchSize != model.getMicrobatchSize())
    return refuse() << "of micro-batches of " << given->microbatchSize
                    << ", not of " << model.getMicrobatchSize();
  for (const LayerTime &row : given->rows)
    if (llvm::none_of(model.getOps<pp::LayerOp>(), [&](pp::LayerOp layer) {
          return row.matches(layer.getName());
        }))
      return refuse() << "for '" << row.pattern
                      << "', which matches no layer of the model";
  return success();
}

LogicalResult AnnotateCosts::readFiles() {
  auto refuse = [&](llvm::Error error) {
    return emitError(UnknownLoc::get(&getContext()))
           << llvm::toString(std::move(error));
  };
  llvm::Expected<Device> loaded = loadDevice(deviceName);
  if (!loaded)
    return refuse(loaded.takeError());
  device = std::move(*loaded);
  measured.reset();
  given.reset();
  if (!profileFile.empty()) {
    llvm::Expected<Profile> profile = readProfile(profileFile);
    if (!profile)
      return refuse(profile.takeError());
    measured = std::move(*profile);
  }
  if (!layerTimesFile.empty()) {
    llvm::Expected<LayerTimes> times = readLayerTimes(layerTimesFile);
    if (!times)
      return refuse(times.takeError());
    given = std::move(*times);
  }
  std::optional<Topology> topology;
  if (!topologyFile.empty()) {
    llvm::Expected<Topology> read = loadTopology(topologyFile);
    if (!read)
      return refuse(read.takeError());
    topology = std::move(*read);
  }
  exchanges = ExchangeTimes(std::move(topology),
                            measured ? &*measured : nullptr, ranks);
  return success();
}

void AnnotateCosts::runOnOperation() {
  if (!pp::getModel(getOperation()))
    return;
  if (failed(readFiles()) || (given && failed(checkGiven())))
    return signalPassFailure();
  pp::getModel(getOperation()).walk([&](pp::ExchangedOp exchange) {
    exchange.setPicoseconds(toPicoseconds(exchanges.getSeconds(exchange)));
  });
  for (const LayerFunctions &functions : findLayerFunctions(getOperation())) {
    const MeasuredLayer *times = findMeasured(functions);
    for (pp::LayerOp layer : functions.layers) {
      pp::CostAttr cost = price(layer, functions);
      if (times)
        cost = replaceTimes(cost, getTimes(*times), pp::CostSource::Measured);
      if (const LayerTime *row = given ? given->find(layer.getName()) : nullptr)
        cost = replaceTimes(cost, *row, pp::CostSource::Table);
      layer.setCostAttr(addExchanges(cost, layer, functions));
    }
  }
  pp::setPhase(getOperation(), pp::Phase::Cost);
}
