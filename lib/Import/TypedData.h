//===- TypedData.h - Values stored in numeric fields ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_IMPORT_TYPEDDATA_H
#define PIPEWRIGHT_LIB_IMPORT_TYPEDDATA_H

#include <vector>

namespace pipewright::onnx {

class TensorProto;

/// The values of \p tensor, which are in the field for its element type
/// (`float_data`, `int64_data`, …), as they would be in `raw_data`. 16-bit
/// floating-point values are kept as bit patterns in `int32_data`.
std::vector<char> decodeTypedData(const TensorProto &tensor);

} // namespace pipewright::onnx

#endif // PIPEWRIGHT_LIB_IMPORT_TYPEDDATA_H
