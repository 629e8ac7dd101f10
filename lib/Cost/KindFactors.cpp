//===- KindFactors.cpp - How much slower devices are
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Cost/KindFactors.h"

#include "pipewright/Cost/FunctionCost.h"
#include "pipewright/Cost/LayerFunctions.h"

using namespace mlir;
using namespace pipewright;

/// A micro-batch in all layers that \p distinct lists.
static double getSeconds(ArrayRef<LayerFunctions> distinct,
                         const Device &device) {
  double total = 0;
  for (const LayerFunctions &functions : distinct) {
    double seconds = 0;
    for (nn::FunctionOp function :
         {functions.forward, functions.backward, functions.weight})
      if (function)
        seconds += priceFunction(function, device).seconds;
    total += seconds * functions.layers.size();
  }
  return total;
}

std::vector<double> pipewright::getKindFactors(ModuleOp module,
                                               const Topology &topology,
                                               const Device &base) {
  SmallVector<LayerFunctions> distinct = findLayerFunctions(module);
  double usual = getSeconds(distinct, base);
  std::vector<double> factors;
  for (const Device &device : topology.getKinds())
    factors.push_back(usual > 0 ? getSeconds(distinct, device) / usual : 1);
  return factors;
}
