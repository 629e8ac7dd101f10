//===- ParserFuzzer.cpp - Any text as a module
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A module that is valid prints as text that is the same module, and the passes
// of the import phase, which evaluate ops, leave it valid.
//
//===----------------------------------------------------------------------===//

#include "TextMutator.h"
#include "pipewright/Dialect/NN/NN.h"
#include "pipewright/Dialect/PP/PP.h"
#include "pipewright/Import/Passes.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace pipewright;

static std::string print(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream);
  return text;
}

/// Parses \p text, which is the print of a valid module.
static void parseAgain(StringRef text, MLIRContext *context) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, context);
  if (!module)
    llvm::report_fatal_error("what is printed does not parse:\n" + text);
  std::string again = print(*module);
  if (text != again)
    llvm::report_fatal_error(text + "becomes\n" + again);
}

static void simplify(ModuleOp module) {
  PassManager passes(module.getContext());
  passes.addPass(createFold());
  passes.addPass(createRaisePatterns());
  // A look-up beyond the end of a table is an error and no crash.
  (void)passes.run(module);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // MLIR's own parser looks at a few characters behind a name that the text
  // ends with.
  constexpr size_t padding = 64;
  std::string padded(reinterpret_cast<const char *>(data), size);
  padded.append(padding, '\0');
  StringRef text(padded.data(), size);
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<nn::NNDialect, pp::PPDialect>();
  ScopedDiagnosticHandler swallow(&context,
                                  [](Diagnostic &) { return success(); });
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  if (!module)
    return 0;
  parseAgain(print(*module), &context);
  simplify(*module);
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t maxSize, unsigned seed) {
  return mutateText(data, size, maxSize, seed);
}
