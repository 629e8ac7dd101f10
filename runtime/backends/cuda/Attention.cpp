//===- Attention.cpp - Attention on cuDNN ---------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How attention of a shape is computed is looked up once, among what has the
// same bits each time. Sums are of f32.
//
//===----------------------------------------------------------------------===//

#include "Attention.h"
#include "AttentionGraph.h"
#include "Stream.h"
#include "pprt/Cuda.h"

#include <limits>
#include <map>

using namespace pprt;
using namespace pprt::cuda;

namespace {
/// How one shape is computed.
class Plan {
public:
  explicit Plan(const AttentionShape &shape);

  uint64_t getWorkspaceBytes() const { return workspaceBytes; }
  /// \p addresses are those of \p operands, which are in device memory.
  void run(std::vector<AttentionOperand> operands,
           std::vector<void *> addresses, double scale, void *workspace) const;

private:
  AttentionShape shape;
  CudnnGraph graph;
  uint64_t workspaceBytes;
};
} // namespace

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

/// What is asked of the library that it would not refuse, and would not do.
static std::string findObstacle(const AttentionShape &shape) {
  // The gradient of others has bits of its own each time on some devices.
  constexpr size_t oldest = 91800;
  size_t version = getCudnn().cudnnGetVersion();
  if (version < oldest)
    return "it is of version " + std::to_string(version) + ", before " +
           std::to_string(oldest);
  if (shape.isCausal && shape.queries > shape.keys)
    return "the first queries see no key";
  return "";
}

Plan::Plan(const AttentionShape &shape) : shape(shape) {
  std::string obstacle = findObstacle(shape);
  if (obstacle.empty()) {
    addAttention(shape, graph);
    std::optional<CudnnEngine> known =
        findAttentionEngine(shape, getComputeStream().chip);
    obstacle = graph.choose({getCudnnHandle()}, known ? &*known : nullptr)
                   .getMessage();
  }
  if (!obstacle.empty())
    fail(ExitCode::Data, "cuDNN does not compute " + shape.describe() + ": " +
                             obstacle + "; build with '--attention kernels'");
  workspaceBytes = graph.getWorkspaceBytes();
}

void Plan::run(std::vector<AttentionOperand> operands,
               std::vector<void *> addresses, double scale,
               void *workspace) const {
  float factor = static_cast<float>(scale), one = 1;
  float noScore = -std::numeric_limits<float>::infinity();
  auto queries = static_cast<int32_t>(shape.queries);
  auto keys = static_cast<int32_t>(shape.keys);
  auto add = [&](AttentionOperand operand, void *address) {
    operands.push_back(operand);
    addresses.push_back(address);
  };
  add(AttentionOperand::Scale, &factor);
  if (shape.isGradient)
    add(AttentionOperand::One, &one);
  if (shape.isCausal)
    add(AttentionOperand::NoScore, &noScore);
  if (shape.hasShiftedMask()) {
    add(AttentionOperand::Queries, &queries);
    add(AttentionOperand::Keys, &keys);
  }
  std::vector<int64_t> ids;
  for (AttentionOperand operand : operands)
    ids.push_back(static_cast<int64_t>(operand));
  graph.run(getCudnnHandle(), ids, addresses, workspace,
            shape.isGradient ? "cannot compute the gradient of attention"
                             : "cannot compute attention");
}

/// A plan belongs to the thread's handle.
static thread_local std::map<AttentionShape, std::unique_ptr<Plan>> plans;

static const Plan &getPlan(const AttentionShape &shape) {
  std::unique_ptr<Plan> &plan = plans[shape];
  if (!plan)
    plan = std::make_unique<Plan>(shape);
  return *plan;
}

void cuda::forgetAttention() { plans.clear(); }

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// Before the first step all memory is zero, and has to be so again: a run
/// writes to it, because the library loads its kernels with the first one.
static void clearAfterPreparing(void *data, uint64_t bytes) {
  const ComputeStream &to = getComputeStream();
  if (to.preparing && data)
    check(cudaMemsetAsync(data, 0, bytes, to.stream), "cannot clear memory");
}

static uint64_t getBytes(int64_t batch, int64_t heads, int64_t rows,
                         int64_t size) {
  return uint64_t(batch) * heads * rows * size * sizeof(uint16_t);
}

static void *asAddress(const void *data) { return const_cast<void *>(data); }

