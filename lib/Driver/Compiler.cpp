//===- Compiler.cpp - From a model file to a build directory
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Driver/Compiler.h"

#include "CutModel.h"
#include "PredictStep.h"
#include "SuggestFit.h"

#include "pipewright/Codegen/Target.h"
#include "pipewright/Driver/AddTopology.h"
#include "pipewright/Driver/Phases.h"
#include "pipewright/Driver/ProfileModel.h"
#include "pipewright/Driver/ResolveSchedule.h"
#include "pipewright/Driver/StageHints.h"
#include "pipewright/Import/Import.h"
#include "pipewright/Package/OutputDirectory.h"
#include "pipewright/Package/PackageBuild.h"
#include "pipewright/Support/TextFile.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace pipewright;

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

/// The size of a micro-batch that the options ask for, if any.
static FailureOr<std::optional<int64_t>>
getMicrobatchSize(const BuildOptions &options, Location loc) {
  if (!options.globalBatch)
    return options.microbatchSize;
  int64_t microbatches = options.replicas * options.microbatches;
  if (*options.globalBatch % microbatches != 0)
    return emitError(loc) << "a global batch of " << *options.globalBatch
                          << " cannot be cut into " << microbatches
                          << " equal micro-batches";
  int64_t size = *options.globalBatch / microbatches;
  if (options.microbatchSize && *options.microbatchSize != size)
    return emitError(loc) << "a global batch of " << *options.globalBatch
                          << " is not " << microbatches << " micro-batches of "
                          << *options.microbatchSize;
  return std::optional<int64_t>(size);
}

/// The option of an import that \p options give; "" if there is none.
static StringRef findImportOption(const BuildOptions &options) {
  if (!options.bind.empty())
    return "--bind";
  if (!options.paramsFromInputs.empty())
    return "--params-from-inputs";
  if (!options.weights.empty())
    return "--weights";
  return options.separateCopies ? "--separate-copies" : "";
}

/// Reads what an import wrote. Its sizes and parameters are fixed.
static OwningOpRef<ModuleOp> readImported(const BuildOptions &options,
                                          std::optional<int64_t> size,
                                          MLIRContext &context) {
  Location loc = UnknownLoc::get(&context);
  if (StringRef option = findImportOption(options); !option.empty()) {
    emitError(loc) << "'" << options.model << "' is imported already; give "
                   << option << " when it is";
    return nullptr;
  }
  auto module =
      parseSourceFile<ModuleOp>(options.model, ParserConfig(&context));
  if (!module)
    return nullptr;
  pp::ModelOp model = pp::getModel(*module);
  bool isLater = pp::getPhase(*module) != pp::Phase::Import;
  if (isLater || !model) {
    emitError(loc) << "'" << options.model << "' "
                   << (isLater ? "is the IR of a later phase"
                               : "has no 'pp.model'")
                   << "; give a model, or what 'pp-translate --import-onnx' "
                      "writes";
    return nullptr;
  }
  if (size && *size != model.getMicrobatchSize()) {
    emitError(loc) << "'" << options.model
                   << "' was imported for micro-batches "
                   << "of " << model.getMicrobatchSize() << ", not of "
                   << *size;
    return nullptr;
  }
  return module;
}

static OwningOpRef<ModuleOp> readModel(const BuildOptions &options,
                                       MLIRContext &context,
                                       ImportNotes *notes) {
  Location loc = UnknownLoc::get(&context);
  FailureOr<std::optional<int64_t>> size = getMicrobatchSize(options, loc);
  if (failed(size))
    return nullptr;
  if (StringRef(options.model).ends_with(".mlir"))
    return readImported(options, *size, context);

  ImportOptions import;
  import.path = options.model;
  for (const auto &entry : options.bind)
    import.bind[entry.getKey()] = entry.getValue();
  import.microbatchSize = *size;
  import.allowExternalSymlinks = options.allowExternalSymlinks;
  import.tieCopies = !options.separateCopies;
  import.paramsFromInputs = options.paramsFromInputs;
  import.weights = options.weights;
  import.notes = notes;
  return importOnnx(import, &context);
}

