//===- Tensor.cpp - Element types and shapes ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pprt/Tensor.h"

using namespace pprt;

int64_t pprt::getElementBytes(PprtDtype dtype) {
  switch (dtype) {
  case PPRT_F64:
  case PPRT_I64:
    return 8;
  case PPRT_F32:
  case PPRT_I32:
    return 4;
  case PPRT_F16:
  case PPRT_BF16:
  case PPRT_I16:
    return 2;
  case PPRT_I8:
  case PPRT_BOOL:
    return 1;
  }
  return 0;
}

const char *pprt::getDtypeName(PprtDtype dtype) {
  static const char *const names[] = {"f32", "f64", "f16", "bf16", "i8",
                                      "i16", "i32", "i64", "bool"};
  return dtype <= PPRT_BOOL ? names[dtype] : "unknown";
}

static const char *const formatNames[] = {"F32", "F64", "F16", "BF16", "I8",
                                          "I16", "I32", "I64", "BOOL"};

const char *pprt::getFormatName(PprtDtype dtype) {
  return dtype <= PPRT_BOOL ? formatNames[dtype] : "unknown";
}

std::optional<PprtDtype> pprt::parseFormatName(std::string_view name) {
  for (int dtype = PPRT_F32; dtype <= PPRT_BOOL; ++dtype)
    if (name == formatNames[dtype])
      return static_cast<PprtDtype>(dtype);
  return std::nullopt;
}

std::string pprt::formatShape(const std::vector<int64_t> &shape) {
  if (shape.empty())
    return "scalar";
  std::string text;
  for (int64_t extent : shape) {
    if (!text.empty())
      text += 'x';
    text += std::to_string(extent);
  }
  return text;
}

int64_t pprt::countElements(const std::vector<int64_t> &shape) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}
