//===- Samples.cpp - Functions that cover the nn dialect
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Samples.h"

#include "pipewright/Codegen/Passes.h"
#include "pipewright/Dialect/PP/PP.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

using namespace mlir;
using namespace pipewright;

/// The text of all files of the samples' folder, in the order of their names.
static std::string readSamples() {
  std::error_code error;
  std::map<std::string, std::string> texts;
  for (llvm::sys::fs::directory_iterator file(CODEGEN_SAMPLES, error), end;
       file != end && !error; file.increment(error)) {
    auto buffer = llvm::MemoryBuffer::getFile(file->path());
    EXPECT_TRUE(buffer) << "cannot read " << file->path();
    texts[file->path()] = (*buffer)->getBuffer().str();
  }
  std::string text;
  for (const auto &[path, content] : texts)
    text += content;
  return text;
}

Samples::Samples() : Samples(readSamples()) {}

Samples::Samples(StringRef text) {
  DialectRegistry registry;
  registry.insert<nn::NNDialect, pp::PPDialect>();
  registerCodegenDialects(registry);
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
  // The ranges of arguments are for this test alone.
  context.allowUnregisteredDialects();
  module = parseSourceString<ModuleOp>(text, &context);
  EXPECT_TRUE(module) << "cannot parse the samples";
}

std::vector<nn::FunctionOp> Samples::getFunctions() {
  auto functions = module->getOps<nn::FunctionOp>();
  return std::vector<nn::FunctionOp>(functions.begin(), functions.end());
}

static double getBound(nn::FunctionOp function, unsigned index, StringRef name,
                       double otherwise) {
  auto bound = function.getArgAttrOfType<FloatAttr>(index, name);
  return bound ? bound.getValueAsDouble() : otherwise;
}

Tensors pipewright::makeArguments(nn::FunctionOp function) {
  std::mt19937 random(17);
  Tensors arguments;
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
    auto tensorType = cast<RankedTensorType>(type);
    nn::HostTensor tensor = nn::HostTensor::zeros(tensorType);
    bool boolean = tensorType.getElementType().isInteger(1);
    double bound = tensor.isFloat() ? 2 : 3;
    double low = getBound(function, index, "test.low", boolean ? 0 : -bound);
    double high = getBound(function, index, "test.high", boolean ? 1 : bound);
    for (double &value : tensor.getFloats())
      value = low + (high - low) * (random() % 4096) / 4096;
    for (int64_t &value : tensor.getIntegers())
      value = low + random() % static_cast<int64_t>(high - low + 1);
    if (auto element = dyn_cast<FloatType>(tensorType.getElementType()))
      tensor.roundFloats(element);
    arguments.push_back(tensor);
  }
  return arguments;
}

namespace {
/// Writes functions of random ops: some become code on buffers early, some
/// late, and some only move elements.
class RandomFunction {
public:
  explicit RandomFunction(int seed) : random(seed) {
    text = llvm::formatv("nn.function @random{0}(%0: {1}, %1: {1}) -> "
                         "({1}, {1}) {{\n",
                         seed, type);
    for (int op = 0; op < 12; ++op)
      addOp();
    text += llvm::formatv("nn.return %{0}, %{1} : {2}, {2}\n}\n", next - 1,
                          next - 4, type);
  }

  std::string text;

private:
  static constexpr const char *type = "tensor<6x6xf32>";

  int pick(ArrayRef<int> values) { return values[random() % values.size()]; }

  void addOp() {
    static constexpr const char *ops[] = {
        "%{0} = nn.exp %{1} : {3}\n",
        "%{0} = nn.add %{1}, %{2} : {3}\n",
        "%{0} = nn.mul %{1}, %{2} : {3}\n",
        "%{0} = nn.transpose %{1} [1, 0] : {3} -> {3}\n",
        "%{0} = nn.softmax %{1} axis 1 : {3}\n",
        "%{0} = nn.cumulative_sum %{1} axis 0 : {3}\n",
        "%{0} = nn.matmul %{1}, %{2} : {3}, {3} -> {3}\n"};
    // No number may grow and make errors grow with it.
    bool readsFree = !free.empty() && random() % 2;
    int lhs = readsFree ? pick(free) : pick(bounded), rhs = pick(bounded);
    text += llvm::formatv(ops[random() % std::size(ops)], next, lhs, rhs, type);
    text += llvm::formatv("%{0} = nn.tanh %{1} : {2}\n", next + 1, next, type);
    if (!readsFree)
      free.push_back(next);
    bounded.push_back(next + 1);
    next += 2;
  }

  std::mt19937 random;
  int next = 2;
  SmallVector<int> bounded{0, 1}; ///< between -2 and 2
  SmallVector<int> free;          ///< computed from those
};
} // namespace

std::string pipewright::writeRandomFunctions(int count) {
  std::string text;
  for (int seed = 0; seed < count; ++seed)
    text += RandomFunction(seed).text;
  return text;
}
