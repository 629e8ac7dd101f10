//===- MergedWeights.cpp - Weights that were stored once
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MergedWeights.h"

#include "Proto/Onnx.pb.h"
#include "WeightCopies.h"
#include "WeightNames.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using namespace pipewright::onnx;

namespace {
/// An operand that a node reads.
struct Use {
  int node;
  int operand;
};

/// The uses of one weight: those of a module, or of one operand of its nodes if
/// they read the initializer several times.
struct Weight {
  std::string module;
  int operand;
  SmallVector<Use, 2> uses;
};

class WeightSeparator {
public:
  WeightSeparator(OnnxFile &file, function_ref<std::string(int)> getPath);

  std::vector<std::string> run();

private:
  void separate(const TensorProto &tensor, ArrayRef<Use> uses);
  std::vector<Weight> findWeights(ArrayRef<Use> uses) const;
  bool isUniform(const TensorProto &tensor);
  std::string getName(const Weight &weight, const TensorProto &tensor) const;
  std::string makeUnique(std::string name, const TensorProto &tensor);
  void redirect(const Weight &weight, const TensorProto &tensor);

  OnnxFile &file;
  GraphProto &graph;
  function_ref<std::string(int)> getPath;
  StringSet<> names; ///< of all values
  std::vector<std::string> added;
};
} // namespace

static bool isWeight(const TensorProto &tensor) {
  return tensor.dims_size() > 0 &&
         is_contained({TensorProto::FLOAT, TensorProto::DOUBLE,
                       TensorProto::FLOAT16, TensorProto::BFLOAT16},
                      tensor.data_type());
}

WeightSeparator::WeightSeparator(OnnxFile &file,
                                 function_ref<std::string(int)> getPath)
    : file(file), graph(*file.getModel().mutable_graph()), getPath(getPath) {
  for (const TensorProto &tensor : graph.initializer())
    names.insert(tensor.name());
  for (const ValueInfoProto &input : graph.input())
    names.insert(input.name());
  for (const NodeProto &node : graph.node())
    for (const std::string &output : node.output())
      names.insert(output);
}

/// The uses of each weight, of which a model may have many.
static StringMap<SmallVector<Use, 2>> findUses(const GraphProto &graph) {
  StringMap<SmallVector<Use, 2>> uses;
  for (const TensorProto &tensor : graph.initializer())
    if (isWeight(tensor))
      uses[tensor.name()];
  for (auto [index, node] : enumerate(graph.node()))
    for (auto [operand, name] : enumerate(node.input()))
      if (auto known = uses.find(name); known != uses.end())
        known->second.push_back({int(index), int(operand)});
  return uses;
}

std::vector<Weight> WeightSeparator::findWeights(ArrayRef<Use> uses) const {
  std::vector<Weight> weights;
  for (const Use &use : uses) {
    std::string module = getModule(getPath(use.node));
    bool isOnly = count_if(uses, [&](const Use &other) {
                    return other.node == use.node;
                  }) == 1;
    int operand = isOnly ? -1 : use.operand;
    auto known = find_if(weights, [&](const Weight &weight) {
      return weight.module == module && weight.operand == operand;
    });
    if (known == weights.end())
      known = weights.insert(weights.end(), {module, operand, {}});
    known->uses.push_back(use);
  }
  return weights;
}

bool WeightSeparator::isUniform(const TensorProto &tensor) {
  if (!file.hasValues(tensor))
    return false;
  // What cannot be read is reported where it is imported.
  std::optional<TensorContents> contents =
      expectedToOptional(file.read(tensor));
  return contents && !contents->bytes.empty() &&
         pipewright::onnx::isUniform(*contents);
}

/// What PyTorch calls operand \p operand of a module that is one operator;
/// empty for others.
static StringRef getLeaf(StringRef operation, int operand) {
  bool isModule =
      StringSwitch<bool>(operation)
          .Cases({"BatchNormalization", "Conv", "ConvTranspose"}, true)
          .Cases({"GroupNormalization", "InstanceNormalization",
                  "LayerNormalization", "RMSNormalization"},
                 true)
          .Default(false);
  constexpr StringRef leaves[] = {"weight", "bias", "running_mean",
                                  "running_var"};
  bool hasLeaf = operand > 0 && size_t(operand) <= std::size(leaves);
  return isModule && hasLeaf ? leaves[operand - 1] : "";
}

std::string WeightSeparator::getName(const Weight &weight,
                                     const TensorProto &tensor) const {
  const Use &use = weight.uses.front();
  StringRef leaf = getLeaf(graph.node(use.node).op_type(), use.operand);
  if (leaf.empty())
    leaf = StringRef(tensor.name()).rsplit('.').second;
  if (leaf.empty())
    leaf = tensor.name();
  return weight.module + "." + leaf.str();
}

std::string WeightSeparator::makeUnique(std::string name,
                                        const TensorProto &tensor) {
  // A name of the exporter's kind says that it has changed the weight's shape.
  StringRef stem = isExportersName(tensor.name()) ? StringRef("val_") : "";
  std::string unique = stem.empty() ? name : stem.str() + "0";
  for (int64_t i = 1; !names.insert(unique).second; ++i)
    unique = (stem.empty() ? name + "_" : stem.str()) + std::to_string(i);
  return unique;
}

void WeightSeparator::redirect(const Weight &weight,
                               const TensorProto &tensor) {
  std::string name = makeUnique(getName(weight, tensor), tensor);
  file.addCopy(tensor, name);
  for (const Use &use : weight.uses)
    graph.mutable_node(use.node)->set_input(use.operand, name);
  added.push_back(name);
}

void WeightSeparator::separate(const TensorProto &tensor, ArrayRef<Use> uses) {
  std::vector<Weight> weights = findWeights(uses);
  if (weights.size() < 2 || !isUniform(tensor))
    return;
  auto named = find_if(weights, [&](const Weight &weight) {
    return getName(weight, tensor) == tensor.name();
  });
  if (named == weights.end())
    named = weights.begin();
  for (auto weight = weights.begin(); weight != weights.end(); ++weight)
    // A node of no module may be a part of any.
    if (weight != named && !weight->module.empty())
      redirect(*weight, tensor);
}

std::vector<std::string> WeightSeparator::run() {
  StringMap<SmallVector<Use, 2>> uses = findUses(graph);
  for (int i = 0, count = graph.initializer_size(); i < count; ++i) {
    const TensorProto &tensor = graph.initializer(i);
    auto known = uses.find(tensor.name());
    if (known != uses.end() && known->second.size() > 1)
      separate(tensor, known->second);
  }
  return std::move(added);
}

std::vector<std::string> pipewright::onnx::separateMergedWeights(
    OnnxFile &file, function_ref<std::string(int)> getPath) {
  if (!file.getModel().has_graph())
    return {};
  return WeightSeparator(file, getPath).run();
}
