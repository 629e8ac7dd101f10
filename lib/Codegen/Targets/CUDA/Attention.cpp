//===- Attention.cpp - Attention by cuDNN
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Host/KernelCall.h"
#include "CUDA.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace pipewright;

llvm::Error cuda::checkAttention(bool asked) {
  constexpr bool isKnown = PIPEWRIGHT_CUDNN;
  if (!asked || isKnown)
    return llvm::Error::success();
  return llvm::createStringError(
      "this pipewright was built without cuDNN's headers; leave out "
      "--attention, or give it 'kernels'");
}

/// cuDNN has no tensors without elements.
static bool isTensor(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getNumElements() > 0 &&
         cuda::isCountable(tensor);
}

/// Rows of its kernels are whole pieces of 16 bytes, and fit on chip.
static bool isRow(int64_t size) { return size % 8 == 0 && size <= 128; }

bool cuda::hasAttention(const AttentionCall &call) {
  Type element = getElementTypeOrSelf(call.query);
  return (element.isBF16() || element.isF16()) && isRow(call.size) &&
         isRow(call.valueSize) && isTensor(call.query) && isTensor(call.key) &&
         isTensor(call.value) && isTensor(call.result);
}

/// As the runtime says: sums of f32, 16 bits for each query and key, by which
/// gradients are added up in one order, where heads share keys the gradients of
/// each head, and what the library wants beside.
int64_t cuda::getAttentionWorkspace(const AttentionCall &call) {
  int64_t heads = call.batch * call.heads;
  int64_t sums = llvm::alignTo(heads * call.queries * 4, 256);
  int64_t pairs = heads * llvm::alignTo(call.queries, 64) *
                  llvm::alignTo(call.keys, 64) * 2;
  int64_t shared = call.groups == call.heads
                       ? 0
                       : heads * call.keys * (call.size + call.valueSize) * 4;
  return sums + pairs + shared + (1 << 20);
}

static SmallVector<int64_t> getSizes(const AttentionCall &call) {
  return {call.batch, call.heads, call.groups,   call.queries,
          call.keys,  call.size,  call.valueSize};
}

void cuda::emitAttention(const AttentionCall &call, StringRef prefix,
                         Location loc, OpBuilder &builder) {
  host::emitKernelCall(
      {(prefix + "Attention").str(),
       call.query,
       call.result,
       {call.query, call.key, call.value, call.result, call.statistics},
       getSizes(call),
       {call.causal},
       /*types=*/{},
       {call.scale}},
      loc, builder);
}

void cuda::emitAttentionGradient(const AttentionGradientCall &call,
                                 StringRef prefix, Location loc,
                                 OpBuilder &builder) {
  const AttentionCall &of = call.attention;
  SmallVector<int64_t> sizes = {call.workspaceBytes};
  llvm::append_range(sizes, getSizes(of));
  host::emitKernelCall({(prefix + "AttentionGradient").str(),
                        call.gradient,
                        call.queryGradient,
                        {call.gradient, of.query, of.key, of.value, of.result,
                         of.statistics, call.queryGradient, call.keyGradient,
                         call.valueGradient, call.workspace},
                        sizes,
                        {of.causal},
                        /*types=*/{},
                        {of.scale}},
                       loc, builder);
}
