//===- Updates.cpp - What happens to gradients and parameters -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Updates.h"
#include "EmbeddedKernels.h"
#include "Modules.h"
#include "Stream.h"
#include "UpdateTables.h"

#include <algorithm>
#include <cmath>

using namespace pprt;
using namespace pprt::cuda;

/// The kernels in Updates.cu, those of f64 after those of f32.
enum UpdateKernel : uint32_t {
  AddKernel = 0,
  SumSquaresKernel = 1,
  SgdKernel = 2,
  AdamWKernel = 3,
  KernelsOfAType = 4,
  SumPartsKernel = 8
};

static uint32_t getKernel(UpdateKernel kernel, bool isWide) {
  return kernel + (isWide ? KernelsOfAType : 0);
}

static void launch(uint32_t kernel, int64_t blocks, void **arguments) {
  if (blocks > 0)
    pprtCudaLaunch(&updateKernels, kernel, static_cast<uint32_t>(blocks), 1, 1,
                   updateThreads, 1, 1, arguments);
}

static int64_t divideUp(int64_t value, int64_t by) {
  return (value + by - 1) / by;
}

void cuda::prepareUpdates() { loadModule(updateKernels); }

void cuda::add(const Reals &target, const void *addend) {
  void *data = target.data;
  int64_t count = target.count;
  void *arguments[] = {&data, &addend, &count};
  launch(getKernel(AddKernel, target.isWide), divideUp(count, chunkElements),
         arguments);
}

//===----------------------------------------------------------------------===//
// The memory for tables
//===----------------------------------------------------------------------===//

namespace {
/// Where what is in UpdateMemory.
struct UpdateLayout {
  uint64_t parts, table, end;

  explicit UpdateLayout(size_t parameters) {
    constexpr uint64_t alignment = 64;
    uint64_t entry = std::max(sizeof(SumEntry), sizeof(UpdateEntry));
    auto alignUp = [](uint64_t offset) {
      return (offset + alignment - 1) / alignment * alignment;
    };
    parts = alignUp(parameters * sizeof(double));
    table = alignUp(parts + parameters * mostParts * sizeof(double));
    end = alignUp(table + parameters * entry);
  }
};

/// A table that grows in the memory of the host, and then is on the device.
template <typename EntryTy>
class Table {
public:
  Table(const UpdateMemory &memory, uint64_t offset)
      : host(reinterpret_cast<EntryTy *>(memory.host + offset)),
        device(reinterpret_cast<EntryTy *>(memory.device + offset)) {}

  void append(const EntryTy &entry) { host[count++] = entry; }
  int32_t getCount() const { return count; }
  EntryTy *getDevice() const { return device; }

  void upload() const {
    if (count > 0)
      check(cudaMemcpyAsync(device, host, count * sizeof(EntryTy),
                            cudaMemcpyHostToDevice, getComputeStream().stream),
            "cannot copy a table of parameters");
  }

private:
  EntryTy *host, *device;
  int32_t count = 0;
};
} // namespace

uint64_t cuda::getUpdateBytes(size_t parameters) {
  return UpdateLayout(parameters).end;
}

//===----------------------------------------------------------------------===//
// Sums of squares
//===----------------------------------------------------------------------===//

/// Cuts a tensor into parts, as its size alone decides.
static SumEntry makeEntry(const Reals &reals, uint32_t index,
                          uint32_t firstPart) {
  int64_t parts =
      std::clamp<int64_t>(divideUp(reals.count, chunkElements), 1, mostParts);
  // Whole rounds of a block's vectors.
  constexpr int64_t round = updateThreads * 4;
  int64_t elements = divideUp(divideUp(reals.count, parts), round) * round;
  return {reals.data, reals.count, elements, static_cast<uint32_t>(parts),
          firstPart,  index};
}

