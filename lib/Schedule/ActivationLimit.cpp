//===- ActivationLimit.cpp - Memory as a number of micro-batches
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ActivationLimit.h"

#include "pipewright/Dialect/PP/ParameterBytes.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/SetVector.h"

#include <algorithm>

using namespace mlir;
using namespace pipewright;

/// Of what the forward of a stage, \p parts, has for each micro-batch.
static int64_t getActivationBytes(ArrayRef<pp::TaskOp> parts) {
  llvm::SmallMapVector<Attribute, int64_t, 16> sizes;
  for (pp::TaskOp task : parts) {
    for (auto [argument, attribute] : llvm::zip_equal(
             task.getBody().getArguments(), task.getArgumentBindings())) {
      auto binding = cast<pp::BindingAttr>(attribute);
      if (binding.getKind() != pp::BindingKind::Parameter)
        sizes[binding] = pp::getBytes(argument.getType());
    }
    for (auto [value, binding] :
         llvm::zip_equal(task.getYield().getValues(), task.getResultBindings()))
      sizes[binding] = pp::getBytes(value.getType());
  }
  int64_t bytes = 0;
  for (auto [binding, size] : sizes)
    bytes += size;
  return bytes;
}

std::optional<double>
pipewright::estimateActivationLimit(const StageGraph &graph, int64_t bytes) {
  std::vector<int64_t> largest(graph.getRanks(), 1);
  std::vector<llvm::SetVector<Attribute>> parameters(graph.getRanks());
  for (int64_t stage = 0; stage < graph.getStages(); ++stage) {
    int64_t rank = graph.getRank(stage);
    largest[rank] = std::max(
        largest[rank], getActivationBytes(graph.getParts(stage, pp::Role::F)));
    parameters[rank].insert_range(graph.getStage(stage).getParameters());
  }
  auto module = graph.getStage(0)->getParentOfType<ModuleOp>();
  SymbolTable symbols(module);
  int64_t copies = pp::countCopies(module);
  double limit = std::numeric_limits<double>::infinity();
  for (auto [activation, names] : llvm::zip_equal(largest, parameters)) {
    double left =
        bytes - pp::getParameterBytes(names.getArrayRef(), symbols, copies);
    limit = std::min(limit, left / (activation * graph.getChunks()));
  }
  if (limit < 1)
    return std::nullopt;
  return limit;
}
