//===- BruteForce.h - All cuts and all policies -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The definitions again, as plainly as they can be written, for problems that
// are small enough to try everything.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TEST_UNIT_PLAN_BRUTEFORCE_H
#define PIPEWRIGHT_TEST_UNIT_PLAN_BRUTEFORCE_H

#include "pipewright/Plan/Cut.h"

#include <functional>
#include <random>

namespace pipewright::test {

/// Layers with small random numbers.
std::vector<PlanLayer> makeRandomLayers(std::mt19937 &random, size_t count);

/// Calls \p function with each list of begins of \p stages stages.
void forEachCut(size_t layers, size_t stages,
                std::function<void(const std::vector<size_t> &)> function);

/// Calls \p function with each list of policies in \p allowed.
void forEachRemats(size_t layers, RematSet allowed,
                   std::function<void(const std::vector<Remat> &)> function);

/// What \p layers of one stage hold, and what they add, with \p remats.
int64_t getHeldBytes(llvm::ArrayRef<PlanLayer> layers,
                     llvm::ArrayRef<Remat> remats, const InFlight &inFlight);
int64_t getAddedTime(llvm::ArrayRef<PlanLayer> layers,
                     llvm::ArrayRef<Remat> remats);

/// The least time that \p layers of one stage must add to hold \p limit bytes.
std::optional<int64_t> findLeastTime(llvm::ArrayRef<PlanLayer> layers,
                                     RematSet allowed, const InFlight &inFlight,
                                     int64_t limit);

} // namespace pipewright::test

#endif // PIPEWRIGHT_TEST_UNIT_PLAN_BRUTEFORCE_H
