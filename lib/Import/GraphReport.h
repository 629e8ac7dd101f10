//===- GraphReport.h - Diagnostics about a model ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_IMPORT_GRAPHREPORT_H
#define PIPEWRIGHT_LIB_IMPORT_GRAPHREPORT_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"

#include <string>

namespace pipewright {

namespace onnx {
class GraphProto;
} // namespace onnx

/// Reports what is wrong with a graph, and remembers that something is.
class GraphReport {
public:
  GraphReport(llvm::StringRef path, const onnx::GraphProto &graph,
              mlir::MLIRContext *context)
      : path(path), graph(graph), context(context) {}
  /// For a graph of the node at \p nodeLoc, which \p outer is about.
  GraphReport(const GraphReport &outer, const onnx::GraphProto &graph,
              mlir::Location nodeLoc);

  /// The location of node \p index: its name as a path of scopes, below the
  /// node that holds the graph.
  mlir::Location getNodeLoc(int64_t index) const;

  /// An error of the whole model.
  mlir::InFlightDiagnostic error();
  /// An error of node \p index.
  mlir::InFlightDiagnostic nodeError(int64_t index);
  void fail() { failed = true; }
  bool hasFailed() const { return failed; }

  /// Node \p index, as diagnostics name it: `#3 (Add 'residual')`.
  std::string describeNode(int64_t index) const;

private:
  std::string path;
  const onnx::GraphProto &graph;
  mlir::MLIRContext *context;
  std::string prefix; ///< of locations, without the last '/'
  bool failed = false;
};

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_IMPORT_GRAPHREPORT_H
