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

GraphScope::GraphScope(StringRef path, const GraphProto &graph,
                       MLIRContext *context)
    : graph(graph), report(path, graph, context) {
  for (const TensorProto &initializer : graph.initializer())
    initializers[initializer.name()] = &initializer;
}

GraphScope::GraphScope(GraphScope &outer, const GraphProto &graph,
                       Location nodeLoc)
    : graph(graph), report(outer.report, graph, nodeLoc), outer(&outer) {
  for (const TensorProto &initializer : graph.initializer())
    initializers[initializer.name()] = &initializer;
}

bool GraphScope::isCaptured(StringRef name) const {
  for (const GraphScope *scope = outer; scope; scope = scope->outer)
    if (scope->values.lookup(name))
      return true;
  return false;
}