void cuda::sumSquares(const std::vector<Reals> &values,
                      const UpdateMemory &memory) {
  UpdateLayout layout(values.size());
  Table<SumEntry> table(memory, layout.table);
  uint32_t blocks[2] = {0, 0};
  int32_t counts[2] = {0, 0};
  for (bool isWide : {false, true})
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i].isWide != isWide)
        continue;
      SumEntry entry =
          makeEntry(values[i], static_cast<uint32_t>(i), blocks[isWide]);
      table.append(entry);
      blocks[isWide] += entry.partCount;
      ++counts[isWide];
    }
  table.upload();
  auto *sums = reinterpret_cast<double *>(memory.device);
  auto *parts = reinterpret_cast<double *>(memory.device + layout.parts);
  SumEntry *entries = table.getDevice();
  for (bool isWide : {false, true}) {
    void *arguments[] = {&entries, &counts[isWide], &parts};
    launch(getKernel(SumSquaresKernel, isWide), blocks[isWide], arguments);
    entries += counts[isWide];
  }
  SumEntry *all = table.getDevice();
  void *arguments[] = {&all, &parts, &sums};
  launch(SumPartsKernel, table.getCount(), arguments);
}

//===----------------------------------------------------------------------===//
// Optimizers
//===----------------------------------------------------------------------===//

/// As the constructor of AdamW has them, and Sgd's numbers.
template <typename RealTy>
static AdamWRule<RealTy> makeAdamW(const UpdateRule &rule) {
  double step = static_cast<double>(rule.step);
  return {RealTy(rule.beta1),
          RealTy(1 - rule.beta1),
          RealTy(rule.beta2),
          RealTy(1 - rule.beta2),
          RealTy(rule.learningRate / (1 - std::pow(rule.beta1, step))),
          RealTy(1 / std::sqrt(1 - std::pow(rule.beta2, step))),
          RealTy(rule.epsilon),
          RealTy(rule.gradientScale)};
}

template <typename RealTy>
static SgdRule<RealTy> makeSgd(const UpdateRule &rule) {
  return {RealTy(rule.learningRate), RealTy(rule.momentum),
          RealTy(rule.gradientScale)};
}

template <typename RealTy>
static double makeDecay(const UpdateRule &rule, double weightDecay) {
  bool isAdamW = rule.optimizer == PPRT_ADAMW;
  return RealTy(isAdamW ? 1 - rule.learningRate * weightDecay : weightDecay);
}

/// Updates the parameters of one type, whose entries follow \p table's.
template <typename RealTy>
static void updateType(const UpdateRule &rule,
                       const std::vector<ParameterUpdate> &parameters,
                       const UpdateMemory &memory, uint64_t offset,
                       int64_t &entryCount) {
  constexpr bool isWide = sizeof(RealTy) == sizeof(double);
  Table<UpdateEntry> table(memory, offset + entryCount * sizeof(UpdateEntry));
  uint32_t blocks = 0;
  for (const ParameterUpdate &parameter : parameters) {
    if (parameter.value.isWide != isWide || parameter.value.count == 0)
      continue;
    table.append({parameter.value.data,
                  parameter.gradient,
                  {parameter.state[0], parameter.state[1]},
                  parameter.value.count,
                  makeDecay<RealTy>(rule, parameter.weightDecay),
                  blocks});
    blocks += divideUp(parameter.value.count, chunkElements);
  }
  table.upload();
  UpdateEntry *entries = table.getDevice();
  int32_t count = table.getCount();
  entryCount += count;
  AdamWRule<RealTy> adamW = makeAdamW<RealTy>(rule);
  SgdRule<RealTy> sgd = makeSgd<RealTy>(rule);
  bool isAdamW = rule.optimizer == PPRT_ADAMW;
  void *numbers = isAdamW ? static_cast<void *>(&adamW) : &sgd;
  void *arguments[] = {numbers, &entries, &count};
  launch(getKernel(isAdamW ? AdamWKernel : SgdKernel, isWide), blocks,
         arguments);
}

void cuda::update(const UpdateRule &rule,
                  const std::vector<ParameterUpdate> &parameters,
                  const UpdateMemory &memory) {
  uint64_t offset = UpdateLayout(parameters.size()).table;
  int64_t entryCount = 0;
  updateType<float>(rule, parameters, memory, offset, entryCount);
  updateType<double>(rule, parameters, memory, offset, entryCount);
}
