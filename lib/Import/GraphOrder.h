//===- GraphOrder.h - Who defines what, and in which order ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_IMPORT_GRAPHORDER_H
#define PIPEWRIGHT_LIB_IMPORT_GRAPHORDER_H

#include "GraphScope.h"

#include <vector>

namespace pipewright {

/// The indices of the nodes of the scope's graph, each after those whose
/// results it reads, and else as in the file: tools that rewrite models do not
/// always keep the order that ONNX asks for.
///
/// Reports names that nothing or several things define, and cycles; the order
/// is then of no use.
std::vector<int> orderNodes(GraphScope &scope);

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_IMPORT_GRAPHORDER_H
