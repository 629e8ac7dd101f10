//===- TransposedCopies.h - Weights that were stored twice ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_IMPORT_TRANSPOSEDCOPIES_H
#define PIPEWRIGHT_LIB_IMPORT_TRANSPOSEDCOPIES_H

#include "pipewright/Import/OnnxFile.h"

#include "llvm/ADT/StringMap.h"

namespace pipewright::onnx {

class GraphProto;

/// PyTorch's exporters fold the transpose of a weight into a new initializer
/// with a name of their own making, and keep the weight itself if anything else
/// uses it, as a tied embedding is used. The two are one parameter of the
/// model. Returns the name of the weight for each such copy: they have the same
/// values in transposed places, not all of them equal. What cannot be read is
/// no copy.
llvm::StringMap<std::string> findTransposedCopies(OnnxFile &file,
                                                  const GraphProto &graph);

} // namespace pipewright::onnx

#endif // PIPEWRIGHT_LIB_IMPORT_TRANSPOSEDCOPIES_H
