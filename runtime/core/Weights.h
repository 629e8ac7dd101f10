//===- Weights.h - Parameters from and to files -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_CORE_WEIGHTS_H
#define PPRT_CORE_WEIGHTS_H

#include "Device.h"
#include "pprt/Descriptor.h"

#include <string>
#include <vector>

namespace pprt {

/// The shape of a file's tensor: that of all shards together.
std::vector<int64_t> getWholeShape(const PprtParameter &parameter);

/// The byte of a file's tensor at which the shard for \p place begins.
uint64_t getShardBegin(const PprtParameter &parameter, uint32_t place);

/// Reads this rank's parameters, and shards for \p place of its group; the
/// error names the tensor.
Status loadWeights(const std::string &path, const PprtDescriptor &descriptor,
                   uint32_t place, Device &device);

/// Writes the parameters of all ranks of a group, by rank 0, to one file whose
/// bytes do not depend on how the model was cut. Each rank has the shards of
/// its \p place. Fails on all ranks or on none.
Status saveParameters(const std::string &path, const PprtDescriptor &descriptor,
                      uint32_t place, Device &device, Transport &group);

} // namespace pprt

#endif // PPRT_CORE_WEIGHTS_H
