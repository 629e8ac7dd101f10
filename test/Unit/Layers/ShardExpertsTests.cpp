//===- ShardExpertsTests.cpp - Experts that are shared out compute the same
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Replicas with samples of their own run the layers of a model one after the
// other, and exchange blocks between them as `pp.exchanged` says. Each has to
// get what the model gives that has all experts, to the same bits: a row is
// computed alone wherever it is.
//
//===----------------------------------------------------------------------===//

#include "../Dialect/FunctionText.h"

#include "pipewright/Dialect/PP/PP.h"
#include "pipewright/Layers/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/DenseMap.h"

#include <cmath>

using namespace pipewright;
using namespace pipewright::nn;

namespace {
/// Values by parameter, and for each replica by value of the model.
using Parameters = llvm::StringMap<HostTensor>;
using Values = llvm::DenseMap<mlir::Value, HostTensor>;

struct ExpertsCase {
  const char *name;
  int64_t peers;
  /// A model of 6 rows %x, of two experts each %experts, with weights %shares,
  /// and its functions.
  const char *text;
};

class ShardExpertsTest : public testing::TestWithParam<ExpertsCase> {};

/// A model whose layers are run for some replicas.
class Model {
public:
  explicit Model(llvm::StringRef text) {
    context.loadDialect<NNDialect, pp::PPDialect>();
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    EXPECT_TRUE(module) << text.str();
  }

  void shardExperts(int64_t peers, double capacity) {
    mlir::PassManager passes(&context);
    passes.addPass(createShardExperts({peers, capacity}));
    passes.addPass(createVerifyLayers());
    ASSERT_TRUE(mlir::succeeded(passes.run(*module)));
  }

  /// The outputs of the replicas, one after the other, for their \p inputs.
  Tensors run(llvm::ArrayRef<Tensors> inputs, const Parameters &parameters);

private:
  void run(pp::LayerOp layer, int64_t replica, Values &values,
           const Parameters &parameters);
  HostTensor getShard(llvm::StringRef name, const HostTensor &whole,
                      int64_t replica);

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};
} // namespace

/// \p count rows of \p source from row \p from on, put behind \p target.
static void appendRows(HostTensor &target, int64_t to, const HostTensor &source,
                       int64_t from, int64_t count) {
  int64_t size = source.getNumElements() / source.getShape().front();
  for (int64_t i = 0; i < count * size; ++i)
    target.setElement(to * size + i, source, from * size + i);
}

/// The part of \p whole that \p replica has.
HostTensor Model::getShard(llvm::StringRef name, const HostTensor &whole,
                           int64_t replica) {
  auto parameter = module->lookupSymbol<pp::ParameterOp>(name);
  HostTensor shard = HostTensor::zeros(parameter.getTensorType());
  int64_t rows = shard.getShape().front();
  appendRows(shard, 0, whole, parameter.getShards() > 1 ? replica * rows : 0,
             rows);
  return shard;
}

void Model::run(pp::LayerOp layer, int64_t replica, Values &values,
                const Parameters &parameters) {
  Tensors arguments;
  for (mlir::Value argument : layer.getArguments())
    arguments.push_back(values.at(argument));
  for (mlir::Attribute attribute : layer.getParameters()) {
    auto name = mlir::cast<mlir::FlatSymbolRefAttr>(attribute).getValue();
    arguments.push_back(getShard(name, parameters.at(name), replica));
  }
  mlir::SymbolTable symbols(*module);
  auto results = evaluateFunction(symbols.lookup<FunctionOp>(layer.getCallee()),
                                  arguments, symbols);
  ASSERT_TRUE(mlir::succeeded(results));
  for (auto [output, result] : llvm::zip_equal(layer.getOutputs(), *results))
    values.try_emplace(output, result);
}

/// What all replicas receive, of which each sends a block to each.
static void exchange(pp::ExchangedOp op, std::vector<Values> &replicas) {
  for (size_t to = 0; to < replicas.size(); ++to) {
    HostTensor received = HostTensor::zeros(op.getType());
    int64_t rows = received.getShape().front() / int64_t(replicas.size());
    for (size_t from = 0; from < replicas.size(); ++from)
      appendRows(received, from * rows, replicas[from].at(op.getOperand()),
                 to * rows, rows);
    replicas[to].try_emplace(op.getResult(), received);
  }
}

Tensors Model::run(llvm::ArrayRef<Tensors> inputs,
                   const Parameters &parameters) {
  mlir::Block &body = pp::getModel(*module).getBody().front();
  std::vector<Values> replicas(inputs.size());
  for (auto [values, tensors] : llvm::zip_equal(replicas, inputs))
    for (auto [argument, tensor] :
         llvm::zip_equal(body.getArguments(), tensors))
      values.try_emplace(argument, tensor);
  for (mlir::Operation &op : body.without_terminator()) {
    if (auto exchanged = llvm::dyn_cast<pp::ExchangedOp>(op))
      exchange(exchanged, replicas);
    if (auto layer = llvm::dyn_cast<pp::LayerOp>(op))
      for (size_t replica = 0; replica < replicas.size(); ++replica)
        run(layer, replica, replicas[replica], parameters);
  }
  Tensors outputs;
  for (Values &values : replicas)
    for (mlir::Value output :
         llvm::cast<pp::ReturnOp>(body.getTerminator()).getOutputs())
      outputs.push_back(values.at(output));
  return outputs;
}

