//===- WeightCopies.h - Weights that were stored twice ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_IMPORT_WEIGHTCOPIES_H
#define PIPEWRIGHT_LIB_IMPORT_WEIGHTCOPIES_H

#include "pipewright/Import/OnnxFile.h"

#include "llvm/ADT/StringMap.h"

namespace pipewright::onnx {

class GraphProto;
class TensorProto;

/// Whether an exporter has made the name of an initializer up, as
/// `onnx::MatMul_858` and `val_297`.
bool isExportersName(llvm::StringRef name);

/// Whether all elements of \p tensor, which has some, are equal.
bool isUniform(const TensorContents &tensor);

/// The weight that an initializer is a copy of.
struct WeightCopy {
  std::string weight;
  bool isTransposed;
};

/// PyTorch's exporters fold the transpose of a weight into a new initializer
/// with a name of their own making, and keep the weight itself if anything else
/// uses it, as a tied embedding is used; other tools store a tied embedding
/// under both of its names. The two are one parameter of the model. Returns the
/// weight for each copy: they have the same values, not all of them equal, and
/// the copy's name is an exporter's or the weight is looked up in. What cannot
/// be read is no copy.
llvm::StringMap<WeightCopy> findWeightCopies(OnnxFile &file,
                                             const GraphProto &graph);

} // namespace pipewright::onnx

#endif // PIPEWRIGHT_LIB_IMPORT_WEIGHTCOPIES_H
