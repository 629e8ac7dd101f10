//===- ModelInputs.h - Inputs with static shapes ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_IMPORT_MODELINPUTS_H
#define PIPEWRIGHT_LIB_IMPORT_MODELINPUTS_H

#include "GraphReport.h"

#include "pipewright/Import/Import.h"

#include "mlir/IR/BuiltinTypes.h"

namespace pipewright {

namespace onnx {
class ValueInfoProto;
} // namespace onnx

/// An input of the model for one micro-batch.
struct ModelInput {
  std::string name;
  mlir::RankedTensorType type;
  int64_t axis;          ///< along which micro-batches are cut; -1: not at all
  unsigned unsignedBits; ///< of its unsigned integers; 0: it has others
};

/// The inputs of a model, and the name of their batch dimension if it has one.
struct ModelInputs {
  llvm::SmallVector<ModelInput> inputs;
  std::string batchDim;
};

/// The inputs of \p graph that are not initializers, with the sizes that
/// \p options give to their symbolic dimensions. An input is cut along the
/// batch dimension: the axis that is named as axis 0 of the first input or, if
/// that has no name, axis 0 where it has the size of the first input's.
ModelInputs getModelInputs(const onnx::GraphProto &graph,
                           const ImportOptions &options, GraphReport &report,
                           mlir::MLIRContext *context);

/// The axis of a graph's \p output that is named \p batchDim, of those that a
/// tensor with \p rank axes has; 0 if none is.
int64_t getBatchAxis(const onnx::ValueInfoProto &output,
                     llvm::StringRef batchDim, int64_t rank);

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_IMPORT_MODELINPUTS_H
