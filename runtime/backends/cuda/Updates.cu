//===- Updates.cu - Kernels over many parameters --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block finds the part of a tensor that it works on in a table. The
// arithmetic has the bits of core/Optimizers.cpp: compiled without contraction,
// and with divisions and roots that are rounded to the nearest.
//
//===----------------------------------------------------------------------===//

#include "UpdateTables.h"

using namespace pprt::cuda;

namespace {
/// 16 bytes of numbers.
template <typename RealTy>
struct alignas(16) Vector {
  static constexpr int size = 16 / sizeof(RealTy);
  RealTy numbers[size];
};
} // namespace

static __device__ bool isAligned(const void *data) {
  return reinterpret_cast<uintptr_t>(data) % 16 == 0;
}

/// The entry whose parts have number \p part among them.
template <typename EntryTy>
static __device__ const EntryTy &find(const EntryTy *entries, int32_t count,
                                      uint32_t part) {
  int32_t first = 0, last = count - 1;
  while (first < last) {
    int32_t middle = (first + last + 1) / 2;
    if (entries[middle].firstPart <= part)
      first = middle;
    else
      last = middle - 1;
  }
  return entries[first];
}

/// Calls \p scalar with each index of [begin, end), or \p vector with each
/// whole vector's if \p aligned; \p begin is a multiple of the size of these.
template <typename RealTy, typename VectorT, typename ScalarT>
static __device__ void forEach(int64_t begin, int64_t end, bool aligned,
                               VectorT vector, ScalarT scalar) {
  constexpr int size = Vector<RealTy>::size;
  int64_t whole = aligned ? end - (end - begin) % size : begin;
  for (int64_t i = begin + int64_t(threadIdx.x) * size; i < whole;
       i += int64_t(blockDim.x) * size)
    vector(i);
  for (int64_t i = whole + threadIdx.x; i < end; i += blockDim.x)
    scalar(i);
}

template <typename RealTy>
static __device__ Vector<RealTy> load(const RealTy *from, int64_t index) {
  return *reinterpret_cast<const Vector<RealTy> *>(from + index);
}

template <typename RealTy>
static __device__ void store(RealTy *to, int64_t index,
                             const Vector<RealTy> &vector) {
  *reinterpret_cast<Vector<RealTy> *>(to + index) = vector;
}

static __device__ int64_t smaller(int64_t a, int64_t b) {
  return a < b ? a : b;
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

template <typename RealTy>
static __device__ void addTo(RealTy *target, const RealTy *addend,
                             int64_t count) {
  int64_t begin = int64_t(blockIdx.x) * chunkElements;
  forEach<RealTy>(
      begin, smaller(begin + chunkElements, count),
      isAligned(target) && isAligned(addend),
      [&](int64_t i) {
        Vector<RealTy> sum = load(target, i), more = load(addend, i);
#pragma unroll
        for (int j = 0; j < Vector<RealTy>::size; ++j)
          sum.numbers[j] += more.numbers[j];
        store(target, i, sum);
      },
      [&](int64_t i) { target[i] += addend[i]; });
}

/// Adds the threads' numbers in pairs, always the same.
static __device__ void sumOfBlock(double value, double &sum) {
  __shared__ double numbers[updateThreads];
  numbers[threadIdx.x] = value;
  for (int half = updateThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half)
      numbers[threadIdx.x] += numbers[threadIdx.x + half];
  }
  if (threadIdx.x == 0)
    sum = numbers[0];
}

/// Which thread adds which squares depends on their count alone.
template <typename RealTy>
static __device__ void sumPart(const SumEntry *entries, int32_t count,
                               double *parts) {
  const SumEntry &entry = find(entries, count, blockIdx.x);
  auto *values = static_cast<const RealTy *>(entry.values);
  int64_t part = blockIdx.x - entry.firstPart;
  int64_t begin = part * entry.partElements;
  int64_t end = smaller(begin + entry.partElements, entry.count);
  constexpr int size = Vector<RealTy>::size;
  double sum = 0;
  auto add = [&](RealTy value) { sum += double(value) * double(value); };
  for (int64_t i = begin + int64_t(threadIdx.x) * size; i < end;
       i += int64_t(updateThreads) * size) {
    if (i + size <= end && isAligned(values)) {
      Vector<RealTy> vector = load(values, i);
#pragma unroll
      for (int j = 0; j < size; ++j)
        add(vector.numbers[j]);
    } else {
      for (int64_t j = i; j < smaller(i + size, end); ++j)
        add(values[j]);
    }
  }
  sumOfBlock(sum, parts[int64_t(entry.index) * mostParts + part]);
}

