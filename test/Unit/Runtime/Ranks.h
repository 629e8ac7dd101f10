//===- Ranks.h - Ranks that are threads of a test ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_TEST_RANKS_H
#define PPRT_TEST_RANKS_H

#include "launch/Transport.h"

#include <functional>
#include <thread>

/// Runs \p run as each of \p size ranks.
inline void
runRanks(uint32_t size,
         const std::function<void(pprt::Transport &transport)> &run) {
  std::vector<std::unique_ptr<pprt::Transport>> transports =
      pprt::createThreadTransports(size);
  std::vector<std::thread> threads;
  for (std::unique_ptr<pprt::Transport> &transport : transports)
    threads.emplace_back([&] { run(*transport); });
  for (std::thread &thread : threads)
    thread.join();
}

#endif // PPRT_TEST_RANKS_H
