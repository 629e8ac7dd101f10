//===- Progress.h - Where long work is --------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TOOLS_PROGRESS_H
#define PIPEWRIGHT_TOOLS_PROGRESS_H

#include "llvm/ADT/StringRef.h"

namespace pipewright {

/// A bar on stderr that is overwritten as work goes on and leaves no trace.
/// Shows nothing if stderr is not a terminal.
class Progress {
public:
  explicit Progress(int steps);
  ~Progress();

  /// Begins the next step.
  void advance(llvm::StringRef name);

private:
  int steps;
  int step = 0;
  bool shown;
};

} // namespace pipewright

#endif // PIPEWRIGHT_TOOLS_PROGRESS_H
