//===- Threads.h - All ranks in one process ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_CORE_THREADS_H
#define PPRT_CORE_THREADS_H

#include "launch/Transport.h"
#include "pprt/Descriptor.h"

#include <functional>
#include <string>

namespace pprt {

/// The folder of the executable that this process runs.
std::string getProgramFolder();

/// What a rank does; its failure has been told.
using RankFunction =
    std::function<ExitCode(const PprtDescriptor &, Transport &)>;

/// Loads the executables of the other ranks, which lie beside this one, that of
/// rank 0, and runs a thread for each. Returns the first failure.
Status runThreads(const PprtDescriptor &descriptor, const RankFunction &run,
                  ExitCode &result);

} // namespace pprt

#endif // PPRT_CORE_THREADS_H
