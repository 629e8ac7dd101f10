//===- MemoryReport.h - What the arena of each rank holds -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_LOG_MEMORYREPORT_H
#define PPRT_LOG_MEMORYREPORT_H

#include "launch/Transport.h"
#include "pprt/Descriptor.h"

#include <string>
#include <vector>

namespace pprt {

/// In bytes.
struct MemoryUse {
  uint64_t arena;
  uint64_t parameters;
  uint64_t gradients;
  uint64_t optimizer;
  uint64_t buffers;   ///< all else: what holds different values in turn
  uint64_t workspace; ///< part of the buffers: of the task that needs most
};

MemoryUse measureMemory(const PprtDescriptor &descriptor);

/// All ranks' use, on every rank.
std::vector<MemoryUse> exchangeMemory(Transport &transport,
                                      const MemoryUse &mine);

std::string formatMemoryTable(const std::vector<MemoryUse> &ranks);
std::string formatMemoryJson(const std::vector<MemoryUse> &ranks);

} // namespace pprt

#endif // PPRT_LOG_MEMORYREPORT_H
