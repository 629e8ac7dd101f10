//===- Convolution.cpp - Convolutions by cuDNN
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Host/KernelCall.h"
#include "CUDA.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/ErrorHandling.h"

#include <limits>

using namespace mlir;
using namespace pipewright;

llvm::Expected<bool> cuda::resolveConvolutions(std::optional<bool> asked) {
  constexpr bool isKnown = PIPEWRIGHT_CUDNN;
  if (asked.value_or(false) && !isKnown)
    return llvm::createStringError(
        "this pipewright was built without cuDNN's headers; leave out "
        "--convolutions, or give it 'kernels'");
  return asked.value_or(isKnown);
}

bool cuda::isCountable(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  return type.getNumElements() <= std::numeric_limits<int32_t>::max();
}

bool cuda::isLibraryFloat(Type element) {
  return element.isF32() || element.isBF16() || element.isF16();
}

bool cuda::hasConvolution(const ConvolutionCall &call) {
  Type element = getElementTypeOrSelf(call.lhs);
  Type result = getElementTypeOrSelf(call.result);
  return isLibraryFloat(element) && getElementTypeOrSelf(call.rhs) == element &&
         (result == element || result.isF32()) && isCountable(call.lhs) &&
         isCountable(call.rhs) && isCountable(call.result);
}

static StringRef getStem(ConvolutionForm form) {
  switch (form) {
  case ConvolutionForm::Forward:
    return "Convolution";
  case ConvolutionForm::InputGradient:
    return "ConvolutionInputGradient";
  case ConvolutionForm::WeightGradient:
    return "ConvolutionWeightGradient";
  }
  llvm_unreachable("unknown form of convolution");
}

void cuda::emitConvolution(const ConvolutionCall &call, StringRef prefix,
                           Location loc, OpBuilder &builder) {
  SmallVector<int64_t> sizes = {call.batch, call.groups, call.channels,
                                call.outputChannels};
  for (const std::array<int64_t, 2> &pair :
       {call.input, call.kernel, call.output, call.padding, call.strides,
        call.dilations})
    llvm::append_range(sizes, pair);
  host::emitKernelCall({(prefix + getStem(call.form)).str(),
                        call.lhs,
                        call.result,
                        {call.lhs, call.rhs, call.result},
                        sizes,
                        {call.accumulate}},
                       loc, builder);
}
