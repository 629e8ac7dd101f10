//===- ProfileModel.cpp - Times the layers of a model
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Driver/ProfileModel.h"

#include "pipewright/Cost/LayerFunctions.h"
#include "pipewright/Driver/Launcher.h"
#include "pipewright/Driver/Phases.h"
#include "pipewright/Package/Profiler.h"
#include "pipewright/Support/FileHash.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <ctime>

using namespace mlir;
using namespace pipewright;

//===----------------------------------------------------------------------===//
// What a profile is of
//===----------------------------------------------------------------------===//

/// The name that the processor gives itself.
static std::string getProcessorName() {
  auto text = llvm::MemoryBuffer::getFileAsStream("/proc/cpuinfo");
  if (!text)
    return "unknown";
  SmallVector<StringRef> lines;
  (*text)->getBuffer().split(lines, '\n');
  for (StringRef line : lines) {
    auto [key, value] = line.split(':');
    if (key.trim() == "model name")
      return value.trim().str();
  }
  return "unknown";
}

static std::string getDate() {
  time_t now = time(nullptr);
  char text[32];
  strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
  return text;
}

/// The shapes of the model's inputs, and the samples of a micro-batch.
static void describeInputs(ModuleOp module, Profile &profile) {
  pp::ModelOp model = pp::getModel(module);
  profile.microbatchSize = model.getMicrobatchSize();
  for (BlockArgument argument : model.getBody().getArguments()) {
    pp::InputAttr spec = model.getInputSpec(argument.getArgNumber());
    auto shape = cast<RankedTensorType>(argument.getType()).getShape();
    profile.inputs[spec.getName().str()] = std::vector<int64_t>(shape);
  }
}

static FailureOr<Profile> beginProfile(ModuleOp module,
                                       const BuildOptions &options) {
  llvm::Expected<std::string> hash = hashFile(options.model);
  if (!hash)
    return emitError(UnknownLoc::get(module.getContext()))
           << llvm::toString(hash.takeError());
  Profile profile;
  profile.toolVersion = PIPEWRIGHT_VERSION;
  profile.date = getDate();
  profile.model = options.model;
  profile.modelSha256 = *hash;
  for (const auto &entry : options.bind)
    profile.bindings[entry.getKey().str()] = entry.getValue();
  describeInputs(module, profile);
  profile.precision = options.precision;
  profile.loss = options.loss;
  profile.forwardOnly = options.forwardOnly;
  profile.device = getProcessorName();
  profile.target = options.target;
  profile.targetCpu = options.processor;
  return profile;
}

static std::string formatShape(const std::vector<int64_t> &shape) {
  return llvm::join(
      llvm::map_range(shape,
                      [](int64_t extent) { return std::to_string(extent); }),
      "x");
}

/// What makes \p found a profile of something else than \p wanted; "" if it is
/// not.
static std::string findDifference(const Profile &found, const Profile &wanted) {
  if (found.modelSha256 != wanted.modelSha256)
    return "the model '" + found.model + "' with SHA-256 " + found.modelSha256 +
           ", not of '" + wanted.model + "' with " + wanted.modelSha256;
  if (found.microbatchSize != wanted.microbatchSize)
    return "micro-batches of " + std::to_string(found.microbatchSize) +
           ", not of " + std::to_string(wanted.microbatchSize);
  auto describe = [](const std::string &precision) {
    return precision.empty() ? "the model's own precision" : precision;
  };
  if (found.precision != wanted.precision)
    return describe(found.precision) + ", not of " + describe(wanted.precision);
  if (found.forwardOnly != wanted.forwardOnly)
    return found.forwardOnly ? "inference, not of training"
                             : "training, not of inference";
  for (const auto &[name, shape] : wanted.inputs) {
    auto input = found.inputs.find(name);
    if (input == found.inputs.end())
      return "a model without the input '" + name + "'";
    if (input->second != shape)
      return "input '" + name + "' of shape " + formatShape(input->second) +
             ", not " + formatShape(shape);
  }
  return "";
}

LogicalResult pipewright::checkProfile(ModuleOp module,
                                       const BuildOptions &options) {
  Location loc = UnknownLoc::get(module.getContext());
  llvm::Expected<Profile> found = readProfile(options.profile);
  if (!found)
    return emitError(loc) << llvm::toString(found.takeError());
  FailureOr<Profile> wanted = beginProfile(module, options);
  if (failed(wanted))
    return failure();
  std::string difference = findDifference(*found, *wanted);
  if (difference.empty())
    return success();
  return emitError(loc) << "'" << options.profile << "' is a profile of "
                        << difference
                        << "; run 'pipewright profile' with the options of "
                           "this command";
}

//===----------------------------------------------------------------------===//
// Measuring
//===----------------------------------------------------------------------===//

