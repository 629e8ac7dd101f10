//===- AttentionWorkspace.h - What a program has for attention --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CUDARUNTIME_ATTENTIONWORKSPACE_H
#define CUDARUNTIME_ATTENTIONWORKSPACE_H

#include <cstdint>

/// Bytes for the gradient, as Cuda.h says. \p ShapeTy has the names of its
/// sizes.
template <typename ShapeTy>
int64_t getAttentionWorkspace(const ShapeTy &s) {
  auto align = [](int64_t number, int64_t to) {
    return (number + to - 1) / to * to;
  };
  int64_t bytes =
      align(s.batch * s.heads * s.queries * 4, 256) + (1 << 20) +
      s.batch * s.heads * align(s.queries, 64) * align(s.keys, 64) * 2;
  if (s.groups != s.heads)
    bytes += s.batch * s.heads * s.keys * (s.size + s.valueSize) * 4;
  return bytes;
}

#endif // CUDARUNTIME_ATTENTIONWORKSPACE_H
