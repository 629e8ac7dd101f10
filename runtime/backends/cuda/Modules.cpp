//===- Modules.cpp - Kernels on the device --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Modules.h"
#include "Stream.h"

#include <mutex>
#include <vector>

using namespace pprt;
using namespace pprt::cuda;

namespace {
struct LoadedModule {
  const PprtKernelModule *module;
  cudaLibrary_t library;
};

/// Those of all threads: a library serves all devices of a process.
struct LoadedModules {
  std::mutex mutex;
  std::vector<LoadedModule> list;
};
} // namespace

static LoadedModules &getLoaded() {
  static LoadedModules modules;
  return modules;
}

/// The higher, the better; negative: it cannot run there.
static int rate(const PprtKernelImage &image, int chip) {
  constexpr int machineCode = 10000; // more than any chip's number
  int made = static_cast<int>(image.chip);
  if (made > chip)
    return -1;
  if (image.isPtx)
    return made;
  return made / 10 == chip / 10 ? machineCode + made : -1;
}

const PprtKernelImage *cuda::chooseImage(const PprtKernelModule &module,
                                         int chip) {
  const PprtKernelImage *best = nullptr;
  int bestRate = -1;
  for (uint32_t i = 0; i < module.imageCount; ++i) {
    int rated = rate(module.images[i], chip);
    if (rated > bestRate) {
      bestRate = rated;
      best = &module.images[i];
    }
  }
  return best;
}

[[noreturn]] static void failWithoutImage(const PprtKernelModule &module,
                                          int chip) {
  std::string made;
  for (uint32_t i = 0; i < module.imageCount; ++i) {
    std::string name = "sm_" + std::to_string(module.images[i].chip);
    if (made.find(name) == std::string::npos)
      made += (made.empty() ? "" : ", ") + name;
  }
  std::string wanted = "sm_" + std::to_string(chip);
  fail(ExitCode::Data, "the kernels of '" + std::string(module.name) +
                           "' are for " + made + ", and this device is " +
                           wanted + "; build with '--arch " + wanted + "'");
}

static cudaLibrary_t load(const PprtKernelModule &module) {
  int chip = getComputeStream().chip;
  const PprtKernelImage *image = chooseImage(module, chip);
  if (!image)
    failWithoutImage(module, chip);
  std::string what =
      "cannot load the kernels of '" + std::string(module.name) + "'";
  cudaLibrary_t library;
  check(cudaLibraryLoadData(&library, image->data, nullptr, nullptr, 0, nullptr,
                            nullptr, 0),
        what.c_str());
  for (uint32_t i = 0; i < module.kernelCount; ++i) {
    cudaKernel_t kernel;
    check(cudaLibraryGetKernel(&kernel, library, module.kernels[i]),
          (what + ": kernel '" + module.kernels[i] + "'").c_str());
    module.handles[i] = kernel;
  }
  return library;
}

void cuda::loadModule(const PprtKernelModule &module) {
  retain();
  LoadedModules &loaded = getLoaded();
  std::lock_guard<std::mutex> lock(loaded.mutex);
  for (const LoadedModule &known : loaded.list)
    if (known.module == &module)
      return;
  loaded.list.push_back({&module, load(module)});
}

void cuda::unloadModules() {
  LoadedModules &loaded = getLoaded();
  std::lock_guard<std::mutex> lock(loaded.mutex);
  for (const auto &[module, library] : loaded.list) {
    for (uint32_t i = 0; i < module->kernelCount; ++i)
      module->handles[i] = nullptr;
    check(cudaLibraryUnload(library), "cannot unload kernels");
  }
  loaded.list.clear();
}
