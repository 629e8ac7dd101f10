//===- Tensor.h - Element types and shapes ----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_TENSOR_H
#define PPRT_TENSOR_H

#include "pprt/Descriptor.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pprt {

/// Bytes of one element.
int64_t getElementBytes(PprtDtype dtype);

/// As people write it: `f32`, `i64`, `bool`.
const char *getDtypeName(PprtDtype dtype);

/// As safetensors files and manifests write it: `F32`, `I64`, `BOOL`.
const char *getFormatName(PprtDtype dtype);
std::optional<PprtDtype> parseFormatName(std::string_view name);

/// The shape as `2x3`, a scalar as `scalar`.
std::string formatShape(const std::vector<int64_t> &shape);

int64_t countElements(const std::vector<int64_t> &shape);

} // namespace pprt

#endif // PPRT_TENSOR_H
