//===- InputWeights.h - Weights that are inputs of the graph ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_IMPORT_INPUTWEIGHTS_H
#define PIPEWRIGHT_LIB_IMPORT_INPUTWEIGHTS_H

#include "pipewright/Import/OnnxFile.h"

namespace pipewright::onnx {

/// Some exporters keep weights out of the model: they become inputs of the
/// graph. Makes an initializer of each input of \p file whose name matches the
/// regular expression \p pattern, with the values that the safetensors file
/// \p weights has under that name; they stay in that file. If \p weights is
/// empty, it has no values. Inputs that have an initializer keep it.
///
/// Returns what is wrong, as what the model does; empty if nothing is.
std::vector<std::string> promoteInputs(OnnxFile &file, llvm::StringRef pattern,
                                       llvm::StringRef weights);

} // namespace pipewright::onnx

#endif // PIPEWRIGHT_LIB_IMPORT_INPUTWEIGHTS_H