//===----------------------------------------------------------------------===//
// Cases
//===----------------------------------------------------------------------===//

static HostTensor makeFloats(llvm::ArrayRef<int64_t> shape, double seed) {
  std::vector<double> values(mlir::ShapedType::getNumElements(shape));
  for (size_t at = 0; at < values.size(); ++at)
    values[at] = float(std::sin(seed + 3.0 * double(at)));
  return floats(shape, std::move(values));
}

static Parameters makeParameters() {
  Parameters parameters;
  parameters.try_emplace("up", makeFloats({6, 2, 4}, 1));
  parameters.try_emplace("up_bias", makeFloats({6, 4}, 2));
  parameters.try_emplace("down", makeFloats({6, 4, 2}, 3));
  parameters.try_emplace("down_bias", makeFloats({6, 2}, 4));
  return parameters;
}

/// Numbers of 6 experts: some count from the end, and one replica has rows for
/// one peer only.
static std::vector<Tensors> makeInputs(int64_t replicas) {
  const std::vector<int64_t> experts[] = {
      {0, 5, 2, -1, 3, 1, -6, 4, 5, 2, 1, 3},
      {1, 1, 0, 0, 1, 0, -5, 1, 0, 1, 0, 1},
      {5, 4, -2, 4, 3, 3, 0, 5, 2, 4, 5, 5}};
  std::vector<Tensors> inputs;
  for (int64_t replica = 0; replica < replicas; ++replica)
    inputs.push_back({makeFloats({6, 2}, 10 + replica),
                      integers({12}, experts[replica]),
                      makeFloats({12, 1}, 20 + replica)});
  return inputs;
}

static const char *header = R"(
  pp.parameter @up trainable : tensor<6x2x4xf32>
      = dense<0.0> : tensor<6x2x4xf32>
  pp.parameter @up_bias trainable : tensor<6x4xf32>
      = dense<0.0> : tensor<6x4xf32>
  pp.parameter @down trainable : tensor<6x4x2xf32>
      = dense<0.0> : tensor<6x4x2xf32>
  pp.parameter @down_bias trainable : tensor<6x2xf32>
      = dense<0.0> : tensor<6x2xf32>
  pp.model @model(%x: tensor<6x2xf32> = #pp.input_spec<"x", axis = 0>,
      %experts: tensor<12xi64> = #pp.input_spec<"experts", axis = 0>,
      %shares: tensor<12x1xf32> = #pp.input_spec<"shares", axis = 0>) {
)";

static const char *biases = R"(
    %h = pp.layer "h.0" @h(%x, %experts, %shares)
        parameters [@up, @up_bias, @down, @down_bias]
        : (tensor<6x2xf32>, tensor<12xi64>, tensor<12x1xf32>)
        -> tensor<6x2xf32>
    %y = pp.layer "h.1" @h(%h, %experts, %shares)
        parameters [@up, @up_bias, @down, @down_bias]
        : (tensor<6x2xf32>, tensor<12xi64>, tensor<12x1xf32>)
        -> tensor<6x2xf32>
    pp.return outputs ["y"] %y : tensor<6x2xf32>
  }
  nn.function @h(%x: tensor<6x2xf32>, %experts: tensor<12xi64>,
        %shares: tensor<12x1xf32>, %up: tensor<6x2x4xf32>,
        %up_bias: tensor<6x4xf32>, %down: tensor<6x4x2xf32>,
        %down_bias: tensor<6x2xf32>) -> tensor<6x2xf32> {
    %each = nn.reshape %x : tensor<6x2xf32> -> tensor<6x1x2xf32>
    %twice = nn.broadcast %each : tensor<6x1x2xf32> -> tensor<6x2x2xf32>
    %rows = nn.reshape %twice : tensor<6x2x2xf32> -> tensor<12x2xf32>
    %0 = nn.expert_matmul %rows, %up, %experts
        : tensor<12x2xf32>, tensor<6x2x4xf32>, tensor<12xi64>
        -> tensor<12x4xf32>
    %1 = nn.gather %up_bias, %experts axis 0
        : tensor<6x4xf32>, tensor<12xi64> -> tensor<12x4xf32>
    %2 = nn.add %0, %1 : tensor<12x4xf32>
    %3 = nn.tanh %2 : tensor<12x4xf32>
    %4 = nn.expert_matmul %3, %down, %experts
        : tensor<12x4xf32>, tensor<6x4x2xf32>, tensor<12xi64>
        -> tensor<12x2xf32>
    %5 = nn.gather %down_bias, %experts axis 0
        : tensor<6x2xf32>, tensor<12xi64> -> tensor<12x2xf32>
    %6 = nn.add %4, %5 : tensor<12x2xf32>
    %factor = nn.broadcast %shares : tensor<12x1xf32> -> tensor<12x2xf32>
    %7 = nn.mul %6, %factor : tensor<12x2xf32>
    %8 = nn.reshape %7 : tensor<12x2xf32> -> tensor<6x2x2xf32>
    %9 = nn.reduce sum %8 axes [1] : tensor<6x2x2xf32> -> tensor<6x2xf32>
    %y = nn.add %x, %9 : tensor<6x2xf32>
    nn.return %y : tensor<6x2xf32>
  })";