namespace {
/// The program that measures, and a place for what it prints.
class ProfilerProgram {
public:
  /// In a folder for temporary files, or in one in \p parent, with a copy of
  /// \p runtimeLibrary.
  static llvm::Expected<ProfilerProgram> create(StringRef parent,
                                                StringRef runtimeLibrary);
  ProfilerProgram(ProfilerProgram &&) = default;
  ~ProfilerProgram() {
    if (!folder.empty())
      llvm::sys::fs::remove_directories(folder);
  }

  std::string getPath() const { return makePath("bin/profiler"); }
  /// The lines that \p command prints.
  llvm::Expected<std::vector<std::string>>
  run(const std::vector<std::string> &command) const;
  /// The numbers in these lines, so many in each.
  llvm::Expected<std::vector<SmallVector<int64_t, 4>>>
  readNumbers(const std::vector<std::string> &command, size_t count) const;

private:
  explicit ProfilerProgram(std::string folder) : folder(std::move(folder)) {}
  std::string makePath(const Twine &name) const {
    return folder + "/" + name.str();
  }

  std::string folder;
};
} // namespace

llvm::Expected<ProfilerProgram>
ProfilerProgram::create(StringRef parent, StringRef runtimeLibrary) {
  // A name with a folder before it is not one for temporary files.
  SmallString<128> prefix(parent), folder;
  llvm::sys::path::append(prefix, "pipewright-profile");
  std::error_code error = llvm::sys::fs::createUniqueDirectory(prefix, folder);
  if (error)
    return llvm::createStringError(error, "cannot make a temporary folder: " +
                                              error.message());
  ProfilerProgram program(folder.str().str());
  for (StringRef name : {"bin", "lib"})
    if (!error)
      error = llvm::sys::fs::create_directory(program.makePath(name));
  if (!error)
    error = llvm::sys::fs::copy_file(
        runtimeLibrary,
        program.makePath("lib/" + llvm::sys::path::filename(runtimeLibrary)));
  if (error)
    return llvm::createStringError(error, "cannot write into '" + folder +
                                              "': " + error.message());
  return program;
}

llvm::Expected<std::vector<std::string>>
ProfilerProgram::run(const std::vector<std::string> &command) const {
  std::string output = makePath("output"), errors = makePath("errors");
  int status = runProgram(command, output, errors);
  auto read = [](StringRef path) {
    auto text = llvm::MemoryBuffer::getFile(path);
    return text ? (*text)->getBuffer().str() : std::string();
  };
  if (status != 0)
    return llvm::createStringError(
        "the program that measures ended with status " + Twine(status) + ": " +
        StringRef(read(errors)).trim());
  std::string text = read(output);
  std::vector<std::string> lines;
  for (StringRef line : llvm::split(StringRef(text).trim(), '\n'))
    lines.push_back(line.str());
  return lines;
}

llvm::Expected<std::vector<SmallVector<int64_t, 4>>>
ProfilerProgram::readNumbers(const std::vector<std::string> &command,
                             size_t count) const {
  auto lines = run(command);
  if (!lines)
    return lines.takeError();
  std::vector<SmallVector<int64_t, 4>> rows;
  for (StringRef line : *lines) {
    SmallVector<int64_t, 4> &numbers = rows.emplace_back();
    bool isRead = true;
    for (StringRef word : llvm::split(line, ' '))
      isRead &= !word.getAsInteger(10, numbers.emplace_back());
    if (!isRead || numbers.size() != count)
      return llvm::createStringError("the program that measures printed '" +
                                     line + "'");
  }
  return rows;
}

/// Adds the times of \p layers, in the order of findLayerFunctions.
static llvm::Error timeLayers(const ProfilerProgram &program,
                              const ProfileLimits &limits,
                              ArrayRef<LayerFunctions> layers,
                              Profile &profile) {
  llvm::Expected<Launcher> launcher =
      Launcher::create(limits.ranks, limits.hostfile);
  if (!launcher)
    return launcher.takeError();
  profile.ranks = limits.ranks;
  auto lines = program.readNumbers(
      launcher->makeCommand(
          {program.getPath(), "layers", std::to_string(limits.rounds),
           std::to_string(limits.seconds), std::to_string(limits.ranks)}),
      /*count=*/3);
  if (!lines)
    return lines.takeError();
  constexpr size_t roles = pp::getMaxEnumValForRole() + 1;
  std::vector<std::array<std::vector<double>, roles>> times(layers.size());
  for (ArrayRef<int64_t> line : *lines)
    times.at(line[0])[line[1]].push_back(line[2] * 1e-9);
  for (auto [functions, ofRole] : llvm::zip_equal(layers, times)) {
    MeasuredLayer &layer = profile.layers.emplace_back();
    pp::LayerOp first = functions.layers.front();
    layer.function = first.getCallee().str();
    layer.key = getLayerKey(functions);
    for (pp::LayerOp op : functions.layers)
      layer.layers.push_back(op.getName().str());
    ArrayRef<std::vector<double>> ofLayer = ofRole;
    auto get = [=](pp::Role role) -> std::optional<Measurement> {
      const std::vector<double> &samples = ofLayer[static_cast<size_t>(role)];
      if (samples.empty())
        return std::nullopt;
      return Measurement::of(samples);
    };
    layer.forward = *get(pp::Role::F);
    layer.backwardInput = get(pp::Role::B);
    layer.backwardWeight = get(pp::Role::W);
    layer.recompute = get(pp::Role::R);
  }
  return llvm::Error::success();
}

