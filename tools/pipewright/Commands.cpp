//===- Commands.cpp - What the subcommands share
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"

#include "llvm/Support/raw_ostream.h"

using namespace llvm;

cl::OptionCategory &pipewright::getCommandOptions() {
  static cl::OptionCategory category("Pipewright options");
  return category;
}

int pipewright::fail(const Twine &message, ExitCode code) {
  errs() << "pipewright: error: " << message << '\n';
  return code;
}
