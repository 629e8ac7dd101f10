//===- Pooling.cpp - Pooling by cuDNN
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Host/KernelCall.h"
#include "CUDA.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/ErrorHandling.h"

using namespace mlir;
using namespace pipewright;

/// What \p call reads, in the order of the runtime's functions.
static SmallVector<Value> getOperands(const PoolingCall &call) {
  SmallVector<Value> operands;
  for (Value operand : {call.image, call.pooled, call.pooledGradient})
    if (operand)
      operands.push_back(operand);
  return operands;
}

bool cuda::hasPooling(const PoolingCall &call) {
  SmallVector<Value> operands = getOperands(call);
  return call.dilations == std::array<int64_t, 2>{1, 1} &&
         isCountable(call.result) && llvm::all_of(operands, [&](Value operand) {
           return isCountable(operand) &&
                  isLibraryFloat(getElementTypeOrSelf(operand));
         });
}

static StringRef getStem(PoolingForm form) {
  switch (form) {
  case PoolingForm::Max:
    return "PoolingMax";
  case PoolingForm::Sum:
    return "PoolingSum";
  case PoolingForm::Average:
    return "PoolingAverage";
  case PoolingForm::MaxGradient:
    return "PoolingMaxGradient";
  case PoolingForm::SumGradient:
    return "PoolingSumGradient";
  case PoolingForm::AverageGradient:
    return "PoolingAverageGradient";
  }
  llvm_unreachable("unknown form of pooling");
}

void cuda::emitPooling(const PoolingCall &call, StringRef prefix, Location loc,
                       OpBuilder &builder) {
  SmallVector<int64_t> sizes = {call.batch, call.channels};
  for (const std::array<int64_t, 2> &pair :
       {call.input, call.kernel, call.output, call.padding, call.strides})
    llvm::append_range(sizes, pair);
  SmallVector<Value> buffers = getOperands(call);
  buffers.push_back(call.result);
  host::emitKernelCall({(prefix + getStem(call.form)).str(), buffers.front(),
                        call.result, buffers, sizes,
                        /*flags=*/{}},
                       loc, builder);
}