static llvm::Error timeUpdates(const ProfilerProgram &program,
                               const ProfileLimits &limits, Profile &profile) {
  auto lines = program.readNumbers(
      {program.getPath(), "updates", std::to_string(limits.rounds)},
      /*count=*/3);
  if (!lines)
    return lines.takeError();
  for (auto rule : {pp::Optimizer::SGD, pp::Optimizer::AdamW}) {
    MeasuredUpdate &update = profile.updates.emplace_back();
    update.optimizer = pp::stringifyOptimizer(rule).str();
    std::vector<double> times;
    for (ArrayRef<int64_t> line : *lines) {
      if (line[0] != static_cast<int64_t>(rule))
        continue;
      update.parameters = line[1];
      times.push_back(line[2] * 1e-9);
    }
    update.time = Measurement::of(std::move(times));
  }
  return llvm::Error::success();
}

static llvm::Error timeLinks(const ProfilerProgram &program,
                             const ProfileLimits &limits, Profile &profile) {
  constexpr const char *rounds = "30";
  llvm::Expected<Launcher> launcher =
      Launcher::create(std::max<int64_t>(limits.ranks, 2), limits.hostfile);
  if (!launcher)
    return launcher.takeError();
  auto hosts = program.run(launcher->makeCommand({program.getPath(), "hosts"}));
  if (!hosts)
    return hosts.takeError();
  profile.hosts = std::move(*hosts);
  auto lines = program.readNumbers(
      launcher->makeCommand({program.getPath(), "links", rounds}), /*count=*/4);
  if (!lines)
    return lines.takeError();
  using Pair = std::array<int64_t, 2>;
  std::map<Pair, std::map<int64_t, std::vector<double>>> times;
  for (ArrayRef<int64_t> line : *lines)
    times[{line[0], line[1]}][line[2]].push_back(line[3] * 1e-9);
  for (const auto &[ranks, ofSizes] : times) {
    MeasuredLink &link = profile.links.emplace_back();
    link.ranks.assign(ranks.begin(), ranks.end());
    for (const auto &[bytes, samples] : ofSizes)
      link.points.push_back({bytes, Measurement::of(samples)});
    fitLink(link);
  }
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

/// Where the program is put: where \p options have its times written, if other
/// hosts have to find it; empty: where temporary files go.
static SmallString<128> getProgramParent(const BuildOptions &options,
                                         const ProfileLimits &limits) {
  SmallString<128> parent;
  if (limits.hostfile.empty())
    return parent;
  parent = llvm::sys::path::parent_path(options.output);
  llvm::sys::fs::make_absolute(parent);
  return parent;
}

FailureOr<Profile> pipewright::profileModel(const BuildOptions &options,
                                            const ProfileLimits &limits,
                                            MLIRContext &context,
                                            PhaseListener listener) {
  auto refuse = [&](llvm::Error error) -> LogicalResult {
    return emitError(UnknownLoc::get(&context))
           << llvm::toString(std::move(error));
  };
  listener("Read");
  OwningOpRef<ModuleOp> module = loadModel(options, context);
  if (!module)
    return failure();
  FailureOr<Profile> profile = beginProfile(*module, options);
  if (failed(profile) || failed(runLayerPhases(*module, options, listener)))
    return failure();

  listener("Codegen");
  std::string runtimeLibrary = findRuntimeLibrary(options.target);
  llvm::Expected<ProfilerProgram> program = ProfilerProgram::create(
      getProgramParent(options, limits), runtimeLibrary);
  if (!program)
    return refuse(program.takeError());
  ProfilerOptions profiler;
  profiler.target = options.target;
  profiler.targetOptions = {options.processor, options.libraryConvolutions};
  profiler.runtimeLibrary = runtimeLibrary;
  if (failed(emitProfiler(*module, profiler, program->getPath())))
    return failure();

  listener("Layers' times");
  if (llvm::Error error =
          timeLayers(*program, limits, findLayerFunctions(*module), *profile))
    return refuse(std::move(error));
  listener("Updates' times");
  if (llvm::Error error = timeUpdates(*program, limits, *profile))
    return refuse(std::move(error));
  listener("Links' times");
  if (llvm::Error error = timeLinks(*program, limits, *profile))
    return refuse(std::move(error));
  return profile;
}
