//===- GradientSamples.cpp - Functions on which gradients are tried
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GradientSamples.h"

#include "SampleText.h"

#include <vector>

using namespace pipewright;

static void addElementwise(std::vector<GradientSample> &samples) {
  for (const char *op : {"neg", "abs", "sign", "exp", "tanh", "erf", "sin",
                         "cos", "sigmoid", "silu", "relu", "floor", "ceil"})
    samples.push_back({op, unary(op)});
  for (const char *op : {"log", "sqrt", "rsqrt", "reciprocal"})
    samples.push_back({op, unary(op), 0.5, 2});
  samples.push_back({"gelu", unary("gelu erf")});
  samples.push_back({"gelu", unary("gelu tanh")});
  for (const char *op : {"add", "sub", "mul", "max", "min", "accumulate"})
    samples.push_back({op, binary(op)});
  for (const char *op : {"div", "mod", "pow"})
    samples.push_back({op, binary(op), 0.5, 2});
  samples.push_back({"not", unary("not", "6xi1")});
  samples.push_back({"and", binary("and", "6xi1")});
  samples.push_back({"or", binary("or", "6xi1")});
  samples.push_back(
      {"compare", apply("compare lt %a, %b", {"6xf64", "6xf64"}, "6xi1",
                        "tensor<6xf64> -> tensor<6xi1>")});
  samples.push_back(
      {"select", apply("select %a, %b, %c", {"6xi1", "6xf64", "6xf64"}, "6xf64",
                       "tensor<6xi1>, tensor<6xf64>")});
  samples.push_back({"cast", applyListed("cast %a", {"6xf32"}, "6xf64")});
  samples.push_back({"cast", applyListed("cast %a", {"6xi64"}, "6xf64")});
}

static void addShape(std::vector<GradientSample> &samples) {
  samples.push_back(
      {"reshape", applyListed("reshape %a", {"2x3xf64"}, "3x2xf64")});
  samples.push_back({"transpose", applyListed("transpose %a [2, 0, 1]",
                                              {"2x3x4xf64"}, "4x2x3xf64")});
  samples.push_back(
      {"broadcast", applyListed("broadcast %a", {"3x1xf64"}, "2x3x4xf64")});
  samples.push_back(
      {"slice", applyListed("slice %a offsets [1, 0] strides [1, 2]",
                            {"4x6xf64"}, "2x3xf64")});
  samples.push_back(
      {"slice", applyListed("slice %a offsets [0, 6] strides [1, 1]",
                            {"4x6xf64"}, "4x0xf64")});
  samples.push_back({"reverse", applySame("reverse %a axes [1]", "2x3xf64")});
  samples.push_back(
      {"pad", applyListed("pad %a low [1, 0] high [0, 2] interior [0, 1]",
                          {"2x3xf64"}, "3x7xf64")});
  samples.push_back(
      {"concat", applyListed("concat %a, %b, %c axis 1",
                             {"2x1xf64", "2x3xf64", "2x2xf64"}, "2x6xf64")});
}

static void addContractions(std::vector<GradientSample> &samples) {
  struct Flags {
    const char *text, *lhs, *rhs;
  };
  for (Flags flags :
       {Flags{"", "2x3x4xf64", "2x4x5xf64"},
        Flags{" transpose_lhs", "2x4x3xf64", "2x4x5xf64"},
        Flags{" transpose_rhs", "2x3x4xf64", "2x5x4xf64"},
        Flags{" transpose_lhs transpose_rhs", "2x4x3xf64", "2x5x4xf64"}})
    samples.push_back(
        {"matmul", applyListed(std::string("matmul %a, %b") + flags.text,
                               {flags.lhs, flags.rhs}, "2x3x5xf64")});
  samples.push_back(
      {"gather", applyListed("gather %a, %b axis 1", {"2x3x2xf64", "2x2xi64"},
                             "2x2x2x2xf64")});
  samples.push_back(
      {"scatter_add", applyListed("scatter_add %a, %b axis 1",
                                  {"2x2x2x2xf64", "2x2xi64"}, "2x3x2xf64")});
  samples.push_back(
      {"dropout_mask",
       applyListed("dropout_mask %a ratio 0.5 stream 1", {"2xi64"}, "4xf64")});
}

