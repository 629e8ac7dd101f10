//===- RaiseReport.h - What was raised, and what was left -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TOOLS_PIPEWRIGHT_RAISEREPORT_H
#define PIPEWRIGHT_TOOLS_PIPEWRIGHT_RAISEREPORT_H

#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <string>
#include <vector>

namespace pipewright {

/// The remarks of `--nn-raise-patterns`.
struct RaiseReport {
  struct Entry {
    std::string op;   ///< without the dialect: "attention"
    std::string node; ///< of the ONNX file
    std::string reason;
  };

  /// Collects what passes run in \p context say, as long as both live.
  void listen(mlir::MLIRContext &context);

  /// Counts of what was raised, and each op that was left with the reason.
  void print(llvm::raw_ostream &stream) const;

  std::vector<Entry> raised;
  std::vector<Entry> left;
};

/// Adds the lists "raised" and "left" to \p object.
void addTo(llvm::json::Object &object, const RaiseReport &report);

} // namespace pipewright

#endif // PIPEWRIGHT_TOOLS_PIPEWRIGHT_RAISEREPORT_H
