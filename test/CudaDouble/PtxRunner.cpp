//===- PtxRunner.cpp - Kernels in the interpreter -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each launch maps all memory that there is: what a kernel accesses outside of
// it, or in a way that a GPU does not allow, is a fault.
//
//===----------------------------------------------------------------------===//

#include "Machine.h"

#include "Ptx/Machine.h"

#include <algorithm>
#include <cstring>

using namespace cudadouble;
using namespace pipewright;

namespace {
/// The modules of the images that were launched from.
using Modules = std::map<const void *, ptx::ModuleOrError>;
} // namespace

static const ptx::ModuleOrError &getModule(Modules &modules,
                                           const void *image) {
  auto [found, isNew] = modules.try_emplace(image);
  if (isNew)
    found->second = ptx::Module::parse(static_cast<const char *>(image));
  return found->second;
}

static ptx::Launch makeLaunch(const KernelLaunch &launch,
                              const ptx::KernelInfo &kernel) {
  ptx::Launch made(launch.name,
                   {launch.grid[0], launch.grid[1], launch.grid[2]},
                   {launch.block[0], launch.block[1], launch.block[2]});
  made.shared(static_cast<int64_t>(launch.sharedBytes));
  made.parameters.resize(kernel.parameterBytes);
  for (size_t i = 0; i < kernel.parameters.size(); ++i)
    memcpy(made.parameters.data() + kernel.parameters[i].offset,
           launch.arguments[i], kernel.parameters[i].bytes);
  return made;
}

static Effects run(const std::shared_ptr<const ptx::Module> &module,
                   const ptx::Launch &launch) {
  ptx::Machine interpreter(module);
  Machine::get().memory->forEach([&](void *data, size_t bytes) {
    interpreter.map("memory", data, bytes);
  });
  Effects effects;
  effects.fault = interpreter.launch(launch).describe();
  // Nobody else sees the variables of a module.
  auto isShared = [](const ptx::AccessedRange &range) {
    return Machine::get().memory->contains(
        reinterpret_cast<const void *>(range.address), range.bytes);
  };
  for (const ptx::AccessedRange &range : interpreter.getAccesses())
    if (isShared(range))
      effects.accesses.push_back({reinterpret_cast<const void *>(range.address),
                                  range.bytes, range.isWrite});
  return effects;
}

KernelRunner cudadouble::makePtxRunner() {
  auto modules = std::make_shared<Modules>();
  return [modules](const KernelLaunch &launch) -> std::function<Effects()> {
    const ptx::ModuleOrError &module = getModule(*modules, launch.image);
    if (!module)
      return [error = module.error] { return Effects{{}, error}; };
    const ptx::KernelInfo *kernel = module.value->getKernel(launch.name);
    if (!kernel)
      return [] { return Effects{{}, "there is no such kernel"}; };
    return [value = module.value, made = makeLaunch(launch, *kernel)] {
      return run(value, made);
    };
  };
}

KernelLimits cudadouble::makePtxLimits() {
  auto modules = std::make_shared<Modules>();
  return [modules](const void *image, const std::string &name) {
    constexpr int64_t most = 1024;
    const ptx::ModuleOrError &module = getModule(*modules, image);
    const ptx::KernelInfo *kernel =
        module ? module.value->getKernel(name) : nullptr;
    if (!kernel || kernel->maxThreads[0] == 0)
      return static_cast<int>(most);
    int64_t threads = 1;
    for (int64_t limit : kernel->maxThreads)
      threads *= std::max<int64_t>(limit, 1);
    return static_cast<int>(std::min(threads, most));
  };
}
