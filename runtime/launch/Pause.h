//===- Pause.h - How to look again and again --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_LAUNCH_PAUSE_H
#define PPRT_LAUNCH_PAUSE_H

#include <sched.h>
#include <time.h>

namespace pprt {

/// What a loop does between two looks at what it waits for. Most of it is there
/// at once or within a task's time of a peer: let other ranks of this machine
/// run, and later sleep in between.
class Pause {
public:
  void operator()() {
    constexpr int yields = 400;
    constexpr timespec sleep = {0, 20000};
    if (count < yields) {
      ++count;
      sched_yield();
      return;
    }
    nanosleep(&sleep, nullptr);
  }

private:
  int count = 0;
};

} // namespace pprt

#endif // PPRT_LAUNCH_PAUSE_H