static void attend(const AttentionShape &shape, const void *query,
                   const void *key, const void *value, void *result,
                   float *statistics, double scale) {
  if (shape.countQueries() == 0)
    return;
  const Plan &plan = getPlan(shape);
  std::vector<AttentionOperand> operands = {
      AttentionOperand::Query, AttentionOperand::Key, AttentionOperand::Value,
      AttentionOperand::Result};
  std::vector<void *> addresses = {asAddress(query), asAddress(key),
                                   asAddress(value), result};
  if (statistics) {
    operands.push_back(AttentionOperand::Statistics);
    addresses.push_back(statistics);
  }
  plan.run(operands, addresses, scale,
           getCudnnWorkspace(plan.getWorkspaceBytes()));
  clearAfterPreparing(result, getBytes(shape.batch, shape.heads, shape.queries,
                                       shape.valueSize));
  clearAfterPreparing(statistics, shape.countQueries() * sizeof(float));
}

static uint64_t alignUp(uint64_t address) {
  return (address + 255) / 256 * 256;
}

namespace {
struct Gradients {
  void *query, *key, *value;
};
} // namespace

static void attendBackward(const AttentionShape &shape, const void *gradient,
                           const void *query, const void *key,
                           const void *value, const void *result,
                           const float *statistics, const Gradients &gradients,
                           void *workspace, uint64_t workspaceBytes,
                           double scale) {
  if (shape.countQueries() == 0)
    return;
  const Plan &plan = getPlan(shape);
  // The sums of the queries, and then what is the library's own.
  auto begin = reinterpret_cast<uintptr_t>(workspace);
  uint64_t sums = alignUp(begin);
  uint64_t own = alignUp(sums + shape.countQueries() * sizeof(float));
  uint64_t end = begin + workspaceBytes;
  if (own > end)
    fail(ExitCode::Data,
         "the program has no workspace for " + shape.describe());
  bool fits = plan.getWorkspaceBytes() <= end - own;
  plan.run({AttentionOperand::Gradient, AttentionOperand::Query,
            AttentionOperand::Key, AttentionOperand::Value,
            AttentionOperand::Result, AttentionOperand::Statistics,
            AttentionOperand::QueryGradient, AttentionOperand::KeyGradient,
            AttentionOperand::ValueGradient, AttentionOperand::GradientSums},
           {asAddress(gradient), asAddress(query), asAddress(key),
            asAddress(value), asAddress(result), asAddress(statistics),
            gradients.query, gradients.key, gradients.value,
            reinterpret_cast<void *>(sums)},
           scale,
           fits ? reinterpret_cast<void *>(own)
                : getCudnnWorkspace(plan.getWorkspaceBytes()));
  const AttentionShape &s = shape;
  clearAfterPreparing(gradients.query,
                      getBytes(s.batch, s.heads, s.queries, s.size));
  clearAfterPreparing(gradients.key,
                      getBytes(s.batch, s.groups, s.keys, s.size));
  clearAfterPreparing(gradients.value,
                      getBytes(s.batch, s.groups, s.keys, s.valueSize));
  clearAfterPreparing(workspace, workspaceBytes);
}

#define PPRT_DEFINE_ATTENTION(NAME, TYPE)                                      \
  void pprtCudaAttention##NAME(const uint16_t *query, const uint16_t *key,     \
                               const uint16_t *value, uint16_t *result,        \
                               float *statistics, PPRT_ATTENTION_SIZES,        \
                               double scale, int32_t causal) {                 \
    attend({/*isGradient=*/false, TYPE, statistics != nullptr, causal != 0,    \
            batch, heads, groups, queries, keys, size, valueSize},             \
           query, key, value, result, statistics, scale);                      \
  }                                                                            \
  void pprtCudaAttentionGradient##NAME(                                        \
      const uint16_t *gradient, const uint16_t *query, const uint16_t *key,    \
      const uint16_t *value, const uint16_t *result, const float *statistics,  \
      uint16_t *queryGradient, uint16_t *keyGradient, uint16_t *valueGradient, \
      void *workspace, int64_t workspaceBytes, PPRT_ATTENTION_SIZES,           \
      double scale, int32_t causal) {                                          \
    attendBackward({/*isGradient=*/true, TYPE, /*keepsStatistics=*/true,       \
                    causal != 0, batch, heads, groups, queries, keys, size,    \
                    valueSize},                                                \
                   gradient, query, key, value, result, statistics,            \
                   {queryGradient, keyGradient, valueGradient}, workspace,     \
                   workspaceBytes, scale);                                     \
  }
PPRT_DEFINE_ATTENTION(BF16, CUDNN_DATA_BFLOAT16)
PPRT_DEFINE_ATTENTION(F16, CUDNN_DATA_HALF)
#undef PPRT_DEFINE_ATTENTION
