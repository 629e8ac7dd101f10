//===- NodeName.cpp - Which ONNX node an op comes from
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Dialect/PP/NodeName.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace pipewright;

StringRef pipewright::getNodeName(Location loc) {
  if (auto name = dyn_cast<NameLoc>(loc))
    return name.getName();
  if (auto fused = dyn_cast<FusedLoc>(loc))
    for (Location part : fused.getLocations())
      if (StringRef name = getNodeName(part); !name.empty())
        return name;
  return {};
}