/// Rows of three experts, in any order.
static void addExperts(std::vector<GradientSample> &samples) {
  for (const auto &[flag, weights] :
       {std::pair<const char *, const char *>{"", "3x2x4xf64"},
        {" transpose_weights", "3x4x2xf64"}})
    samples.push_back(
        {"expert_matmul",
         applyListed(std::string("expert_matmul %a, %b, %c") + flag,
                     {"5x2xf64", weights, "5xi64"}, "5x4xf64")});
  samples.push_back(
      {"expert_outer",
       applyListed("expert_outer %a, %b, %c", {"5x2xf64", "5x4xf64", "5xi64"},
                   "3x2x4xf64")});
  // Two rows go nowhere, and three come from nowhere.
  samples.push_back(
      {"permute_rows",
       permuteRows("4x2xf64", "5x2xf64", {3, -1, 4, 7, 1}, {-4, 4, 5, 0})});
  samples.push_back(
      {"invert_indices", applyListed("invert_indices %a", {"3xi64"}, "5xi64")});
}

static void addAttention(std::vector<GradientSample> &samples) {
  samples.push_back(
      {"attention",
       applyFunctional("attention %a, %b, %c scale 0.5",
                       {"2x3x4xf64", "2x5x4xf64", "2x5x2xf64"}, "2x3x2xf64")});
  // Heads in groups, and masks that are repeated along any axis.
  for (const char *mask : {"2x1x3x5xf64", "1x4x1x5xf64", "1x1x1x1xf64"})
    samples.push_back(
        {"attention",
         applyFunctional("attention %a, %b, %c mask %d causal scale 0.5",
                         {"2x4x3x2xf64", "2x2x5x2xf64", "2x2x5x3xf64", mask},
                         "2x4x3x3xf64")});
  samples.push_back(
      {"attention",
       applyFunctional("attention %a, %b, %c scale 2.0 softcap 1.5",
                       {"2x3x4xf64", "2x5x4xf64", "2x5x2xf64"}, "2x3x2xf64")});
  samples.push_back(
      {"attention_with_statistics",
       applyToResults("attention_with_statistics %a, %b, %c scale 0.5",
                      {"2x3x4xf64", "2x5x4xf64", "2x5x2xf64"},
                      {"2x3x2xf64", "2x3xf64"})});
  samples.push_back(
      {"attention_with_statistics",
       applyToResults("attention_with_statistics %a, %b, %c causal scale 0.5",
                      {"2x4x3x2xf64", "2x2x5x2xf64", "2x2x5x3xf64"},
                      {"2x4x3x3xf64", "2x4x3xf64"})});
  for (const char *form : {"", " interleaved"})
    samples.push_back({"rotary", apply(std::string("rotary %a, %b, %c") + form,
                                       {"2x4xf64", "2x4xf64", "2x4xf64"},
                                       "2x4xf64", "tensor<2x4xf64>")});
}

/// Windows that overlap, with holes, and an element that is in none.
static void addConvolutions(std::vector<GradientSample> &samples) {
  samples.push_back(
      {"im2col", applyListed("im2col %a strides [2, 1] dilations [1, 2]",
                             {"2x2x6x4xf64"}, "2x2x3x2x2x2xf64")});
  samples.push_back(
      {"col2im", applyListed("col2im %a strides [2, 1] dilations [1, 2]",
                             {"2x2x3x2x2x2xf64"}, "2x2x6x4xf64")});
}

