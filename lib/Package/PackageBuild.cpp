//===- PackageBuild.cpp - A plan becomes a build directory
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Package/PackageBuild.h"

#include "pipewright/Codegen/CodeGenerator.h"
#include "pipewright/Package/DescribeRank.h"
#include "pipewright/Package/Manifest.h"
#include "pipewright/Package/OutputDirectory.h"
#include "pipewright/Package/Weights.h"
#include "pipewright/Support/FileHash.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"

using namespace mlir;
using namespace pipewright;

static const char launchScript[] =
#include "pipewright/Package/launch.sh.inc"
    ;

using Hash = std::array<uint8_t, 32>;

static std::string printPlanText(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, OpPrintingFlags().useLocalScope());
  stream << '\n';
  return text;
}

/// The launch script for the ranks of all replicas of \p plan.
static std::string makeLaunchScript(const PlanSummary &plan) {
  std::string text = launchScript;
  for (auto [placeholder, value] :
       {std::pair("{ranks}", plan.replicas * plan.ranks),
        std::pair("{pipeline}", plan.ranks)})
    for (size_t at; (at = text.find(placeholder)) != std::string::npos;)
      text.replace(at, StringRef(placeholder).size(), std::to_string(value));
  return text;
}

/// Compiles and links the executable of every rank.
static LogicalResult emitRanks(ModuleOp module, const PlanSummary &plan,
                               const Hash &planHash,
                               const PackageOptions &options,
                               const OutputDirectory &directory) {
  const CodegenTarget *target = TargetRegistry::get().find(options.target);
  if (!target)
    return module.emitError("has no code generation for target '")
           << options.target << "'";
  CodeGenerator generator(*target, options.targetOptions);
  for (int64_t rank = 0; rank < plan.ranks; ++rank) {
    std::string path =
        directory.getPath(llvm::formatv("bin/rank-{0,0+3}", rank).str());
    RankDescription description = describeRank(module, rank, plan, planHash);
    if (failed(generator.emitExecutable(module, rank, description,
                                        options.runtimeLibrary, path)))
      return failure();
  }
  return success();
}

static llvm::Error writeTexts(OutputDirectory &directory,
                              const PlanSummary &plan,
                              const PredictedStep &step,
                              const ManifestSource &source,
                              StringRef planText) {
  if (llvm::Error error = directory.writeFile("plan.mlir", planText))
    return error;
  if (llvm::Error error = directory.writeFile("manifest.json",
                                              makeManifest(plan, step, source)))
    return error;
  if (llvm::Error error =
          directory.writeFile("report.html", makeReport(plan, step)))
    return error;
  // It has the places of one pipeline.
  if (step.machine.placement && plan.replicas == 1) {
    std::string rankfile = makeRankfile(*step.machine.placement);
    if (llvm::Error error = rankfile.empty()
                                ? llvm::Error::success()
                                : directory.writeFile("rankfile", rankfile))
      return error;
  }
  return directory.writeFile("launch", makeLaunchScript(plan),
                             /*isExecutable=*/true);
}

LogicalResult pipewright::packageBuild(ModuleOp module, const PlanSummary &plan,
                                       const PredictedStep &step,
                                       const PackageOptions &options) {
  auto refuse = [&](llvm::Error error) -> LogicalResult {
    emitError(UnknownLoc::get(module.getContext()))
        << llvm::toString(std::move(error));
    return failure();
  };
  std::string planText = printPlanText(module);
  Hash planHash = llvm::SHA256::hash(llvm::arrayRefFromStringRef(planText));
  llvm::Expected<std::string> modelHash = hashFile(options.modelFile);
  if (!modelHash)
    return refuse(modelHash.takeError());

  llvm::Expected<OutputDirectory> directory =
      OutputDirectory::create(options.output, options.force);
  if (!directory)
    return refuse(directory.takeError());
  for (StringRef name : {"bin", "lib"})
    if (llvm::Error error = directory->makeDirectory(name))
      return refuse(std::move(error));
  if (std::error_code error = llvm::sys::fs::copy_file(
          options.runtimeLibrary,
          directory->getPath(
              ("lib/" + llvm::sys::path::filename(options.runtimeLibrary))
                  .str())))
    return refuse(llvm::createStringError(error, "cannot copy '" +
                                                     options.runtimeLibrary +
                                                     "': " + error.message()));
  if (failed(emitRanks(module, plan, planHash, options, *directory)) ||
      failed(writeWeights(module, directory->getPath("weights.safetensors"))))
    return failure();

  ManifestSource source{options.modelFile,
                        *modelHash,
                        llvm::toHex(planHash, /*LowerCase=*/true),
                        options.target,
                        options.targetOptions.processor,
                        options.pipeline};
  if (llvm::Error error = writeTexts(*directory, plan, step, source, planText))
    return refuse(std::move(error));
  if (llvm::Error error = directory->commit())
    return refuse(std::move(error));
  return success();
}
