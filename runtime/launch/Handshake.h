//===- Handshake.h - Do the ranks belong together? --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_LAUNCH_HANDSHAKE_H
#define PPRT_LAUNCH_HANDSHAKE_H

#include "Transport.h"
#include "pprt/Descriptor.h"

namespace pprt {

/// Checks on all ranks that they are the ranks of one build: their number,
/// each one's place, the version of this interface and the plan's hash.
Status shakeHands(Transport &transport, const PprtDescriptor &descriptor);

} // namespace pprt

#endif // PPRT_LAUNCH_HANDSHAKE_H
