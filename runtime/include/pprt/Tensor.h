//===- Tensor.h - Element types and shapes ----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_TENSOR_H
#define PPRT_TENSOR_H

#include "pprt/Descriptor.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pprt {

/// Bytes of one element.
int64_t getElementBytes(PprtDtype dtype);

/// As people write it: `f32`, `i64`, `bool`.
const char *getDtypeName(PprtDtype dtype);

/// The shape as `2x3`, a scalar as `scalar`.
std::string formatShape(const std::vector<int64_t> &shape);

int64_t countElements(const std::vector<int64_t> &shape);

} // namespace pprt

#endif // PPRT_TENSOR_H
