//===- Inspect.cpp - pipewright inspect
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CostOptions.h"
#include "Diagnostics.h"
#include "ModelOptions.h"
#include "RaiseReport.h"
#include "Subcommands.h"

#include "pipewright/Cost/LayerTable.h"
#include "pipewright/Driver/Compiler.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace pipewright;

static cl::SubCommand command("inspect",
                              "Show the layers of a model and what they cost");
static cl::OptionCategory category("Options");
static ModelOptions modelOptions(command, category);
static CostOptions costOptions(command, category);

static cl::opt<bool> asJson("json", cl::sub(command), cl::cat(category),
                            cl::desc("Print JSON"));
static cl::opt<bool>
    withReport("report", cl::sub(command), cl::cat(category),
               cl::desc("Show what was raised from ops that the exporter "
                        "spelled out, and what was left and why"));

/// "1.2 G" for 1.2e9, and so on.
static std::string formatCount(int64_t count) {
  static constexpr std::pair<int64_t, const char *> units[] = {
      {1000000000000, "T"}, {1000000000, "G"}, {1000000, "M"}, {1000, "k"}};
  for (auto [size, unit] : units)
    if (count >= size)
      return formatv("{0:F1} {1}", double(count) / size, unit).str();
  return std::to_string(count);
}

static void printTable(const LayerTable &table) {
  constexpr const char *row =
      "{0,-28}{1,6}{2,12}{3,12}{4,12}{5,12}{6,12}{7,12}{8,12}\n";
  outs() << formatv(row, "layer", "ops", "parameters", "forward", "b. input",
                    "b. weight", "activation", "residual", "time");
  for (const LayerRow &layer : table.layers)
    outs() << formatv(
        row, layer.name, layer.ops, formatCount(layer.parameters),
        formatCount(layer.flopsForward), formatCount(layer.flopsBackwardInput),
        formatCount(layer.flopsBackwardWeight),
        formatBytes(layer.activationBytes), formatBytes(layer.residualBytes),
        formatSeconds(layer.secondsForward + layer.secondsBackwardInput +
                      layer.secondsBackwardWeight));
  outs() << formatv(
      "\n{0:N} parameters in {1} layers; FLOPs, bytes and times are "
      "those of one micro-batch\n",
      table.parameters, table.layers.size());
}

static int runParsed() {
  BuildOptions options;
  RaiseReport report;
  if (!modelOptions.apply(options) || !costOptions.apply(options))
    return refused;
  CommandContext commandContext;
  mlir::MLIRContext &context = commandContext.context;
  if (withReport)
    report.listen(context);

  mlir::OwningOpRef<mlir::ModuleOp> module = loadModel(options, context);
  if (!module || mlir::failed(priceLayers(*module, options)))
    return refused;
  LayerTable table = makeLayerTable(*module);
  if (!asJson) {
    printTable(table);
    if (withReport)
      report.print(outs());
    return done;
  }
  json::Object object = toJSON(table);
  object["model"] = options.model;
  object["device"] = options.device;
  if (withReport)
    addTo(object, report);
  outs() << formatv("{0:2}", json::Value(std::move(object))) << '\n';
  return done;
}

int pipewright::runInspect(int argc, char **argv) {
  std::vector<const char *> arguments(argv, argv + argc);
  if (!parseArguments(arguments, command, category,
                      formatExamples({"pipewright inspect gpt.onnx --bind "
                                      "batch=4 --json"})))
    return wrongCommandLine;
  return runParsed();
}
