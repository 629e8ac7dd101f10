//===- ModelInputs.cpp - Inputs with static shapes
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelInputs.h"

#include "Proto/Onnx.pb.h"
#include "Tensors.h"
#include "pipewright/Dialect/NN/TensorSize.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace pipewright;
using namespace pipewright::onnx;

namespace {

/// A dimension of an input: a name, or a size.
struct Dim {
  std::string symbol;
  int64_t size = 0;
};

struct SymbolicInput {
  std::string name;
  Type element;
  unsigned unsignedBits;
  SmallVector<Dim> dims;
};

class InputReader {
public:
  InputReader(const ImportOptions &options, GraphReport &report,
              MLIRContext *context)
      : options(options), report(report), context(context) {}

  void read(const GraphProto &graph);
  ModelInputs bind();

private:
  void read(const ValueInfoProto &info);
  void chooseBatch();
  int64_t getSize(const Dim &dim);
  int64_t getBatchAxis(const SymbolicInput &input) const;
  void checkBatch(const ModelInput &input);
  void checkBatchBinding();
  void reportSymbols();

  const ImportOptions &options;
  GraphReport &report;
  MLIRContext *context;
  SmallVector<SymbolicInput> inputs;
  llvm::SetVector<StringRef> symbols;
  llvm::SetVector<StringRef> unbound;
  /// The name of the batch dimension, or its size if it has no name.
  Dim batch;
};

} // namespace

void InputReader::read(const GraphProto &graph) {
  llvm::StringSet<> initializers;
  for (const TensorProto &initializer : graph.initializer())
    initializers.insert(initializer.name());
  for (const ValueInfoProto &input : graph.input())
    if (!initializers.contains(input.name()))
      read(input);
  for (const SymbolicInput &input : inputs)
    for (const Dim &dim : input.dims)
      if (!dim.symbol.empty())
        symbols.insert(dim.symbol);
  chooseBatch();
}

void InputReader::read(const ValueInfoProto &info) {
  if (!info.type().has_tensor_type()) {
    report.error() << "has input '" << info.name() << "', which is no tensor";
    return;
  }
  const TypeProto::Tensor &type = info.type().tensor_type();
  SymbolicInput input;
  input.name = info.name();
  input.element = convertElementType(type.elem_type(), context);
  input.unsignedBits = getUnsignedBits(type.elem_type());
  if (!input.element) {
    report.error() << "has input '" << info.name() << "' with elements of type "
                   << getDataTypeName(type.elem_type())
                   << ", which is not supported";
    return;
  }
  if (!type.has_shape()) {
    report.error() << "has input '" << info.name() << "' without a shape";
    return;
  }
  for (auto [axis, dim] : llvm::enumerate(type.shape().dim())) {
    bool isStatic = dim.has_dim_value() && dim.dim_value() >= 0;
    std::string symbol = dim.has_dim_param() ? dim.dim_param() : "";
    if (!isStatic && symbol.empty())
      symbol = info.name() + "." + std::to_string(axis);
    input.dims.push_back({symbol, isStatic ? dim.dim_value() : 0});
  }
  inputs.push_back(std::move(input));
}

void InputReader::chooseBatch() {
  batch.symbol = options.batchDim;
  if (!batch.symbol.empty()) {
    if (!symbols.contains(batch.symbol))
      report.error() << "has no dimension '" << batch.symbol
                     << "' along which to cut a batch";
    return;
  }
  auto isBatch = [](StringRef symbol) {
    return symbol.starts_with_insensitive("batch");
  };
  if (auto it = llvm::find_if(symbols, isBatch); it != symbols.end()) {
    batch.symbol = it->str();
    return;
  }
  for (const SymbolicInput &input : inputs) {
    if (input.dims.empty())
      continue;
    batch = input.dims.front();
    return;
  }
}

