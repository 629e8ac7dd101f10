//===- StepNeeds.h - What is made before the first step ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_BACKENDS_CUDA_STEPNEEDS_H
#define PPRT_BACKENDS_CUDA_STEPNEEDS_H

#include "HostCopies.h"
#include "pprt/Descriptor.h"

namespace pprt::cuda {

/// What a step copies from the host. A buffer may be filled anew for the
/// backward pass of a micro-batch.
StagedBytes getStagedBytes(const PprtDescriptor &descriptor);

/// The events of a step that is traced: a begin and an end for each action, and
/// for a message also what it waits for; and for each copy from the host its
/// end and perhaps that of what its memory was used for.
size_t countEvents(const PprtDescriptor &descriptor);

} // namespace pprt::cuda

#endif // PPRT_BACKENDS_CUDA_STEPNEEDS_H
