//===- MixtureOfExperts.cpp - Layers of which each token takes a few
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// com.microsoft's MoE: a token is a row for each of the experts that its router
// chose, and its result is the sum of theirs, weighted by the router. (Shazeer
// et al., arXiv:1701.06538)
//
//===----------------------------------------------------------------------===//

#include "../Activations.h"
#include "../FlatIndex.h"

#include "pipewright/Import/OnnxOpRegistry.h"

using namespace mlir;
using namespace pipewright;

namespace {

enum Operand : unsigned {
  Input,
  Router,
  Weights1,
  Bias1,
  Weights2,
  Bias2,
  Weights3,
  Bias3,
};

/// The sizes that the operands share.
struct Sizes {
  int64_t tokens, size, experts;
  int64_t inner;  ///< numbers between an expert's two products
  int64_t inner1; ///< results of the first product: twice as many if a gate is
                  ///< among them
};

/// The experts of all tokens, one token after the other.
struct Routing {
  int64_t choices; ///< experts of a token
  Value experts;   ///< [tokens * choices]
  Value weights;   ///< [tokens, choices]
};

} // namespace

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

static LogicalResult checkAttributes(OnnxNode &node) {
  for (StringRef name : {"use_sparse_mixer", "swiglu_limit_after_activation"})
    if (node.getInt(name, 0) != 0)
      return node.emitError() << "has " << name << "=1, which is not supported";
  return success();
}

static bool isGated(OnnxNode &node) {
  return node.getString("activation_type", "relu") == "swiglu";
}

static LogicalResult checkShape(OnnxNode &node, Operand i, StringRef name,
                                ArrayRef<int64_t> shape) {
  if (!node.hasOperand(i))
    return success();
  RankedTensorType type = getTensorType(node.operand(Input)).clone(shape);
  if (node.operand(i).getType() == type)
    return success();
  return node.emitError() << "has " << name << " " << node.operand(i).getType()
                          << " instead of " << type;
}

static FailureOr<Sizes> getSizes(OnnxNode &node) {
  ArrayRef<int64_t> input = getShape(node.operand(Input));
  ArrayRef<int64_t> weights = getShape(node.operand(Weights2));
  if (input.size() < 2 || input.size() > 3 || weights.size() != 3)
    return node.emitError() << "cannot run experts with weights "
                            << node.operand(Weights2).getType() << " on "
                            << node.operand(Input).getType();
  Sizes sizes{ShapedType::getNumElements(input.drop_back()), input.back(),
              weights[0], weights[2], weights[2]};
  if (isGated(node) && node.getInt("swiglu_fusion", 0) != 0)
    sizes.inner1 *= 2;
  auto [tokens, size, experts, inner, inner1] = sizes;
  if (failed(checkShape(node, Router, "router_probs", {tokens, experts})) ||
      failed(checkShape(node, Weights1, "fc1_experts_weights",
                        {experts, inner1, size})) ||
      failed(checkShape(node, Bias1, "fc1_experts_bias", {experts, inner1})) ||
      failed(checkShape(node, Weights2, "fc2_experts_weights",
                        {experts, size, inner})) ||
      failed(checkShape(node, Bias2, "fc2_experts_bias", {experts, size})) ||
      failed(checkShape(node, Weights3, "fc3_experts_weights",
                        {experts, inner, size})) ||
      failed(checkShape(node, Bias3, "fc3_experts_bias", {experts, inner})))
    return failure();
  return sizes;
}

//===----------------------------------------------------------------------===//
// Experts
//===----------------------------------------------------------------------===//

static FailureOr<Routing> getRouting(OnnxNode &node, const Sizes &sizes) {
  NNBuilder &b = node.getBuilder();
  int64_t count = node.getInt("k", 1);
  if (count < 1 || count > sizes.experts)
    return node.emitError() << "takes the best " << count << " of "
                            << sizes.experts << " experts";
  Value scores = b.create<nn::SoftmaxOp>(node.operand(Router), /*axis=*/1);
  auto type = RankedTensorType::get({sizes.tokens, count},
                                    b.getOpBuilder().getI64Type());
  Value best = b.create<nn::TopKOp>(type, scores, /*axis=*/1,
                                    /*smallest=*/false);
  FailureOr<FlatIndex> index = indexElements(node, scores, best, /*axis=*/1);
  if (failed(index))
    return failure();
  Value weights = index->gather(b, scores);
  if (node.getInt("normalize_routing_weights", 0) != 0) {
    Value sum = b.reduce(nn::Reduction::Sum, weights, /*axes=*/{1},
                         /*keepAxes=*/true);
    weights = b.create<nn::DivOp>(weights, b.broadcast(sum, getShape(weights)));
  }
  return Routing{count, b.reshape(best, {sizes.tokens * count}), weights};
}

/// The tokens, each once for each of its experts.
static Value getRows(OnnxNode &node, const Sizes &sizes,
                     const Routing &routing) {
  NNBuilder &b = node.getBuilder();
  int64_t tokens = sizes.tokens, choices = routing.choices, size = sizes.size;
  Value repeated =
      b.broadcast(b.reshape(node.operand(Input), {tokens, 1, size}),
                  {tokens, choices, size});
  return b.reshape(repeated, {tokens * choices, size});
}