/// Shares are a factor between the products; the layer returns what its parts
/// make, too.
static const char *gates = R"(
    %y, %hidden, %squares = pp.layer "h.0" @h(%x, %experts, %shares)
        parameters [@up, @down]
        : (tensor<6x2xf32>, tensor<12xi64>, tensor<12x1xf32>)
        -> (tensor<12x2xf32>, tensor<12x4xf32>, tensor<6x2xf32>)
    pp.return outputs ["y", "hidden", "squares"] %y, %hidden, %squares
        : tensor<12x2xf32>, tensor<12x4xf32>, tensor<6x2xf32>
  }
  nn.function @h(%x: tensor<6x2xf32>, %experts: tensor<12xi64>,
        %shares: tensor<12x1xf32>, %up: tensor<6x2x4xf32>,
        %down: tensor<6x4x2xf32>)
        -> (tensor<12x2xf32>, tensor<12x4xf32>, tensor<6x2xf32>) {
    %squares = nn.mul %x, %x : tensor<6x2xf32>
    %rows = nn.concat %x, %squares axis 0
        : tensor<6x2xf32>, tensor<6x2xf32> -> tensor<12x2xf32>
    %0 = nn.expert_matmul %rows, %up, %experts
        : tensor<12x2xf32>, tensor<6x2x4xf32>, tensor<12xi64>
        -> tensor<12x4xf32>
    %1 = nn.silu %0 : tensor<12x4xf32>
    %factor = nn.broadcast %shares : tensor<12x1xf32> -> tensor<12x4xf32>
    %2 = nn.mul %1, %factor : tensor<12x4xf32>
    %3 = nn.expert_matmul %2, %down, %experts
        : tensor<12x4xf32>, tensor<6x4x2xf32>, tensor<12xi64>
        -> tensor<12x2xf32>
    nn.return %3, %2, %squares
        : tensor<12x2xf32>, tensor<12x4xf32>, tensor<6x2xf32>
  })";

static const ExpertsCase cases[] = {{"Biases", 2, biases}, {"Gates", 3, gates}};

static void expectEqual(const Tensors &actual, const Tensors &expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (auto [got, wanted] : llvm::zip_equal(actual, expected)) {
    EXPECT_EQ(got.getShape(), wanted.getShape());
    EXPECT_EQ(got.getFloats(), wanted.getFloats());
  }
}

TEST_P(ShardExpertsTest, ComputesTheSame) {
  std::string text = header + std::string(GetParam().text);
  Parameters parameters = makeParameters();
  std::vector<Tensors> inputs = makeInputs(GetParam().peers);
  Tensors expected = Model(text).run(inputs, parameters);
  Model shared(text);
  shared.shardExperts(GetParam().peers, /*capacity=*/0);
  expectEqual(shared.run(inputs, parameters), expected);
}

INSTANTIATE_TEST_SUITE_P(All, ShardExpertsTest, testing::ValuesIn(cases),
                         [](const testing::TestParamInfo<ExpertsCase> &info) {
                           return info.param.name;
                         });

/// Rows for which there is no place give what a row of no expert gives.
TEST(ShardExpertsCapacityTest, DropsTheRowsThatCameLast) {
  constexpr int64_t peers = 3, room = 2; // half of a share of 12 rows
  std::string text = header + std::string(gates);
  Parameters parameters = makeParameters();
  std::vector<Tensors> inputs = makeInputs(peers), dropped = inputs;
  int64_t drops = 0;
  for (Tensors &tensors : dropped) {
    int64_t taken[peers] = {};
    for (int64_t &expert : tensors[1].getIntegers())
      if (++taken[(expert + 6) % 6 / 2] > room) {
        expert = 6;
        ++drops;
      }
  }
  ASSERT_GT(drops, 0);
  Tensors expected = Model(text).run(dropped, parameters);
  Model shared(text);
  shared.shardExperts(peers, /*capacity=*/0.5);
  expectEqual(shared.run(inputs, parameters), expected);
}
