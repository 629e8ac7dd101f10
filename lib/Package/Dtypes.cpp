//===- Dtypes.cpp - Element types outside the compiler
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Package/Dtypes.h"

#include "pprt/Tensor.h"

using namespace mlir;
using namespace pipewright;

PprtDtype pipewright::getDtype(Type type) {
  if (type.isF64())
    return PPRT_F64;
  if (type.isF16())
    return PPRT_F16;
  if (type.isBF16())
    return PPRT_BF16;
  if (type.isF32())
    return PPRT_F32;
  switch (type.getIntOrFloatBitWidth()) {
  case 1:
    return PPRT_BOOL;
  case 8:
    return PPRT_I8;
  case 16:
    return PPRT_I16;
  case 32:
    return PPRT_I32;
  default:
    return PPRT_I64;
  }
}

StringRef pipewright::getDtypeName(Type elementType) {
  return pprt::getFormatName(getDtype(elementType));
}
