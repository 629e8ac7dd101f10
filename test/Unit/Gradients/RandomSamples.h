//===- RandomSamples.h - Functions of ops on random shapes ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TEST_UNIT_GRADIENTS_RANDOMSAMPLES_H
#define PIPEWRIGHT_TEST_UNIT_GRADIENTS_RANDOMSAMPLES_H

#include "GradientSamples.h"

#include <vector>

namespace pipewright {

/// A function for each op that passes a gradient on, with a shape of up to four
/// axes, many of them of size 1 and some of size 0, and with axes, offsets,
/// strides and the like to match. Equal seeds make equal functions.
std::vector<GradientSample> makeRandomSamples(uint64_t seed);

} // namespace pipewright

#endif // PIPEWRIGHT_TEST_UNIT_GRADIENTS_RANDOMSAMPLES_H
