//===- FunctionText.h - Functions of tests, written as text -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TEST_UNIT_DIALECT_FUNCTIONTEXT_H
#define PIPEWRIGHT_TEST_UNIT_DIALECT_FUNCTIONTEXT_H

#include "pipewright/Dialect/NN/Evaluate.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

namespace pipewright::nn {

using Tensors = llvm::SmallVector<HostTensor>;

/// A module of `nn.function`s, of which the first is evaluated.
class FunctionText {
public:
  explicit FunctionText(llvm::StringRef text) {
    context.loadDialect<NNDialect>();
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    EXPECT_TRUE(module) << text.str();
  }

  mlir::ModuleOp getModule() { return *module; }

  FunctionOp getFunction() { return *module->getOps<FunctionOp>().begin(); }

  /// The results, or nothing after a diagnostic.
  Tensors evaluate(llvm::ArrayRef<HostTensor> arguments,
                   Rounding rounding = Rounding::ToElementType) {
    mlir::ScopedDiagnosticHandler handler(&context,
                                          [&](mlir::Diagnostic &diagnostic) {
                                            diagnostics += diagnostic.str();
                                            return mlir::success();
                                          });
    mlir::SymbolTable symbols(*module);
    auto results =
        evaluateFunction(getFunction(), arguments, symbols, rounding);
    return failed(results) ? Tensors() : *results;
  }

  /// What evaluation complained about.
  const std::string &getDiagnostics() const { return diagnostics; }

private:
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string diagnostics;
};

inline HostTensor floats(llvm::ArrayRef<int64_t> shape,
                         std::vector<double> values) {
  return HostTensor(shape, std::move(values));
}

inline HostTensor integers(llvm::ArrayRef<int64_t> shape,
                           std::vector<int64_t> values) {
  return HostTensor(shape, std::move(values));
}

inline void expectFloats(const HostTensor &tensor,
                         llvm::ArrayRef<double> expected,
                         double tolerance = 1e-6) {
  ASSERT_TRUE(tensor.isFloat());
  ASSERT_EQ(tensor.getFloats().size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(tensor.getFloats()[i], expected[i], tolerance)
        << "at element " << i;
}

inline void expectIntegers(const HostTensor &tensor,
                           llvm::ArrayRef<int64_t> expected) {
  ASSERT_FALSE(tensor.isFloat());
  EXPECT_EQ(tensor.getIntegers().vec(), expected.vec());
}

} // namespace pipewright::nn

#endif // PIPEWRIGHT_TEST_UNIT_DIALECT_FUNCTIONTEXT_H
