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

namespace pprt {

/// Reads this rank's parameters to their places; the error names the tensor.
Status loadWeights(const std::string &path, const PprtDescriptor &descriptor,
                   Device &device);

/// Writes the parameters of all ranks, by rank 0, to one file whose bytes do
/// not depend on how the model was cut. Fails on all ranks or on none.
Status saveParameters(const std::string &path, const PprtDescriptor &descriptor,
                      Device &device, Transport &transport);

} // namespace pprt

#endif // PPRT_CORE_WEIGHTS_H
