//===- Progress.cpp - Where long work is
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Progress.h"

#include "llvm/Support/raw_ostream.h"

#include <unistd.h>

using namespace llvm;
using namespace pipewright;

Progress::Progress(int steps) : steps(steps), shown(isatty(STDERR_FILENO)) {}

Progress::~Progress() {
  if (shown)
    errs() << "\r\033[K";
}

void Progress::advance(StringRef name) {
  ++step;
  if (!shown)
    return;
  constexpr int width = 24;
  int filled = width * std::min(step, steps) / steps;
  errs() << "\r\033[K[" << std::string(filled, '#')
         << std::string(width - filled, '.') << "] " << name;
}
