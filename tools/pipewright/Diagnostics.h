//===- Diagnostics.h - Diagnostics for people -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TOOLS_DIAGNOSTICS_H
#define PIPEWRIGHT_TOOLS_DIAGNOSTICS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

namespace pipewright {

/// The ONNX node that \p loc leads to; null if there is none.
mlir::StringAttr findNode(mlir::Location loc);

/// Prints the diagnostics of a context to stderr, one line each and one per
/// note: `pipewright: error: node '/h.3/attn/MatMul': <message>`, or with file
/// and line where a file is text.
class DiagnosticPrinter : public mlir::ScopedDiagnosticHandler {
public:
  explicit DiagnosticPrinter(mlir::MLIRContext &context);
};

/// What a subcommand works on models in: all dialects, and diagnostics that are
/// printed.
struct CommandContext {
  CommandContext();

  mlir::MLIRContext context;
  DiagnosticPrinter diagnostics;
};

} // namespace pipewright

#endif // PIPEWRIGHT_TOOLS_DIAGNOSTICS_H