OwningOpRef<ModuleOp> pipewright::loadModel(const BuildOptions &options,
                                            MLIRContext &context,
                                            ImportNotes *notes) {
  OwningOpRef<ModuleOp> module = readModel(options, context, notes);
  bool isRefused = module && !options.profile.empty() &&
                   failed(checkProfile(*module, options));
  return isRefused ? nullptr : std::move(module);
}

//===----------------------------------------------------------------------===//
// The phases
//===----------------------------------------------------------------------===//

/// Writes the IR as `NN-phase.mlir` into the folder that the user asked for.
static LogicalResult emitIr(ModuleOp module, const PhaseInfo &phase,
                            StringRef directory) {
  SmallString<128> path(directory);
  llvm::sys::path::append(
      path, llvm::formatv("{0,0+2}-{1}.mlir", phase.number, phase.name.lower())
                .str());
  if (std::error_code error = llvm::sys::fs::create_directories(directory))
    return emitError(UnknownLoc::get(module.getContext()))
           << "cannot make '" << directory << "': " << error.message();
  llvm::Error error =
      writeTextFile(path, [&](llvm::raw_ostream &os) { module.print(os); });
  if (!error)
    return success();
  return emitError(UnknownLoc::get(module.getContext()))
         << llvm::toString(std::move(error));
}

LogicalResult pipewright::runPhases(ModuleOp module, BuildOptions &options,
                                    PhaseListener listener) {
  // What was to be cut, should it not fit.
  OwningOpRef<ModuleOp> priced;
  BuildOptions asked;
  for (const PhaseInfo &phase : getPhases()) {
    listener(phase.name);
    if (phase.name == "Stages") {
      choosePlacement(module, options);
      if (failed(addTopology(module, options)) ||
          failed(followStageHints(module, options)))
        return failure();
      if (options.memory > 0) {
        priced = module.clone();
        asked = options;
      }
      if (failed(cutModel(module, options)))
        return failure();
    }
    if (failed(runAll(phase, module, options))) {
      if (phase.name == "Program" && priced)
        suggestFit(*priced, asked);
      return failure();
    }
    if (!options.emitIr.empty() &&
        failed(emitIr(module, phase, options.emitIr)))
      return failure();
  }
  return success();
}

LogicalResult pipewright::runLayerPhases(ModuleOp module,
                                         const BuildOptions &options,
                                         PhaseListener listener) {
  for (const PhaseInfo &phase : getPhasesBefore("Cost")) {
    listener(phase.name);
    if (failed(runAll(phase, module, options)))
      return failure();
  }
  return success();
}

LogicalResult pipewright::priceLayers(ModuleOp module,
                                      const BuildOptions &options) {
  BuildOptions known = options;
  if (options.loss.empty() && options.profile.empty())
    known.forwardOnly = true;
  return runAll(getPhasesBefore("Stages"), module, known);
}

//===----------------------------------------------------------------------===//
// The build
//===----------------------------------------------------------------------===//

std::string pipewright::findRuntimeLibrary(StringRef target) {
  static char anchor;
  std::string program = llvm::sys::fs::getMainExecutable(nullptr, &anchor);
  SmallString<128> path(llvm::sys::path::parent_path(program));
  llvm::sys::path::append(
      path, "..", "lib",
      TargetRegistry::get().find(target)->getRuntimeLibrary());
  llvm::sys::path::remove_dots(path, /*remove_dot_dot=*/true);
  return path.str().str();
}

