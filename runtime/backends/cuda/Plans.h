//===- Plans.h - How a library computes each shape --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_BACKENDS_CUDA_PLANS_H
#define PPRT_BACKENDS_CUDA_PLANS_H

#include "Stream.h"

#include <map>
#include <memory>
#include <mutex>

namespace pprt::cuda {

/// The plans of all threads of the process, by shape and by what else decides
/// how it is computed: \p KeyTy is made of a shape, the chip, the bytes of the
/// workspace and whether TF32 is allowed, and \p PlanTy of a key.
template <typename KeyTy, typename PlanTy>
class Plans {
public:
  /// The plan for \p shape on the device of the calling thread.
  template <typename ShapeTy>
  const PlanTy &get(const ShapeTy &shape) {
    retain();
    const ComputeStream &to = getComputeStream();
    KeyTy key = {shape, to.chip, to.workspaceBytes, to.allowsTf32};
    std::lock_guard<std::mutex> lock(mutex);
    std::unique_ptr<PlanTy> &plan = byKey[key];
    if (!plan)
      plan = std::make_unique<PlanTy>(key);
    return *plan;
  }

  void forget() {
    std::lock_guard<std::mutex> lock(mutex);
    byKey.clear();
  }

private:
  std::mutex mutex;
  std::map<KeyTy, std::unique_ptr<PlanTy>> byKey;
};

} // namespace pprt::cuda

#endif // PPRT_BACKENDS_CUDA_PLANS_H
