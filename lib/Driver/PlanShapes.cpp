//===- PlanShapes.cpp - What a plan can look like
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanShapes.h"

#include "pipewright/Schedule/ScheduleRegistry.h"

#include <set>

using namespace pipewright;

/// The numbers of replicas that share ranks and batch evenly, in whole groups.
static std::vector<int64_t> listReplicas(const PlanRequest &request) {
  int64_t ranks = request.options.ranks;
  std::vector<int64_t> counts;
  for (int64_t count = request.options.peers; count <= ranks;
       count += request.options.peers)
    if (ranks % count == 0 && *request.options.globalBatch % count == 0 &&
        (request.replicas == 0 || request.replicas == count))
      counts.push_back(count);
  return counts;
}

/// Whether micro-batches of \p size divide what a replica gets, and there are
/// as many as ranks where that is possible.
static bool fits(const PlanRequest &request, int64_t replicas, int64_t size) {
  int64_t batch = *request.options.globalBatch / replicas;
  int64_t ranks = request.options.ranks / replicas;
  if (batch % size != 0)
    return false;
  return request.options.microbatchSize || size == 1 || batch / size >= ranks;
}

static std::vector<int64_t> listDivisors(int64_t number) {
  std::vector<int64_t> divisors;
  for (int64_t one = 1; one <= number / one; ++one)
    if (number % one == 0)
      divisors.insert(divisors.end(), {one, number / one});
  return divisors;
}

std::vector<int64_t> pipewright::listMicrobatchSizes(const PlanRequest &request,
                                                     int64_t measured) {
  constexpr size_t most = 8;
  const BuildOptions &options = request.options;
  if (options.microbatchSize)
    return {*options.microbatchSize};
  std::set<int64_t> sizes;
  for (int64_t replicas : listReplicas(request))
    for (int64_t size : listDivisors(*options.globalBatch / replicas))
      if (fits(request, replicas, size) || size == measured)
        sizes.insert(size);
  if (sizes.count(measured))
    return {measured};
  std::vector<int64_t> list(sizes.begin(), sizes.end());
  list.resize(std::min(list.size(), most));
  return list;
}

/// A schedule with a number of chunks.
using Policy = std::pair<std::string, int64_t>;

/// All that are not themselves searches, with each usual number of chunks,
/// unless they are given. On one rank they are all the same; and so is, with a
/// single chunk, a schedule that is made for several, and a plainer one.
static std::vector<Policy> listPolicies(const PlanRequest &request,
                                        int64_t ranks) {
  const BuildOptions &options = request.options;
  std::vector<int64_t> counts = listUsualChunks();
  if (options.chunks != 0)
    counts = {options.chunks};
  if (request.keepsSchedule) {
    std::vector<Policy> policies;
    for (int64_t chunks : counts)
      policies.emplace_back(options.schedule, chunks);
    return policies;
  }
  if (ranks == 1)
    return {{"1f1b", 1}};
  std::vector<Policy> policies;
  for (const ScheduleInfo &info : ScheduleRegistry::get().getEntries())
    for (int64_t chunks : counts)
      if (!info.isSearch &&
          (options.chunks != 0 || chunks > 1 || info.chunks == 1))
        policies.emplace_back(info.name.str(), chunks);
  return policies;
}

std::vector<PlanShape> pipewright::listShapes(const PlanRequest &request,
                                              int64_t microbatchSize,
                                              int64_t units) {
  std::vector<PlanShape> shapes;
  for (int64_t replicas : listReplicas(request)) {
    int64_t batch = *request.options.globalBatch / replicas;
    int64_t ranks = request.options.ranks / replicas;
    if (ranks > units || batch % microbatchSize != 0)
      continue;
    for (const auto &[schedule, chunks] : listPolicies(request, ranks))
      if (chunks <= units / ranks)
        shapes.push_back({replicas, ranks, microbatchSize,
                          batch / microbatchSize, schedule, chunks});
  }
  return shapes;
}
