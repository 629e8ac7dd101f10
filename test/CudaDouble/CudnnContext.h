//===- CudnnContext.h - What cudnnHandle_t points to ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CUDADOUBLE_CUDNNCONTEXT_H
#define CUDADOUBLE_CUDNNCONTEXT_H

#include <cudnn.h>

struct cudnnContext {
  cudaStream_t stream;
};

#endif // CUDADOUBLE_CUDNNCONTEXT_H
