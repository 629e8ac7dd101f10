//===- ExpertOptions.cpp - How pipelines share experts out
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExpertOptions.h"

#include <cmath>

using namespace llvm;
using namespace pipewright;

ExpertOptions::ExpertOptions(cl::SubCommand &command,
                             cl::OptionCategory &category)
    : peers("ep", cl::value_desc("E"), cl::init(1),
            cl::desc("Pipelines in a group, of which each has an equal part of "
                     "all experts (default 1: each has all); --dp is a "
                     "multiple of it, by default E"),
            cl::sub(command), cl::cat(category)),
      capacity("expert-capacity", cl::value_desc("F"),
               cl::desc("Most rows that a pipeline sends to the experts of "
                        "another, as a multiple of an even share; for rows "
                        "beyond it experts give zeros (default: no limit)"),
               cl::sub(command), cl::cat(category)) {}

bool ExpertOptions::apply(BuildOptions &options) const {
  if (!isCount(peers, mostRanks))
    return false;
  options.peers = peers;
  if (!capacity.getNumOccurrences())
    return true;
  if (!(std::isfinite(capacity) && capacity > 0)) {
    refuse("--expert-capacity must be a number above 0");
    return false;
  }
  if (peers == 1) {
    refuse("--expert-capacity needs --ep of at least 2: one pipeline alone "
           "sends no rows");
    return false;
  }
  options.expertCapacity = capacity;
  return true;
}
