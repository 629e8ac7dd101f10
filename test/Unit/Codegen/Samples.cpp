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
