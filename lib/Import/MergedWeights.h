//===- MergedWeights.h - Weights that were stored once ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_IMPORT_MERGEDWEIGHTS_H
#define PIPEWRIGHT_LIB_IMPORT_MERGEDWEIGHTS_H

#include "pipewright/Import/OnnxFile.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <string>
#include <vector>

namespace pipewright::onnx {

/// PyTorch's exporters store initializers of equal values once. Weights with
/// random numbers never are, but those of fresh modules, scales of ones and
/// biases of zeros: weights of their own, which training must not tie. A weight
/// is taken for several if all of its elements are equal and either nodes of
/// several modules read it or one node does so twice. Adds an initializer to
/// \p file for each of them but the one that has the name, called
/// `<module>.weight` or as the leaf of that name is, and has its nodes read it.
/// \p getPath gives the path of scopes of a node, `/h.0/mlp/MatMul`, by its
/// index. Returns the names that were added, in the order of the nodes.
std::vector<std::string>
separateMergedWeights(OnnxFile &file,
                      llvm::function_ref<std::string(int)> getPath);

} // namespace pipewright::onnx

#endif // PIPEWRIGHT_LIB_IMPORT_MERGEDWEIGHTS_H