/// [rows, results]: the products of \p rows with the weights of their experts,
/// [experts, results, \p rows' size], and their biases.
static Value multiply(OnnxNode &node, const Routing &routing, Value rows,
                      Operand weights, Operand bias) {
  NNBuilder &b = node.getBuilder();
  RankedTensorType type = getTensorType(rows).clone(
      {getShape(rows)[0], getShape(node.operand(weights))[1]});
  Value product = b.create<nn::ExpertMatMulOp>(
      type, rows, node.operand(weights), routing.experts,
      /*transpose_weights=*/true);
  if (!node.hasOperand(bias))
    return product;
  return b.create<nn::AddOp>(
      product, b.create<nn::GatherOp>(type, node.operand(bias), routing.experts,
                                      /*axis=*/0));
}

/// swish(gate) * (linear + beta), both within a limit if there is one.
static Value applyGate(OnnxNode &node, Value gate, Value linear) {
  NNBuilder &b = node.getBuilder();
  if (node.hasAttribute("swiglu_limit")) {
    double limit = node.getFloat("swiglu_limit", 0.0);
    gate = clampAbove(b, gate, limit);
    linear = clamp(b, linear, -limit, limit);
  }
  double beta = node.getFloat("activation_beta", 0.0);
  if (beta != 0.0)
    linear = b.create<nn::AddOp>(linear, b.splatLike(linear, beta));
  gate = swish(b, gate, node.getFloat("activation_alpha", 1.0));
  return b.create<nn::MulOp>(gate, linear);
}

/// SwiGLU of \p product, in which gates may be with what they gate, pair by
/// pair or one after the other, or of it and \p third.
static FailureOr<Value> applySwiGLU(OnnxNode &node, Value product, Value third,
                                    int64_t inner) {
  NNBuilder &b = node.getBuilder();
  int64_t fusion = node.getInt("swiglu_fusion", 0);
  auto take = [&](int64_t offset, int64_t stride) {
    return b.sliceAxis(product, /*axis=*/1, offset, inner, stride);
  };
  if (fusion == 0 && third)
    return applyGate(node, product, third);
  if ((fusion == 1 || fusion == 2) && !third) {
    Value gate = fusion == 1 ? take(0, 2) : take(0, 1);
    Value linear = fusion == 1 ? take(1, 2) : take(inner, 1);
    return applyGate(node, gate, linear);
  }
  return node.emitError() << "has swiglu_fusion=" << fusion
                          << (third ? " and" : ", but no")
                          << " fc3_experts_weights";
}

/// [rows, inner]: what the second product takes.
static FailureOr<Value> activate(OnnxNode &node, Value product, Value third,
                                 int64_t inner) {
  NNBuilder &b = node.getBuilder();
  StringRef name = node.getString("activation_type", "relu");
  if (isGated(node))
    return applySwiGLU(node, product, third, inner);
  Value result = product;
  if (name == "relu")
    result = b.create<nn::ReluOp>(product);
  else if (name == "gelu")
    result = b.create<nn::GeluOp>(product, nn::GeluForm::Tanh);
  else if (name == "silu")
    result = swish(b, product, /*slope=*/1.0);
  else if (name != "identity")
    return node.emitError()
           << "has activation_type '" << name << "', which is not supported";
  return third ? b.create<nn::MulOp>(result, third) : result;
}

/// The weighted sum of the results of a token's experts.
static Value combine(NNBuilder &b, const Sizes &sizes, const Routing &routing,
                     Value results) {
  int64_t tokens = sizes.tokens, choices = routing.choices;
  Value perChoice = b.reshape(results, {tokens, choices, sizes.size});
  Value weights = b.reshape(routing.weights, {tokens, choices, 1});
  Value weighted =
      b.create<nn::MulOp>(perChoice, b.broadcast(weights, getShape(perChoice)));
  return b.reduce(nn::Reduction::Sum, weighted, /*axes=*/{1},
                  /*keepAxes=*/false);
}

static FailureOr<Value> importMoE(OnnxNode &node) {
  if (failed(checkAttributes(node)))
    return failure();
  if (!node.hasOperand(Weights2))
    return node.emitError() << "lacks operand " << unsigned(Weights2);
  FailureOr<Sizes> sizes = getSizes(node);
  if (failed(sizes))
    return failure();
  FailureOr<Routing> routing = getRouting(node, *sizes);
  if (failed(routing))
    return failure();
  Value rows = getRows(node, *sizes, *routing);
  Value product = multiply(node, *routing, rows, Weights1, Bias1);
  Value third;
  if (node.hasOperand(Weights3))
    third = multiply(node, *routing, rows, Weights3, Bias3);
  FailureOr<Value> activated = activate(node, product, third, sizes->inner);
  if (failed(activated))
    return failure();
  NNBuilder &b = node.getBuilder();
  Value results = multiply(node, *routing, *activated, Weights2, Bias2);
  return b.reshape(combine(b, *sizes, *routing, results),
                   getShape(node.operand(Input)));
}

namespace pipewright {
void registerMixtureOfExperts(OnnxOpRegistry &registry) {
  registry.setDomain("com.microsoft");
  registry.add("MoE", /*since=*/1, {3, 8}, importMoE);
}
} // namespace pipewright
