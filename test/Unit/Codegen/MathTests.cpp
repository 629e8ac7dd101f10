//===- MathTests.cpp - How exact polynomials are
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompiledFunction.h"

#include "pipewright/Codegen/Passes.h"
#include "pipewright/Dialect/PP/PP.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace mlir;
using namespace pipewright;

namespace {
struct MathFunction {
  const char *name;
  double (*reference)(double);
  double low;
  double high;
  /// How far apart two neighbouring floats may be taken, relatively; and what
  /// is negligible.
  double relative = 2e-6;
  double absolute = 1e-30;
};
} // namespace

static void expectExact(const MathFunction &math) {
  SCOPED_TRACE(math.name);
  DialectRegistry registry;
  registry.insert<nn::NNDialect, pp::PPDialect>();
  registerCodegenDialects(registry);
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  constexpr int64_t count = 20001;
  std::string type = "tensor<" + std::to_string(count) + "xf32>";
  auto module = parseSourceString<ModuleOp>(
      "nn.function @f(%x: " + type + ") -> " + type + " { %0 = nn." +
          math.name + " %x : " + type + " nn.return %0 : " + type + " }",
      &context);
  ASSERT_TRUE(module);
  auto function = *module->getOps<nn::FunctionOp>().begin();

  std::vector<double> x;
  for (int64_t i = 0; i < count; ++i)
    x.push_back(static_cast<float>(math.low +
                                   (math.high - math.low) * i / (count - 1)));
  const CodegenTarget *target = TargetRegistry::get().find("cpu");
  Tensors y =
      CompiledFunction(function, *target).run(nn::HostTensor({count}, x));
  ASSERT_EQ(y.size(), 1u);
  for (int64_t i = 0; i < count; ++i) {
    double expected = math.reference(x[i]);
    ASSERT_NEAR(y[0].getFloats()[i], expected,
                math.relative * std::abs(expected) + math.absolute)
        << "at " << x[i];
  }
}

TEST(CodegenMath, PolynomialsAreExact) {
  expectExact({"exp", std::exp, -80, 80});
  expectExact({"log", std::log, 1e-6, 2});
  expectExact({"log", std::log, 1, 1e6});
  expectExact({"tanh", std::tanh, -1, 1});
  expectExact({"tanh", std::tanh, -20, 20});
  expectExact({"erf", std::erf, -1, 1});
  expectExact({"erf", std::erf, -6, 6});
}

// Masks are large negative numbers and infinities.
TEST(CodegenMath, ExponentialsOfMasksVanish) {
  expectExact({"exp", std::exp, -1e10, -200});
  expectExact({"exp", std::exp, -1e38, -1e10});
}
