//===- Diagnostics.cpp - Diagnostics for people
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Diagnostics.h"

#include "pipewright/Driver/Registration.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace pipewright;

static StringRef getKind(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Note:
    return "note";
  case DiagnosticSeverity::Warning:
    return "warning";
  case DiagnosticSeverity::Error:
    return "error";
  case DiagnosticSeverity::Remark:
    return "remark";
  }
  llvm_unreachable("a severity that MLIR has not");
}

StringAttr pipewright::findNode(Location loc) {
  StringAttr node;
  loc->walk([&](Location part) {
    if (auto name = dyn_cast<NameLoc>(part); name && !node)
      node = name.getName();
    return WalkResult::advance();
  });
  return node;
}

static void print(const Diagnostic &diagnostic) {
  FileLineColLoc file;
  StringAttr node = findNode(diagnostic.getLocation());
  diagnostic.getLocation()->walk([&](Location loc) {
    if (auto line = dyn_cast<FileLineColLoc>(loc); line && !file)
      file = line;
    return WalkResult::advance();
  });

  llvm::raw_ostream &stream = llvm::errs();
  if (file && !node)
    stream << file.getFilename().getValue() << ':' << file.getLine() << ':'
           << file.getColumn() << ": ";
  else
    stream << "pipewright: ";
  stream << getKind(diagnostic.getSeverity()) << ": ";
  if (node)
    stream << "node '" << node.getValue() << "': ";
  // Users know a model and its layers, not the ops that stand for them.
  std::string message = diagnostic.str();
  StringRef text = message;
  if (text.consume_front("'pp.model' op "))
    stream << "the model ";
  else if (text.consume_front("'pp.layer' op '"))
    stream << "layer '";
  stream << text << '\n';
  for (const Diagnostic &note : diagnostic.getNotes())
    print(note);
}

DiagnosticPrinter::DiagnosticPrinter(MLIRContext &context)
    : ScopedDiagnosticHandler(&context) {
  // The op as IR says nothing to someone who has an ONNX file.
  context.printOpOnDiagnostic(false);
  setHandler([](Diagnostic &diagnostic) {
    print(diagnostic);
    return success();
  });
}

static DialectRegistry makeRegistry() {
  DialectRegistry registry;
  registerDialects(registry);
  return registry;
}

CommandContext::CommandContext()
    : context(makeRegistry()), diagnostics(context) {
  context.loadAllAvailableDialects();
}
