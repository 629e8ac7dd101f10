//===- GraphScope.h - What the names of a graph mean ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_IMPORT_GRAPHSCOPE_H
#define PIPEWRIGHT_LIB_IMPORT_GRAPHSCOPE_H

#include "GraphReport.h"

#include "mlir/IR/Value.h"
#include "llvm/ADT/StringMap.h"

namespace pipewright {

namespace onnx {
class TensorProto;
} // namespace onnx

/// A graph while it is imported: that of the model, or the branch or body that
/// a node of another graph holds and that sees the names of that graph too.
struct GraphScope {
  /// The graph of the model in the file \p path.
  GraphScope(llvm::StringRef path, const onnx::GraphProto &graph,
             mlir::MLIRContext *context);
  /// The graph of a node of \p outer, which is at \p nodeLoc.
  GraphScope(GraphScope &outer, const onnx::GraphProto &graph,
             mlir::Location nodeLoc);

  /// Whether a graph around this one defines \p name.
  bool isCaptured(llvm::StringRef name) const;

  const onnx::GraphProto &graph;
  GraphReport report;
  GraphScope *outer = nullptr;
  llvm::StringMap<const onnx::TensorProto *> initializers;
  /// Values by their ONNX names; "" is never one of them.
  llvm::StringMap<mlir::Value> values;

private:
  GraphScope(const onnx::GraphProto &graph, GraphReport report,
             GraphScope *outer);
};

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_IMPORT_GRAPHSCOPE_H