static void addReductions(std::vector<GradientSample> &samples) {
  for (const char *kind : {"sum", "mean", "max", "min", "prod"})
    samples.push_back({"reduce", applyListed(std::string("reduce ") + kind +
                                                 " %a axes [0, 2]",
                                             {"2x3x2xf64"}, "3xf64")});
  for (const char *flags : {"", " exclusive", " reverse", " exclusive reverse"})
    samples.push_back(
        {"cumulative_sum",
         applySame(std::string("cumulative_sum %a axis 1") + flags,
                   "2x4xf64")});
  samples.push_back(
      {"top_k", applyListed("top_k %a axis 1", {"2x4xf64"}, "2x2xi64")});
}

static void addNormalizations(std::vector<GradientSample> &samples) {
  for (const char *op : {"softmax", "log_softmax"})
    for (const char *axis : {"0", "1"})
      samples.push_back(
          {op, applySame(std::string(op) + " %a axis " + axis, "3x4xf64")});
  const std::string x = "%x: tensor<2x3x4xf64>", xType = "tensor<2x3x4xf64>";
  samples.push_back(
      {"layer_norm",
       norm("layer_norm %x, %s, %b", "2",
            x + ", %s: tensor<4xf64>, %b: tensor<4xf64>",
            xType + ", tensor<4xf64>, tensor<4xf64>", "%y, %m, %r",
            xType + ", tensor<2x3xf64>, tensor<2x3xf64>")});
  samples.push_back(
      {"layer_norm", norm("layer_norm %x, %s", "1", x + ", %s: tensor<3x4xf64>",
                          xType + ", tensor<3x4xf64>", "%y, %m, %r",
                          xType + ", tensor<2xf64>, tensor<2xf64>")});
  samples.push_back(
      {"rms_norm",
       norm("rms_norm %x, %s", "2", x + ", %s: tensor<4xf64>",
            xType + ", tensor<4xf64>", "%y, %r", xType + ", tensor<2x3xf64>")});
}

static void addLosses(std::vector<GradientSample> &samples) {
  samples.push_back(
      {"cross_entropy",
       "nn.function @f(%x: tensor<4x3xf64>, %l: tensor<4xi64>) -> "
       "(tensor<f64>, tensor<f64>) {\n  %s, %w = nn.cross_entropy %x, %l "
       "ignore 1 : (tensor<4x3xf64>, tensor<4xi64>) -> (tensor<f64>, "
       "tensor<f64>)\n  nn.return %s, %w : tensor<f64>, tensor<f64>\n}\n"});
}

/// What differentiation itself makes: it needs no second derivative.
static void addGradients(std::vector<GradientSample> &samples) {
  samples.push_back({"softmax_grad",
                     apply("softmax_grad %a, %b axis 1", {"2x3xf64", "2x3xf64"},
                           "2x3xf64", "tensor<2x3xf64>")});
  samples.push_back(
      {"layer_norm_grad",
       applyFunctional("layer_norm_grad %a, %b, %c, %d, %e axis 1",
                       {"2x3xf64", "2x3xf64", "3xf64", "2xf64", "2xf64"},
                       "2x3xf64")});
  samples.push_back(
      {"attention_grad",
       applyToResults("attention_grad %a, %b, %c, %d, %e, %f scale 0.5",
                      {"2x3x2xf64", "2x3x4xf64", "2x5x4xf64", "2x5x2xf64",
                       "2x3x2xf64", "2x3xf64"},
                      {"2x3x4xf64", "2x5x4xf64", "2x5x2xf64"})});
  samples.push_back({"cross_entropy_grad",
                     applyFunctional("cross_entropy_grad %a, %b, %c ignore 1",
                                     {"f64", "4x3xf64", "4xi64"}, "4x3xf64")});
}

llvm::ArrayRef<GradientSample> pipewright::getGradientSamples() {
  static const std::vector<GradientSample> samples = [] {
    std::vector<GradientSample> all;
    addElementwise(all);
    addShape(all);
    addContractions(all);
    addAttention(all);
    addExperts(all);
    addConvolutions(all);
    addReductions(all);
    addNormalizations(all);
    addLosses(all);
    addGradients(all);
    return all;
  }();
  return samples;
}
