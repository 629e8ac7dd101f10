//===- GraphScope.cpp - What the names of a graph mean
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GraphScope.h"

#include "Proto/Onnx.pb.h"

using namespace mlir;
using namespace pipewright;
using namespace pipewright::onnx;

GraphScope::GraphScope(const GraphProto &graph, GraphReport report,
                       GraphScope *outer)
    : graph(graph), report(std::move(report)), outer(outer) {
  for (const TensorProto &initializer : graph.initializer())
    initializers[initializer.name()] = &initializer;
}

GraphScope::GraphScope(StringRef path, const GraphProto &graph,
                       MLIRContext *context)
    : GraphScope(graph, GraphReport(path, graph, context), /*outer=*/nullptr) {}

GraphScope::GraphScope(GraphScope &outer, const GraphProto &graph,
                       Location nodeLoc)
    : GraphScope(graph, GraphReport(outer.report, graph, nodeLoc), &outer) {}

bool GraphScope::isCaptured(StringRef name) const {
  for (const GraphScope *scope = outer; scope; scope = scope->outer)
    if (scope->values.lookup(name))
      return true;
  return false;
}
