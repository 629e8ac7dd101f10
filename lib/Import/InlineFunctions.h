//===- InlineFunctions.h - Expands calls of functions -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A model may define operators of its own as functions of other operators;
// exports of PyTorch 2.1 to 2.5 keep those of its operator library. What comes
// after this step sees a graph without them.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_IMPORT_INLINEFUNCTIONS_H
#define PIPEWRIGHT_LIB_IMPORT_INLINEFUNCTIONS_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace pipewright::onnx {

class ModelProto;

/// Replaces each node of the graph, and of graphs in it, that calls a function
/// of \p model by the nodes of the function, in place. Nodes and values of a
/// function become
/// `<call>/<name>`, so that they stay in the scope of the call, and nodes
/// inherit the metadata of the call. In ONNX's own domain an operator for which
/// \p isOperator holds goes before a function with its name.
///
/// Returns what is wrong, each as words that can follow the name of the model;
/// unless there is nothing, the graph is of no use.
std::vector<std::string>
inlineFunctions(ModelProto &model,
                llvm::function_ref<bool(llvm::StringRef name)> isOperator);

} // namespace pipewright::onnx

#endif // PIPEWRIGHT_LIB_IMPORT_INLINEFUNCTIONS_H
