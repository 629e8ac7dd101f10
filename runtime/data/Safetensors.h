//===- Safetensors.h - The file format of weights ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A safetensors file is a header length (8 bytes, little-endian), a JSON
// header that maps names to element type, shape and a range of bytes, and the
// bytes.
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_DATA_SAFETENSORS_H
#define PPRT_DATA_SAFETENSORS_H

#include "pprt/Status.h"
#include "pprt/Tensor.h"

#include <map>
#include <string>
#include <vector>

namespace pprt {

struct SafetensorsEntry {
  PprtDtype dtype;
  std::vector<int64_t> shape;
  uint64_t offset; ///< of its bytes in the file
  uint64_t bytes;
};

using SafetensorsIndex = std::map<std::string, SafetensorsEntry>;

/// Reads the header of \p path and checks that every tensor lies in the file.
Status readSafetensorsIndex(const std::string &path, SafetensorsIndex &index);

/// Lays the tensors of \p index out one after the other, in the order of their
/// names: sets their offsets and returns the file's first bytes.
std::string layOutSafetensors(SafetensorsIndex &index);

} // namespace pprt

#endif // PPRT_DATA_SAFETENSORS_H