//===----------------------------------------------------------------------===//
// Optimizers
//===----------------------------------------------------------------------===//

/// What one number of a parameter becomes.
template <typename RealTy>
static __device__ void step(const SgdRule<RealTy> &rule, RealTy decay,
                            RealTy &parameter, RealTy gradient,
                            RealTy &velocity) {
  RealTy slope = gradient * rule.gradientScale + decay * parameter;
  velocity = rule.momentum * velocity + slope;
  parameter -= rule.learningRate * velocity;
}

template <typename RealTy>
static __device__ void step(const AdamWRule<RealTy> &rule, RealTy decay,
                            RealTy &parameter, RealTy gradient, RealTy &mean,
                            RealTy &square) {
  RealTy slope = gradient * rule.gradientScale;
  mean = rule.beta1 * mean + rule.oneMinusBeta1 * slope;
  square = rule.beta2 * square + rule.oneMinusBeta2 * (slope * slope);
  RealTy root = sqrt(square) * rule.inverseSquareBias + rule.epsilon;
  parameter = parameter * decay - rule.stepSize * (mean / root);
}

/// A chunk of one parameter; \p states is how many the rule keeps.
template <typename RealTy, int states, typename RuleTy>
static __device__ void update(const RuleTy &rule, const UpdateEntry *entries,
                              int32_t count) {
  const UpdateEntry &entry = find(entries, count, blockIdx.x);
  auto *values = static_cast<RealTy *>(entry.value);
  auto *gradients = static_cast<const RealTy *>(entry.gradient);
  auto *first = static_cast<RealTy *>(entry.state[0]);
  auto *second = static_cast<RealTy *>(entry.state[states - 1]);
  auto decay = static_cast<RealTy>(entry.decay);
  auto advance = [&](RealTy &value, RealTy gradient, RealTy &a, RealTy &b) {
    if constexpr (states == 1)
      step(rule, decay, value, gradient, a);
    else
      step(rule, decay, value, gradient, a, b);
  };
  int64_t begin = int64_t(blockIdx.x - entry.firstPart) * chunkElements;
  forEach<RealTy>(
      begin, smaller(begin + chunkElements, entry.count),
      isAligned(values) && isAligned(gradients) && isAligned(first) &&
          isAligned(second),
      [&](int64_t i) {
        Vector<RealTy> value = load(values, i), gradient = load(gradients, i);
        Vector<RealTy> a = load(first, i), b = a;
        if constexpr (states == 2)
          b = load(second, i);
#pragma unroll
        for (int j = 0; j < Vector<RealTy>::size; ++j)
          advance(value.numbers[j], gradient.numbers[j], a.numbers[j],
                  b.numbers[j]);
        store(values, i, value);
        store(first, i, a);
        if constexpr (states == 2)
          store(second, i, b);
      },
      [&](int64_t i) {
        advance(values[i], gradients[i], first[i], second[i]);
      });
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

#define PPRT_KERNEL extern "C" __global__ void __launch_bounds__(updateThreads)

#define PPRT_DEFINE_UPDATES(TYPE, REAL)                                        \
  PPRT_KERNEL add##TYPE(REAL *target, const REAL *addend, int64_t count) {     \
    addTo(target, addend, count);                                              \
  }                                                                            \
  PPRT_KERNEL sumSquares##TYPE(const SumEntry *entries, int32_t count,         \
                               double *parts) {                                \
    sumPart<REAL>(entries, count, parts);                                      \
  }                                                                            \
  PPRT_KERNEL updateSgd##TYPE(SgdRule<REAL> rule, const UpdateEntry *entries,  \
                              int32_t count) {                                 \
    update<REAL, 1>(rule, entries, count);                                     \
  }                                                                            \
  PPRT_KERNEL updateAdamW##TYPE(AdamWRule<REAL> rule,                          \
                                const UpdateEntry *entries, int32_t count) {   \
    update<REAL, 2>(rule, entries, count);                                     \
  }
PPRT_DEFINE_UPDATES(F32, float)
PPRT_DEFINE_UPDATES(F64, double)

/// One block a tensor, in the order of the entries.
PPRT_KERNEL sumParts(const SumEntry *entries, const double *parts,
                     double *sums) {
  const SumEntry &entry = entries[blockIdx.x];
  double part = threadIdx.x < entry.partCount
                    ? parts[int64_t(entry.index) * mostParts + threadIdx.x]
                    : 0;
  sumOfBlock(part, sums[entry.index]);
}
