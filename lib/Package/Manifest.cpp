//===- Manifest.cpp - manifest.json: what a build directory holds
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Package/Manifest.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace pipewright;
using llvm::json::OStream;

static void writeTensor(OStream &json, const TensorSummary &tensor) {
  json.attribute("name", tensor.name);
  json.attribute("dtype", tensor.dtype);
  json.attribute("shape", llvm::json::Array(tensor.shape));
}

static void writeStage(OStream &json, const StageSummary &stage) {
  json.attribute("stage", stage.index);
  json.attribute("direction", stage.direction);
  json.attribute("rank", stage.rank);
  json.attribute("chunk", stage.chunk);
  json.attribute("layers", llvm::json::Array(stage.layers));
  json.attributeArray("parameters", [&] {
    for (const ParameterSummary &parameter : stage.parameters)
      json.object([&] {
        writeTensor(json, parameter);
        json.attribute("trainable", parameter.trainable);
        if (parameter.shards > 1)
          json.attribute("shards", parameter.shards);
        if (!parameter.originalName.empty())
          json.attribute("original_name", parameter.originalName);
      });
  });
  json.attributeObject("cost", [&] {
    json.attribute("f", stage.secondsForward);
    json.attribute("b", stage.secondsBackwardInput);
    json.attribute("w", stage.secondsBackwardWeight);
    json.attribute("r", stage.secondsRecompute);
    json.attribute("source", stage.costSource);
  });
}

static void writeInput(OStream &json, const InputSummary &input) {
  writeTensor(json, input);
  json.attribute("axis", input.axis);
  if (input.labelClasses) {
    json.attribute("label_classes", input.labelClasses);
    json.attribute("ignore_index", input.ignoreIndex);
  }
  if (input.indexLimit)
    json.attribute("index_limit", input.indexLimit);
  json.attribute("ranks", llvm::json::Array(input.ranks));
}

static void writeOutput(OStream &json, const OutputSummary &output) {
  writeTensor(json, output);
  json.attribute("axis", output.axis);
}

static void writeMessage(OStream &json, const MessageSummary &message) {
  writeTensor(json, message);
  json.attribute("kind", message.kind);
  json.attribute("from", message.source);
  json.attribute("to", message.target);
  json.attribute("direction", message.direction);
  json.attribute("bytes", message.bytes);
}

/// Parts of a peak that are listed; the others are small.
static constexpr size_t mostParts = 10;

static void writePeak(OStream &json, const MemoryPeak &peak) {
  json.attribute("bytes", peak.getPeakBytes());
  json.attribute("action", peak.actions[peak.peakAction]);
  json.attributeArray("tensors", [&] {
    for (const MemoryPart &part :
         llvm::ArrayRef(peak.parts).take_front(mostParts))
      json.object([&] {
        json.attribute("what", part.what);
        json.attribute("kind", pp::stringifyBindingKind(part.kind));
        json.attribute("bytes", part.bytes);
        json.attribute("microbatches", llvm::json::Array(part.microbatches));
      });
  });
}

/// One action a line.
static void writeTimeline(OStream &json, const MemoryPeak &peak) {
  for (auto [action, bytes] : llvm::zip_equal(peak.actions, peak.liveBytes))
    json.rawValue(
        [&, &action = action, &bytes = bytes](llvm::raw_ostream &stream) {
          stream << llvm::json::Value(
              llvm::json::Object{{"action", action}, {"bytes", bytes}});
        });
}

static void writeMemory(OStream &json, int64_t rank,
                        const MemorySummary &memory) {
  json.attribute("rank", rank);
  json.attribute("arena", memory.arena);
  json.attribute("parameters", memory.parameters);
  json.attribute("gradients", memory.gradients);
  json.attribute("optimizer", memory.optimizer);
  json.attribute("activations", memory.activations);
  json.attribute("workspace", memory.workspace);
  json.attribute("total", memory.arena);
  json.attribute("saved", memory.saved);
  json.attribute("channels", memory.channels);
  json.attribute("boundary", memory.boundary);
  json.attribute("gaps", memory.gaps);
  json.attributeObject("peak", [&] { writePeak(json, memory.peak); });
  json.attributeArray("timeline", [&] { writeTimeline(json, memory.peak); });
}

