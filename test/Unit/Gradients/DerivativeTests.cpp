//===- DerivativeTests.cpp - F, B and W of whole layers
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Differences.h"

#include "pipewright/Training/Adjoint.h"
#include "pipewright/Training/Derivative.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace pipewright;

// A pre-norm transformer block with one head: the qkv product is split into
// three that go to different products, scores are masked, probabilities are
// dropped out, and both halves are residual.
static const char *const transformerBlock = R"mlir(
nn.function @f(%x: tensor<2x3x4xf32>, %key: tensor<2xi64>, %g: tensor<4xf32>, %b: tensor<4xf32>,
               %wqkv: tensor<4x12xf32>, %wo: tensor<4x4xf32>, %w1: tensor<8x4xf32>, %b1: tensor<8xf32>,
               %w2: tensor<8x4xf32>) -> tensor<2x3x4xf32> {
  %n, %m, %r = nn.layer_norm %x, %g, %b axis 2 epsilon 1.0e-5 : (tensor<2x3x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<2x3x4xf32>, tensor<2x3xf32>, tensor<2x3xf32>)
  %rows = nn.reshape %n : tensor<2x3x4xf32> -> tensor<6x4xf32>
  %qkv = nn.matmul %rows, %wqkv : tensor<6x4xf32>, tensor<4x12xf32> -> tensor<6x12xf32>
  %qrows = nn.slice %qkv offsets [0, 0] strides [1, 1] : tensor<6x12xf32> -> tensor<6x4xf32>
  %krows = nn.slice %qkv offsets [0, 4] strides [1, 1] : tensor<6x12xf32> -> tensor<6x4xf32>
  %vrows = nn.slice %qkv offsets [0, 8] strides [1, 1] : tensor<6x12xf32> -> tensor<6x4xf32>
  %q = nn.reshape %qrows : tensor<6x4xf32> -> tensor<2x3x4xf32>
  %k = nn.reshape %krows : tensor<6x4xf32> -> tensor<2x3x4xf32>
  %v = nn.reshape %vrows : tensor<6x4xf32> -> tensor<2x3x4xf32>
  %qk = nn.matmul %q, %k transpose_rhs : tensor<2x3x4xf32>, tensor<2x3x4xf32> -> tensor<2x3x3xf32>
  %half = nn.constant dense<0.5> : tensor<2x3x3xf32>
  %scaled = nn.mul %qk, %half : tensor<2x3x3xf32>
  %causal = nn.constant dense<[[[1, 0, 0], [1, 1, 0], [1, 1, 1]]]> : tensor<1x3x3xi1>
  %mask = nn.broadcast %causal : tensor<1x3x3xi1> -> tensor<2x3x3xi1>
  %low = nn.constant dense<-1.0e9> : tensor<2x3x3xf32>
  %masked = nn.select %mask, %scaled, %low : tensor<2x3x3xi1>, tensor<2x3x3xf32>
  %p = nn.softmax %masked axis 2 : tensor<2x3x3xf32>
  %keep = nn.dropout_mask %key ratio 0.25 stream 0 : tensor<2xi64> -> tensor<2x3x3xf32>
  %dropped = nn.mul %p, %keep : tensor<2x3x3xf32>
  %a = nn.matmul %dropped, %v : tensor<2x3x3xf32>, tensor<2x3x4xf32> -> tensor<2x3x4xf32>
  %arows = nn.reshape %a : tensor<2x3x4xf32> -> tensor<6x4xf32>
  %o = nn.matmul %arows, %wo : tensor<6x4xf32>, tensor<4x4xf32> -> tensor<6x4xf32>
  %ofull = nn.reshape %o : tensor<6x4xf32> -> tensor<2x3x4xf32>
  %h = nn.add %x, %ofull : tensor<2x3x4xf32>
  %n2, %m2, %r2 = nn.layer_norm %h, %g, %b axis 2 epsilon 1.0e-5 : (tensor<2x3x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<2x3x4xf32>, tensor<2x3xf32>, tensor<2x3xf32>)
  %n2rows = nn.reshape %n2 : tensor<2x3x4xf32> -> tensor<6x4xf32>
  %u = nn.matmul %n2rows, %w1 transpose_rhs : tensor<6x4xf32>, tensor<8x4xf32> -> tensor<6x8xf32>
  %b1rows = nn.broadcast %b1 : tensor<8xf32> -> tensor<6x8xf32>
  %ub = nn.add %u, %b1rows : tensor<6x8xf32>
  %act = nn.gelu tanh %ub : tensor<6x8xf32>
  %d = nn.matmul %act, %w2 : tensor<6x8xf32>, tensor<8x4xf32> -> tensor<6x4xf32>
  %dfull = nn.reshape %d : tensor<6x4xf32> -> tensor<2x3x4xf32>
  %y = nn.add %h, %dfull : tensor<2x3x4xf32>
  nn.return %y : tensor<2x3x4xf32>
}
)mlir";

