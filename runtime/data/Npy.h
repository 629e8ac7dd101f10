//===- Npy.h - NumPy's file format ------------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_DATA_NPY_H
#define PPRT_DATA_NPY_H

#include "MappedFile.h"
#include "pprt/Tensor.h"

#include <memory>
#include <string>
#include <vector>

namespace pprt {

/// An array in row-major order whose elements stay in the mapped file. Unsigned
/// integers, which we do not compute with, are narrower there than their dtype,
/// the next wider signed one.
struct NpyArray {
  bool isUnsigned() const { return elementBytes < getElementBytes(dtype); }

  std::unique_ptr<MappedFile> file;
  PprtDtype dtype;
  int64_t elementBytes; ///< in the file
  std::vector<int64_t> shape;
  const uint8_t *data;
};

Status openNpy(const std::string &path, NpyArray &result);

/// The bytes before the elements; empty if NumPy has no such element type.
std::string formatNpyHeader(PprtDtype dtype, const std::vector<int64_t> &shape);

} // namespace pprt

#endif // PPRT_DATA_NPY_H
