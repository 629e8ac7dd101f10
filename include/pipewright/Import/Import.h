//===- Import.h - ONNX model to nn ops --------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The first phase: an ONNX file becomes a module with a `pp.model` of `nn` ops,
// for one micro-batch and with static shapes, and a `pp.parameter` for each
// weight, whose values stay in their file.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_IMPORT_IMPORT_H
#define PIPEWRIGHT_IMPORT_IMPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>

namespace pipewright {

/// What a model's file says beside the module.
struct ImportNotes {
  /// The pipeline stage that the device configuration of a node names, by the
  /// node's name as its ops' locations say it. Of several configurations it is
  /// the model's first.
  llvm::StringMap<int64_t> stages;
  /// The type of each value of the model's graph, by its name.
  llvm::StringMap<mlir::RankedTensorType> types;
};

struct ImportOptions {
  /// The model: `.onnx`, or its text form in `.onnxtxt` or `.textproto`.
  std::string path;
  /// Sizes of symbolic dimensions. A dimension without a name is called
  /// `<input>.<axis>`.
  llvm::StringMap<int64_t> bind;
  /// The symbolic dimension along which a batch is cut; empty: the first whose
  /// name begins with "batch", or else that of axis 0 of the first input.
  std::string batchDim;
  /// The size of the batch dimension.
  std::optional<int64_t> microbatchSize;
  /// A weight that the file stores twice, as it is or transposed, is one
  /// parameter.
  bool tieCopies = true;
  /// A regular expression: inputs of the graph whose name matches are
  /// parameters, with the values that `weights` has under their names.
  std::string paramsFromInputs;
  /// A safetensors file. If it is empty, these parameters have no values: they
  /// are `#pp.external` of no file.
  std::string weights;
  /// External data may be reached through symbolic links.
  bool allowExternalSymlinks = false;
  /// Filled in by a successful import, if given.
  ImportNotes *notes = nullptr;
};

/// Adds the sizes in \p arguments, each `DIM=N`, to \p bind. Fails for anything
/// else and for a dimension that is given twice.
llvm::Error parseBindings(llvm::ArrayRef<std::string> arguments,
                          llvm::StringMap<int64_t> &bind);

/// Imports the model. On failure every problem of the file has been reported
/// to the diagnostic handlers of \p context and the result is null.
///
/// Each op's location is the NameLoc of its node: the node's name, made a path
/// (`/scope/…/name`) where the exporter recorded its scopes apart, or
/// `<OpType>_<index>` for a node without a name. A node of a function is
/// `<call>/<node>`.
mlir::OwningOpRef<mlir::ModuleOp> importOnnx(const ImportOptions &options,
                                             mlir::MLIRContext *context);

} // namespace pipewright

#endif // PIPEWRIGHT_IMPORT_IMPORT_H