/// Completes what \p options say of the target. What a build needs and this
/// machine does not have is said before anybody waits for it.
static LogicalResult resolveTarget(BuildOptions &options,
                                   MLIRContext &context) {
  Location loc = UnknownLoc::get(&context);
  const CodegenTarget *target =
      TargetRegistry::get().findOrReport(options.target, loc);
  if (!target)
    return failure();
  llvm::Expected<TargetOptions> resolved =
      target->resolveOptions({options.processor, options.libraryConvolutions,
                              options.libraryAttention});
  if (!resolved)
    return emitError(loc) << llvm::toString(resolved.takeError());
  options.processor = resolved->processor;
  options.libraryConvolutions = resolved->libraryConvolutions;
  std::string library = findRuntimeLibrary(options.target);
  if (llvm::sys::fs::exists(library))
    return success();
  return emitError(loc) << "cannot build for the target '" << options.target
                        << "': its runtime library '" << library
                        << "' was not built with this pipewright";
}

/// Says what is wrong with the place of the build before anybody waits for it.
static LogicalResult checkOutput(const BuildOptions &options,
                                 MLIRContext &context) {
  llvm::Error error = OutputDirectory::check(options.output, options.force,
                                             {options.model, options.weights});
  if (!error)
    return success();
  return emitError(UnknownLoc::get(&context))
         << llvm::toString(std::move(error));
}

/// A build has all values; models of shapes only are for looking at.
static LogicalResult checkValues(ModuleOp module) {
  for (auto parameter : module.getOps<pp::ParameterOp>()) {
    auto external = dyn_cast<pp::ExternalAttr>(parameter.getValue());
    if (external && external.getFile().empty())
      return emitError(UnknownLoc::get(module.getContext()))
             << "parameter '" << parameter.getSymName()
             << "' has no values to build with; give --weights, the file that "
                "has them";
  }
  return success();
}

/// The model of \p options, which are completed; null, with diagnostics, if it
/// is refused.
static OwningOpRef<ModuleOp>
beginPlan(BuildOptions &options, MLIRContext &context, PhaseListener listener) {
  listener("Read");
  if (llvm::Error error = resolveSchedule(options)) {
    emitError(UnknownLoc::get(&context)) << llvm::toString(std::move(error));
    return nullptr;
  }
  ImportNotes notes;
  OwningOpRef<ModuleOp> module = loadModel(options, context, &notes);
  options.needs.stageHints = std::move(notes.stages);
  return module;
}

FailureOr<StepModel> pipewright::planStep(BuildOptions options,
                                          MLIRContext &context,
                                          PhaseListener listener) {
  OwningOpRef<ModuleOp> module = beginPlan(options, context, listener);
  if (!module || failed(runPhases(*module, options, listener)))
    return failure();
  FailureOr<std::optional<Profile>> profile = loadProfile(options, context);
  if (failed(profile))
    return failure();
  PredictedMachine machine;
  return makeStepModel(*module, summarizePlan(*module), options, *profile,
                       machine);
}

FailureOr<BuildResult> pipewright::build(BuildOptions options,
                                         MLIRContext &context,
                                         PhaseListener listener) {
  if (failed(resolveTarget(options, context)) ||
      failed(checkOutput(options, context)))
    return failure();
  OwningOpRef<ModuleOp> module = beginPlan(options, context, listener);
  if (!module || failed(checkValues(*module)) ||
      failed(runPhases(*module, options, listener)))
    return failure();

  BuildResult result;
  result.plan = summarizePlan(*module);
  FailureOr<std::optional<Profile>> profile = loadProfile(options, context);
  if (failed(profile))
    return failure();
  FailureOr<PredictedStep> step =
      predictStep(*module, result.plan, options, *profile, /*draws=*/true);
  if (failed(step))
    return failure();
  result.step = *step;

  listener("Codegen");
  PackageOptions package;
  package.output = options.output;
  package.force = options.force;
  package.modelFile = options.model;
  package.target = options.target;
  package.targetOptions = {options.processor, options.libraryConvolutions};
  package.pipeline = getPipelineText(options);
  package.runtimeLibrary = findRuntimeLibrary(options.target);
  if (failed(packageBuild(*module, result.plan, result.step, package)))
    return failure();
  return result;
}