int64_t InputReader::getSize(const Dim &dim) {
  if (dim.symbol.empty())
    return dim.size;
  auto it = options.bind.find(dim.symbol);
  std::optional<int64_t> size;
  if (it != options.bind.end())
    size = it->second;
  if (dim.symbol == batch.symbol && options.microbatchSize)
    size = options.microbatchSize;
  if (!size)
    unbound.insert(dim.symbol);
  // A size that is missing or impossible is reported once all are known.
  return std::max<int64_t>(size.value_or(1), 0);
}

int64_t InputReader::getBatchAxis(const SymbolicInput &input) const {
  if (batch.symbol.empty())
    return !input.dims.empty() && input.dims.front().symbol.empty() &&
                   input.dims.front().size == batch.size
               ? 0
               : -1;
  for (auto [axis, dim] : llvm::enumerate(input.dims))
    if (dim.symbol == batch.symbol)
      return axis;
  return -1;
}

void InputReader::checkBatch(const ModelInput &input) {
  if (input.axis < 0 || !options.microbatchSize)
    return;
  int64_t size = input.type.getDimSize(input.axis);
  if (size != *options.microbatchSize)
    report.error() << "has input '" << input.name << "' for a batch of " << size
                   << ", not of " << *options.microbatchSize
                   << "; export the model with a symbolic batch dimension";
}

/// The batch has one size, though two options may give it.
void InputReader::checkBatchBinding() {
  auto bound = options.bind.find(batch.symbol);
  if (options.microbatchSize && bound != options.bind.end() &&
      bound->second != *options.microbatchSize)
    report.error() << "has dimension '" << batch.symbol << "' bound to "
                   << bound->second << ", but micro-batches of "
                   << *options.microbatchSize;
}

void InputReader::reportSymbols() {
  checkBatchBinding();
  if (!unbound.empty()) {
    InFlightDiagnostic diag = report.error();
    diag << "has dimensions without a size; give them with --bind ";
    llvm::interleave(
        unbound, [&](StringRef symbol) { diag << symbol << "=N"; },
        [&] { diag << ","; });
  }
  SmallVector<StringRef> unknown;
  for (const auto &entry : options.bind) {
    if (!symbols.contains(entry.getKey()))
      unknown.push_back(entry.getKey());
    else if (entry.getValue() < (entry.getKey() == batch.symbol ? 1 : 0))
      report.error() << "cannot have size " << entry.getValue()
                     << " of dimension '" << entry.getKey() << "'";
  }
  if (options.microbatchSize && *options.microbatchSize < 1)
    report.error() << "cannot be run on micro-batches of "
                   << *options.microbatchSize;
  llvm::sort(unknown);
  for (StringRef symbol : unknown)
    report.error() << "has no dimension '" << symbol << "' to bind; it has "
                   << (symbols.empty() ? "none" : llvm::join(symbols, ", "));
}

ModelInputs InputReader::bind() {
  SmallVector<ModelInput> bound;
  for (const SymbolicInput &input : inputs) {
    SmallVector<int64_t> shape;
    for (const Dim &dim : input.dims)
      shape.push_back(getSize(dim));
    auto type = RankedTensorType::get(shape, input.element);
    if (!nn::hasReasonableSize(shape))
      report.error() << "has input '" << input.name << "' of type " << type
                     << ", which has too many elements";
    bound.push_back(
        {input.name, type, getBatchAxis(input), input.unsignedBits});
    checkBatch(bound.back());
  }
  reportSymbols();
  return {bound, batch.symbol};
}

ModelInputs pipewright::getModelInputs(const GraphProto &graph,
                                       const ImportOptions &options,
                                       GraphReport &report,
                                       MLIRContext *context) {
  InputReader reader(options, report, context);
  reader.read(graph);
  return reader.bind();
}

int64_t pipewright::getBatchAxis(const ValueInfoProto &output,
                                 StringRef batchDim, int64_t rank) {
  const TensorShapeProto &shape = output.type().tensor_type().shape();
  for (int64_t axis = 0; axis < std::min<int64_t>(rank, shape.dim_size());
       ++axis)
    if (!batchDim.empty() && shape.dim(axis).dim_param() == batchDim)
      return axis;
  return 0;
}
