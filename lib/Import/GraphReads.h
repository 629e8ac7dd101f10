//===- GraphReads.h - The names that nodes read -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_IMPORT_GRAPHREADS_H
#define PIPEWRIGHT_LIB_IMPORT_GRAPHREADS_H

#include "llvm/ADT/StringSet.h"

#include <string>
#include <vector>

namespace pipewright::onnx {

class GraphProto;
class NodeProto;

/// The names that \p graph defines: inputs, initializers and results of nodes.
llvm::StringSet<> getDefinitions(const GraphProto &graph);

/// The names that \p node reads: its operands, except for those that are left
/// out, and what the graphs that it holds read of the graphs around them.
std::vector<std::string> getReads(const NodeProto &node);

} // namespace pipewright::onnx

#endif // PIPEWRIGHT_LIB_IMPORT_GRAPHREADS_H
