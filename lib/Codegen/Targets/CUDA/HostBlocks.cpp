//===- HostBlocks.cpp - What the host runs of a function
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostBlocks.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace pipewright;

bool cuda::isControlFlow(Operation *op) {
  return isa<scf::WhileOp, scf::IfOp>(op);
}

SmallVector<Block *> cuda::collectHostBlocks(func::FuncOp function) {
  SmallVector<Block *> blocks;
  if (function.isDeclaration())
    return blocks;
  blocks.push_back(&function.getBody().front());
  for (size_t next = 0; next < blocks.size(); ++next)
    for (Operation &op : *blocks[next])
      if (isControlFlow(&op))
        for (Region &region : op.getRegions())
          for (Block &block : region)
            blocks.push_back(&block);
  std::reverse(blocks.begin(), blocks.end());
  return blocks;
}
