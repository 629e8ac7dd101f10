//===- QuietErrors.h - Trials that may fail ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_DRIVER_QUIETERRORS_H
#define PIPEWRIGHT_LIB_DRIVER_QUIETERRORS_H

#include "mlir/IR/Diagnostics.h"

#include <string>

namespace pipewright {

/// Keeps diagnostics of trials from the user: that a model has too few layers
/// for so many stages is no error of a search.
class QuietErrors {
public:
  explicit QuietErrors(mlir::MLIRContext &context)
      : handler(&context, [this](mlir::Diagnostic &diagnostic) {
          if (first.empty() &&
              diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
            first = diagnostic.str();
          return mlir::success();
        }) {}

  std::string first;

private:
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_DRIVER_QUIETERRORS_H