// One weight used twice in a layer, an argument that is also a result, and a
// result that is used inside.
static const char *const sharedWeight = R"mlir(
nn.function @f(%x: tensor<3x3xf32>, %w: tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>) {
  %0 = nn.matmul %x, %w : tensor<3x3xf32>, tensor<3x3xf32> -> tensor<3x3xf32>
  %1 = nn.tanh %0 : tensor<3x3xf32>
  %2 = nn.matmul %1, %w transpose_rhs : tensor<3x3xf32>, tensor<3x3xf32> -> tensor<3x3xf32>
  nn.return %1, %2, %x : tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>
}
)mlir";

namespace {
/// A layer function whose floating-point arguments all want a gradient, run by
/// way of its derivative.
class LayerTester {
public:
  LayerTester(StringRef text, unsigned firstParameter);

  /// Gradients by B and W, by argument; none for integers.
  llvm::SmallVector<std::vector<double>> runParts(nn::Rounding rounding);
  /// The same, by all gradient ops in one function.
  llvm::SmallVector<std::vector<double>> runWhole(nn::Rounding rounding);

  nn::FunctionOp function;
  Tensors inputs, cotangents;
  /// After runParts: what F saves, and those of it that R makes again.
  Tensors saved, remade;

private:
  Tensors runPart(FlatSymbolRefAttr name, ArrayAttr operands,
                  nn::Rounding rounding);
  const nn::HostTensor &find(nn::OperandAttr operand);
  nn::HostTensor zeros(int64_t argument) {
    return nn::HostTensor::zeros(
        cast<RankedTensorType>(function.getArgumentTypes()[argument]));
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  Activity activity;
  Tensors results, pending, accumulators;
};
} // namespace

LayerTester::LayerTester(StringRef text, unsigned firstParameter) {
  context.loadDialect<nn::NNDialect>();
  module = parseSourceString<ModuleOp>(text, &context);
  if (!module) {
    ADD_FAILURE() << text.str();
    return;
  }
  function = *module->getOps<nn::FunctionOp>().begin();
  activity = Activity(firstParameter, function.getNumArguments(),
                      function.getNumResults());
  for (BlockArgument argument : function.getArguments())
    activity.arguments[argument.getArgNumber()] =
        hasGradient(argument.getType());
  activity.results.set();

  TensorMaker maker(-1, 1, 1000);
  inputs = maker.make(function.getArgumentTypes());
  cotangents = maker.make(function.getResultTypes());
  for (unsigned index = 0; index < inputs.size(); ++index)
    accumulators.push_back(zeros(index));
}

const nn::HostTensor &LayerTester::find(nn::OperandAttr operand) {
  int64_t index = operand.getIndex();
  switch (operand.getRole()) {
  case nn::ValueRole::Argument:
    return inputs[index];
  case nn::ValueRole::Result:
    return results[index];
  case nn::ValueRole::Saved:
    return saved[index];
  case nn::ValueRole::Cotangent:
    return cotangents[index];
  case nn::ValueRole::Pending:
    return pending[index];
  case nn::ValueRole::Accumulator:
    return accumulators[index];
  }
  llvm_unreachable("all roles are handled");
}

Tensors LayerTester::runPart(FlatSymbolRefAttr name, ArrayAttr operands,
                             nn::Rounding rounding) {
  Tensors arguments;
  for (auto operand : operands.getAsRange<nn::OperandAttr>())
    arguments.push_back(find(operand));
  auto part = SymbolTable(*module).lookup<nn::FunctionOp>(name.getAttr());
  return evaluate(part, arguments, rounding);
}

llvm::SmallVector<std::vector<double>>
LayerTester::runParts(nn::Rounding rounding) {
  llvm::SmallVector<std::vector<double>> gradients(inputs.size());
  FailureOr<nn::DerivativeOp> derivative = buildDerivative(function, activity);
  EXPECT_TRUE(succeeded(derivative) && succeeded(verify(*module)));
  if (failed(derivative))
    return gradients;

  auto forward =
      SymbolTable(*module).lookup<nn::FunctionOp>(derivative->getForward());
  results = evaluate(forward, inputs, rounding);
  saved.assign(results.begin() + function.getNumResults(), results.end());
  if (FlatSymbolRefAttr recompute = derivative->getRecomputeAttr())
    remade = runPart(recompute, derivative->getRecomputeOperands(), rounding);
  Tensors ofB = runPart(derivative->getBackwardAttr(),
                        derivative->getBackwardOperands(), rounding);
  ArrayRef<int64_t> inputGradients = derivative->getInputGradients();
  for (auto [argument, gradient] : llvm::zip(inputGradients, ofB))
    gradients[argument] = gradient.getFloats().vec();
  pending.assign(ofB.begin() + inputGradients.size(), ofB.end());
  Tensors ofW = runPart(derivative->getWeightAttr(),
                        derivative->getWeightOperands(), rounding);
  for (auto [argument, gradient] :
       llvm::zip_equal(derivative->getWeightGradients(), ofW))
    gradients[argument] = gradient.getFloats().vec();
  return gradients;
}

llvm::SmallVector<std::vector<double>>
LayerTester::runWhole(nn::Rounding rounding) {
  llvm::SmallVector<std::vector<double>> gradients(inputs.size());
  FailureOr<Adjoint> adjoint = buildAdjoint(function, activity);
  EXPECT_TRUE(succeeded(adjoint));
  if (failed(adjoint))
    return gradients;
  Tensors arguments;
  for (nn::OperandAttr role : adjoint->roles)
    arguments.push_back(find(role));
  nn::FunctionOp whole = adjoint->function.release();
  SymbolTable(*module).insert(whole);
  Block &body = whole.getBody().front();
  whole.setType(FunctionType::get(&context, body.getArgumentTypes(),
                                  body.getTerminator()->getOperandTypes()));
  Tensors all = evaluate(whole, arguments, rounding);
  unsigned next = function.getNumResults();
  for (ArrayRef<int64_t> order :
       {ArrayRef(adjoint->inputs), ArrayRef(adjoint->parameters)})
    for (int64_t argument : order)
      gradients[argument] = all[next++].getFloats().vec();
  return gradients;
}

static void expectDifferences(StringRef text, unsigned firstParameter) {
  LayerTester layer(text, firstParameter);
  auto gradients = layer.runParts(nn::Rounding::None);
  for (unsigned index = 0; index < layer.inputs.size(); ++index) {
    if (!layer.inputs[index].isFloat())
      continue;
    SCOPED_TRACE("argument " + std::to_string(index));
    expectNear(gradients[index], differentiate(layer.function, layer.inputs,
                                               layer.cotangents, index));
  }
}

/// Cutting the backward into B and W, saving and computing again change no bit.
static void expectSameBits(StringRef text, unsigned firstParameter) {
  LayerTester whole(text, firstParameter), parts(text, firstParameter);
  EXPECT_EQ(whole.runWhole(nn::Rounding::ToElementType),
            parts.runParts(nn::Rounding::ToElementType));
}

/// R makes the last saved values, \p count of them, again.
static void expectRemade(StringRef text, unsigned firstParameter,
                         size_t count) {
  LayerTester layer(text, firstParameter);
  layer.runParts(nn::Rounding::ToElementType);
  ASSERT_EQ(layer.remade.size(), count);
  ASSERT_LE(count, layer.saved.size());
  ArrayRef<nn::HostTensor> last = ArrayRef(layer.saved).take_back(count);
  for (auto [again, before] : llvm::zip_equal(layer.remade, last))
    EXPECT_EQ(again.getFloats(), before.getFloats());
}

// Both norms with their means and deviations, the weights of attention and the
// activation.
TEST(Derivative, OfTransformerBlockMakesSavedValuesAgain) {
  expectRemade(transformerBlock, 2, 8);
}
// The products would have to be saved in place of what is made of them.
TEST(Derivative, OfSharedWeightMakesNothingAgain) {
  expectRemade(sharedWeight, 1, 0);
}

TEST(Derivative, OfTransformerBlockEqualsDifferences) {
  expectDifferences(transformerBlock, 2);
}
TEST(Derivative, OfSharedWeightEqualsDifferences) {
  expectDifferences(sharedWeight, 1);
}
TEST(Derivative, OfTransformerBlockHasTheSameBitsInParts) {
  expectSameBits(transformerBlock, 2);
}
TEST(Derivative, OfSharedWeightHasTheSameBitsInParts) {
  expectSameBits(sharedWeight, 1);
}