static void writeRank(OStream &json, int64_t rank, const PredictedStep &step) {
  json.attribute("rank", rank);
  json.attribute("executable", llvm::formatv("bin/rank-{0,0+3}", rank).str());
  if (!step.machine.placement)
    return;
  const DeviceSummary &device = step.machine.placement->ranks[rank];
  json.attribute("node", device.node);
  json.attribute("device", device.device);
  json.attribute("device_kind", device.kind);
  json.attribute("time_factor", device.factor);
}

static void writePlacement(OStream &json, const PlacementSummary &placement) {
  json.attribute("name", placement.name);
  json.attribute("file", placement.origin);
  json.attribute("is_optimal", placement.isOptimal);
  json.attributeArray("slow_crossings", [&] {
    for (const CrossingSummary &crossing : placement.crossings)
      json.object([&] {
        json.attribute("ranks",
                       llvm::json::Array{crossing.first, crossing.second});
        json.attribute("link", crossing.link);
      });
  });
}

static void writePrediction(OStream &json, const PredictedStep &step) {
  json.attribute("step_seconds", step.makespan);
  json.attribute("bubble_ratio", step.bubbleRatio);
  json.attribute("costs", step.costs);
  const PredictedMachine &machine = step.machine;
  json.attribute("update_seconds", machine.updateSeconds);
  if (machine.placement)
    return json.attributeObject(
        "topology", [&] { writePlacement(json, *machine.placement); });
  json.attribute("latency_seconds", machine.latencySeconds);
  json.attribute("bytes_per_second", machine.bytesPerSecond);
}

template <typename T, typename Write>
static void writeList(OStream &json, llvm::StringRef name,
                      const std::vector<T> &list, Write write) {
  json.attributeArray(name, [&] {
    for (const T &element : list)
      json.object([&] { write(json, element); });
  });
}

std::string pipewright::makeManifest(const PlanSummary &plan,
                                     const PredictedStep &step,
                                     const ManifestSource &source) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  OStream json(stream, /*IndentSize=*/2);
  json.object([&] {
    json.attribute("format_version", 1);
    json.attribute("tool_version", PIPEWRIGHT_VERSION);
    json.attributeObject("model", [&] {
      json.attribute("name", plan.model);
      json.attribute("file", source.modelFile);
      json.attribute("sha256", source.modelSha256);
    });
    json.attribute("plan_sha256", source.planSha256);
    json.attributeObject("mesh", [&] {
      json.attribute("pp", plan.ranks);
      json.attribute("dp", plan.replicas);
      json.attribute("ep", plan.peers);
      json.attribute("tp", 1);
    });
    json.attributeArray("ranks", [&] {
      for (int64_t rank = 0; rank < plan.ranks; ++rank)
        json.object([&] { writeRank(json, rank, step); });
    });
    writeList(json, "stages", plan.stages, writeStage);
    writeList(json, "inputs", plan.inputs, writeInput);
    writeList(json, "outputs", plan.outputs, writeOutput);
    writeList(json, "messages", plan.messages, writeMessage);
    json.attributeObject("schedule", [&] {
      json.attribute("name", plan.schedule);
      json.attribute("ranks", plan.ranks);
      json.attribute("microbatches", plan.microbatches);
      json.attribute("chunks", plan.chunks);
      json.attribute("microbatch_size", plan.microbatchSize);
      json.attribute("global_batch",
                     plan.replicas * plan.microbatches * plan.microbatchSize);
    });
    json.attributeObject("prediction", [&] { writePrediction(json, step); });
    json.attribute("forward_only", plan.forwardOnly);
    if (!plan.forwardOnly) {
      json.attribute("optimizer", plan.optimizer);
      json.attribute("loss_rank", plan.lossRank);
    }
    json.attributeArray("memory", [&] {
      for (size_t rank = 0; rank < plan.memory.size(); ++rank)
        json.object([&] { writeMemory(json, rank, plan.memory[rank]); });
    });
    json.attribute("target", source.target);
    json.attribute("target_cpu", source.targetCpu);
    json.attribute("pipeline", source.pipeline);
  });
  stream << '\n';
  return text;
}
