//===- Machine.cpp - Modules and launches
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Ptx/Machine.h"
#include "Ptx/Block.h"
#include "Ptx/Parser.h"

#include <algorithm>
#include <cassert>

using namespace pipewright::ptx;

Module::Module() : program(std::make_unique<Program>()) {}
Module::~Module() = default;

/// Shared memory that a kernel has without what a launch adds.
static int64_t getSharedBytes(const Program &program, const Function &kernel) {
  int64_t bytes = 0;
  for (const Variable &variable : program.variables)
    if (variable.space == Space::Shared &&
        (!variable.kernel || *variable.kernel == kernel.name))
      bytes += variable.bytes;
  return bytes;
}

ModuleOrError Module::parse(const std::string &text) {
  std::shared_ptr<Module> module(new Module());
  Parser parser(text, *module->program);
  if (!parser.parseModule())
    return {nullptr, parser.getError()};
  for (Function &function : module->program->functions)
    function.info.sharedBytes = getSharedBytes(*module->program, function);
  return {module, ""};
}

static const Function *findKernel(const Program &program,
                                  const std::string &name) {
  for (const Function &function : program.functions)
    if (function.isKernel && function.isDefined && function.name == name)
      return &function;
  return nullptr;
}

std::vector<std::string> Module::getKernels() const {
  std::vector<std::string> names;
  for (const Function &function : program->functions)
    if (function.isKernel && function.isDefined)
      names.push_back(function.name);
  return names;
}

const KernelInfo *Module::getKernel(const std::string &name) const {
  const Function *kernel = findKernel(*program, name);
  return kernel ? &kernel->info : nullptr;
}

bool LaunchResult::has(FaultKind kind) const {
  return std::any_of(faults.begin(), faults.end(),
                     [&](const Fault &fault) { return fault.kind == kind; });
}

std::string LaunchResult::describe() const {
  std::string text;
  for (const Fault &fault : faults)
    text += fault.message + "\n";
  return text;
}

Machine::Machine(std::shared_ptr<const Module> module)
    : module(std::move(module)),
      memory(std::make_unique<Memory>(*this->module->program)) {}
Machine::~Machine() = default;

Address Machine::allocate(const std::string &name, size_t bytes) {
  return memory->allocate(name, bytes).base;
}

void Machine::map(const std::string &name, void *data, size_t bytes) {
  memory->map(name, data, bytes);
}

void Machine::protect(Address address) {
  Region *region = memory->find(address);
  assert(region && "only a buffer can be protected");
  region->isReadOnly = true;
}

void Machine::write(Address address, const void *data, size_t bytes) {
  if (bytes == 0)
    return;
  Region *region = memory->find(address);
  assert(region && region->contains(address, bytes) && "not in a buffer");
  region->fill(address, data, bytes);
}

void Machine::read(Address address, void *data, size_t bytes) const {
  if (bytes == 0)
    return;
  const Region *region = std::as_const(*memory).find(address);
  assert(region && region->contains(address, bytes) && "not in a buffer");
  std::memcpy(data, region->getData(address), bytes);
}

Address Machine::getVariable(const std::string &name) const {
  for (const Variable &variable : module->program->variables)
    if (variable.space == Space::Global && variable.name == name)
      return variable.address;
  return 0;
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// What all of NVIDIA's GPUs since sm_80 bear.
static constexpr int64_t maxThreads = 1024;
static constexpr int64_t maxSharedBytes = 227 * 1024;

static int64_t countThreads(Dim dim) {
  return int64_t(dim.x) * int64_t(dim.y) * int64_t(dim.z);
}

static bool isWithin(Dim dim, const int64_t (&limit)[3]) {
  return limit[0] == 0 || countThreads(dim) <= limit[0] * limit[1] * limit[2];
}

static bool isRequired(Dim dim, const int64_t (&wanted)[3]) {
  return wanted[0] == 0 ||
         (dim.x == wanted[0] && dim.y == wanted[1] && dim.z == wanted[2]);
}

/// Why the kernel cannot be launched so; empty if it can.
static std::string checkLaunch(const KernelInfo &kernel, const Launch &launch) {
  if (countThreads(launch.grid) == 0 || countThreads(launch.block) == 0)
    return "the grid or the blocks are empty";
  if (countThreads(launch.block) > maxThreads)
    return "blocks of " + std::to_string(countThreads(launch.block)) +
           " threads, more than " + std::to_string(maxThreads);
  if (!isWithin(launch.block, kernel.maxThreads))
    return "blocks of " + std::to_string(countThreads(launch.block)) +
           " threads, more than the kernel's .maxntid";
  if (!isRequired(launch.block, kernel.requiredThreads))
    return "blocks of another size than the kernel's .reqntid";
  int64_t given = static_cast<int64_t>(launch.parameters.size());
  if (given != kernel.parameterBytes)
    return "arguments of " + std::to_string(given) +
           " bytes, but the parameters have " +
           std::to_string(kernel.parameterBytes);
  int64_t shared = kernel.sharedBytes + launch.sharedBytes;
  if (launch.sharedBytes < 0 || shared > maxSharedBytes)
    return std::to_string(shared) + " bytes of shared memory, more than " +
           std::to_string(maxSharedBytes);
  return "";
}

static void runBlocks(LaunchContext &context) {
  const Dim &grid = context.launch.grid;
  for (uint32_t z = 0; z < grid.z; ++z)
    for (uint32_t y = 0; y < grid.y; ++y)
      for (uint32_t x = 0; x < grid.x; ++x) {
        Block(context, {x, y, z}).run();
        if (context.faults.isStopped())
          return;
      }
}

LaunchResult Machine::launch(const Launch &launch) {
  LaunchResult result;
  const Function *kernel = findKernel(*module->program, launch.kernel);
  std::string problem =
      kernel ? checkLaunch(kernel->info, launch) : "there is no such kernel";
  if (!problem.empty()) {
    result.faults.push_back(
        {FaultKind::Launch, 0, launch.kernel + ": " + problem});
    return result;
  }
  Region parameters("parameters", Word(0), launch.parameters.size());
  parameters.fill(0, launch.parameters.data(), launch.parameters.size());
  LaunchContext context{*module->program,      *kernel,    launch,    *memory,
                        std::move(parameters), FaultLog(), Counters()};
  memory->beginLaunch();
  runBlocks(context);
  memory->addTraffic(context.counters.traffic);
  result.faults = context.faults.take();
  result.counters = std::move(context.counters);
  return result;
}

std::vector<AccessedRange> Machine::getAccesses() const {
  return memory->getAccesses();
}
