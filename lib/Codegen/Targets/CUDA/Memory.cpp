//===- Memory.cpp - Which buffers share memory
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Memory.h"
#include "../../BufferBytes.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace pipewright;
using namespace pipewright::cuda;

Value cuda::getWholeBuffer(Value buffer) {
  while (auto view = buffer.getDefiningOp<ViewLikeOpInterface>()) {
    if (isa<memref::ViewOp>(view))
      break;
    buffer = view.getViewSource();
  }
  return buffer;
}

Memory cuda::getMemory(Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  Value whole = getWholeBuffer(buffer);
  Memory memory;
  memory.root = whole;
  memory.bytes = getBytes(cast<MemRefType>(whole.getType()));
  // A part of a buffer is taken for all of it.
  memory.isContiguous =
      type.getLayout().isIdentity() && getBytes(type) == memory.bytes;
  auto view = whole.getDefiningOp<memref::ViewOp>();
  if (!view)
    return memory;
  memory.root = view.getSource();
  std::optional<int64_t> shift = getConstantIntValue(view.getByteShift());
  memory.offset = shift.value_or(0);
  if (!shift)
    memory.bytes = getBytes(view.getSource().getType());
  return memory;
}

bool cuda::mayOverlap(const Memory &lhs, const Memory &rhs) {
  return lhs.root == rhs.root && lhs.offset < rhs.offset + rhs.bytes &&
         rhs.offset < lhs.offset + lhs.bytes;
}
