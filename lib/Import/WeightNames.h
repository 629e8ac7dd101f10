//===- WeightNames.h - What PyTorch calls a weight --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_IMPORT_WEIGHTNAMES_H
#define PIPEWRIGHT_LIB_IMPORT_WEIGHTNAMES_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"

#include <string>

namespace pipewright::onnx {

class GraphProto;

/// The module of a node with the path of scopes \p path: `h.0.mlp` for
/// `/h.0/mlp/MatMul`; empty for a node of no module.
std::string getModule(llvm::StringRef path);

/// An exporter that folds the transpose of a linear layer's weight stores it
/// under a name of its own making; the node that multiplies with it still says
/// which module it is of. Returns `<module>.weight` for each matrix with such a
/// name that one node alone reads, as its second operand, unless that is the
/// name of another initializer. \p getPath gives the path of scopes of a node,
/// `/h.0/mlp/MatMul`, by its index.
llvm::StringMap<std::string>
findWeightNames(const GraphProto &graph,
                llvm::function_ref<std::string(int)> getPath);

} // namespace pipewright::onnx

#endif // PIPEWRIGHT_LIB_IMPORT_WEIGHTNAMES_H
