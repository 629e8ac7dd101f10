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
#include <tuple>

namespace pprt::cuda {

/// A shape, and what else decides how it is computed. \p ShapeTy has `tie()`,
/// a tuple of all that it says.
template <typename ShapeTy>
struct PlanKey {
  ShapeTy shape;
  int chip;
  uint64_t workspaceBytes;
  bool allowsTf32;

  bool operator<(const PlanKey &other) const { return tie() < other.tie(); }

private:
  auto tie() const {
    return std::make_tuple(shape.tie(), chip, workspaceBytes, allowsTf32);
  }
};

/// For \p shape on the device of the calling thread.
template <typename ShapeTy>
PlanKey<ShapeTy> makePlanKey(const ShapeTy &shape) {
  const ComputeStream &to = getComputeStream();
  return {shape, to.chip, to.workspaceBytes, to.allowsTf32};
}

/// The plans of all threads of the process; \p PlanTy is made of a key.
template <typename ShapeTy, typename PlanTy>
class Plans {
public:
  /// The plan for \p shape on the device of the calling thread.
  const PlanTy &get(const ShapeTy &shape) {
    retain();
    PlanKey<ShapeTy> key = makePlanKey(shape);
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
  std::map<PlanKey<ShapeTy>, std::unique_ptr<PlanTy>> byKey;
};

} // namespace pprt::cuda

#endif // PPRT_BACKENDS_CUDA_PLANS_H
