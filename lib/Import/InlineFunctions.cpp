//===- InlineFunctions.cpp - Expands calls of functions
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InlineFunctions.h"

#include "GraphReads.h"
#include "OpsetImports.h"
#include "Proto/Onnx.pb.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <map>
#include <tuple>

using namespace llvm;
using namespace pipewright::onnx;

/// Nested calls multiply: a small file must not exhaust the memory, nor a long
/// chain of calls the stack.
constexpr size_t maxNodes = size_t(1) << 20;
constexpr size_t maxDepth = 100;

using Nodes = google::protobuf::RepeatedPtrField<NodeProto>;
using Attributes = google::protobuf::RepeatedPtrField<AttributeProto>;
using FunctionId = std::tuple<std::string, std::string, std::string>;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// `domain.Name:overload`, without what is empty.
static std::string describe(const FunctionProto &function) {
  StringRef domain = normalizeDomain(function.domain());
  return (domain.empty() ? "" : domain.str() + ".") + function.name() +
         (function.overload().empty() ? "" : ":" + function.overload());
}

/// The name of node \p index, as locations say it if it has none.
static std::string getName(const NodeProto &node, int64_t index) {
  return node.name().empty() ? node.op_type() + "_" + std::to_string(index)
                             : node.name();
}

static std::string joinPath(const std::string &scope, const std::string &name) {
  return StringRef(name).starts_with("/") ? scope + name : scope + "/" + name;
}

//===----------------------------------------------------------------------===//
// Inliner
//===----------------------------------------------------------------------===//

namespace {

/// A call, and what the names of its function mean there.
struct Call {
  const NodeProto &node;
  const FunctionProto &function;
  StringMap<std::string> values;
};

class Inliner {
public:
  Inliner(ModelProto &model, function_ref<bool(StringRef)> isOperator)
      : model(model), isOperator(isOperator) {}

  std::vector<std::string> run();

private:
  void collectFunctions();
  void collectNames(const GraphProto &graph);
  const FunctionProto *find(const NodeProto &node) const;

  // Checks; false if something was reported.
  void report(const std::string &problem);
  bool checkFunction(const FunctionProto &function);
  bool checkDefinitions(const FunctionProto &function);
  bool checkOpsets(const FunctionProto &function);
  bool checkCall(const NodeProto &node, const FunctionProto &function);
  bool checkChain(const FunctionProto &function);

  void expandGraph(GraphProto &graph);
  void add(NodeProto node);
  void expand(const NodeProto &node, const FunctionProto &function);
  void bindValues(Call &call);
  std::string mapName(Call &call, const std::string &name);
  std::string getFreshName(std::string name);
  NodeProto instantiate(const NodeProto &node, int64_t index, Call &call);
  /// A graph that a node of the function holds, in a graph that defines the
  /// names \p around.
  void instantiate(GraphProto &graph, Call &call, const StringSet<> &around);
  /// All of a node but its names, in a graph that defines the names \p inner.
  void resolveNode(NodeProto &node, Call &call, const StringSet<> &inner);
  void forwardInputs(Call &call);

  ModelProto &model;
  function_ref<bool(StringRef)> isOperator;
  std::map<FunctionId, const FunctionProto *> functions;
  /// Whether a function that was called passes its checks.
  std::map<const FunctionProto *, bool> checked;
  std::vector<const FunctionProto *> chain; ///< being expanded, outermost first
  StringSet<> names;                        ///< of values, in the model
  Nodes nodes;                              ///< the new graph
  size_t numNodes = 0;
  std::vector<std::string> problems;
};

} // namespace

void Inliner::report(const std::string &problem) {
  // A function is reached in several ways.
  if (!is_contained(problems, problem))
    problems.push_back(problem);
}

void Inliner::collectFunctions() {
  for (const FunctionProto &function : model.functions()) {
    FunctionId id(normalizeDomain(function.domain()), function.name(),
                  function.overload());
    if (!functions.try_emplace(id, &function).second)
      report("defines function " + describe(function) + " twice");
  }
}

void Inliner::collectNames(const GraphProto &graph) {
  for (const auto &name : getDefinitions(graph))
    names.insert(name.getKey());
  for (const NodeProto &node : graph.node())
    for (const AttributeProto &attribute : node.attribute())
      if (attribute.has_g())
        collectNames(attribute.g());
}

const FunctionProto *Inliner::find(const NodeProto &node) const {
  StringRef domain = normalizeDomain(node.domain());
  if (domain.empty() && isOperator(node.op_type()))
    return nullptr;
  auto it = functions.find(FunctionId(domain, node.op_type(), node.overload()));
  return it == functions.end() ? nullptr : it->second;
}

std::vector<std::string> Inliner::run() {
  collectFunctions();
  collectNames(model.graph());
  expandGraph(*model.mutable_graph());
  return problems;
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

bool Inliner::checkFunction(const FunctionProto &function) {
  auto [it, isNew] = checked.try_emplace(&function, true);
  if (isNew)
    it->second = checkDefinitions(function) && checkOpsets(function);
  return it->second;
}

bool Inliner::checkDefinitions(const FunctionProto &function) {
  std::string subject = "has function " + describe(function);
  size_t before = problems.size();
  StringSet<> defined, returned;
  auto define = [&](const std::string &name) {
    if (!name.empty() && !defined.insert(name).second)
      report(subject + ", which defines '" + name + "' twice");
  };
  for_each(function.input(), define);
  for (const NodeProto &node : function.node())
    for_each(node.output(), define);
  for (const std::string &name : function.output()) {
    if (!defined.contains(name))
      report(subject + " with output '" + name +
             "', which no input or node of it defines");
    if (!returned.insert(name).second)
      report(subject + ", which has output '" + name + "' twice");
  }
  return problems.size() == before;
}

/// Calls \p visit for each node of \p nodes and of the graphs in them, until it
/// returns false.
static bool visitNodes(const Nodes &nodes,
                       function_ref<bool(const NodeProto &, int64_t)> visit) {
  return all_of(enumerate(nodes), [&](auto entry) {
    const NodeProto &node = entry.value();
    return visit(node, entry.index()) &&
           all_of(node.attribute(), [&](const AttributeProto &attribute) {
             return !attribute.has_g() ||
                    visitNodes(attribute.g().node(), visit);
           });
  });
}

bool Inliner::checkOpsets(const FunctionProto &function) {
  return visitNodes(function.node(), [&](const NodeProto &node, int64_t index) {
    if (getOpsetVersion(function.opset_import(), node.domain()))
      return true;
    report("has function " + describe(function) +
           ", which does not say which version of operator set '" +
           normalizeDomain(node.domain()).str() + "' it uses, first in node '" +
           getName(node, index) + "'");
    return false;
  });
}

bool Inliner::checkCall(const NodeProto &node, const FunctionProto &function) {
  auto checkCount = [&](int actual, int formal, const char *what) {
    if (actual <= formal)
      return true;
    report("calls function " + describe(function) + " with " +
           std::to_string(actual) + what + (actual == 1 ? "" : "s") +
           " in node '" + node.name() + "', but it has " +
           std::to_string(formal));
    return false;
  };
  return checkCount(node.input_size(), function.input_size(), " input") &&
         checkCount(node.output_size(), function.output_size(), " output");
}

bool Inliner::checkChain(const FunctionProto &function) {
  auto it = find_if(chain, [&](auto *outer) { return outer == &function; });
  if (it != chain.end()) {
    std::string cycle = describe(function);
    for (++it; it != chain.end(); ++it)
      cycle += " calls " + describe(**it) + ", which";
    report("has functions that call themselves: " + cycle + " calls " +
           describe(function));
    return false;
  }
  if (chain.size() < maxDepth)
    return true;
  report("nests calls of functions deeper than " + std::to_string(maxDepth));
  return false;
}

//===----------------------------------------------------------------------===//
// Expansion
//===----------------------------------------------------------------------===//

void Inliner::expandGraph(GraphProto &graph) {
  Nodes outer;
  outer.Swap(&nodes);
  for (auto [index, node] : enumerate(*graph.mutable_node())) {
    // Its place in the new graph would not be its place in the file.
    node.set_name(getName(node, index));
    if (find(node) && !node.has_opset_version() &&
        !getOpsetVersion(model.opset_import(), node.domain()))
      report("does not say which version of operator set '" + node.domain() +
             "' it uses, in node '" + node.name() + "'");
    add(std::move(node));
  }
  graph.mutable_node()->Swap(&nodes);
  nodes.Swap(&outer);
}

void Inliner::add(NodeProto node) {
  if (++numNodes > maxNodes) {
    report("has more than " + std::to_string(maxNodes) +
           " nodes with those of its functions");
    return;
  }
  if (const FunctionProto *function = find(node))
    return expand(node, *function);
  for (AttributeProto &attribute : *node.mutable_attribute())
    if (attribute.has_g())
      expandGraph(*attribute.mutable_g());
  nodes.Add(std::move(node));
}

void Inliner::expand(const NodeProto &node, const FunctionProto &function) {
  if (!checkFunction(function) || !checkCall(node, function) ||
      !checkChain(function))
    return;
  chain.push_back(&function);
  Call call{node, function, {}};
  bindValues(call);
  for (auto [index, inner] : enumerate(function.node())) {
    if (numNodes > maxNodes)
      break;
    add(instantiate(inner, index, call));
  }
  forwardInputs(call);
  chain.pop_back();
}

static bool isRead(const FunctionProto &function, const std::string &name) {
  return any_of(function.node(), [&](const NodeProto &node) {
    return is_contained(getReads(node), name);
  });
}

void Inliner::bindValues(Call &call) {
  for (auto [i, formal] : enumerate(call.function.input()))
    call.values[formal] =
        int(i) < call.node.input_size() ? call.node.input(i) : "";
  for (auto [i, formal] : enumerate(call.function.output())) {
    bool isGiven =
        int(i) < call.node.output_size() && !call.node.output(i).empty();
    // A result that the caller leaves out is left out by the node that defines
    // it too, unless the function needs it: mapName then makes up a name.
    if (isGiven)
      call.values.try_emplace(formal, call.node.output(i));
    else if (!isRead(call.function, formal))
      call.values.try_emplace(formal, "");
  }
}

std::string Inliner::getFreshName(std::string name) {
  std::string fresh = name;
  for (int i = 1; !names.insert(fresh).second; ++i)
    fresh = name + "_" + std::to_string(i);
  return fresh;
}

std::string Inliner::mapName(Call &call, const std::string &name) {
  if (name.empty())
    return "";
  auto [it, isNew] = call.values.try_emplace(name);
  if (isNew)
    it->second = getFreshName(joinPath(call.node.name(), name));
  return it->second;
}

static const AttributeProto *findAttribute(const Attributes &attributes,
                                           const std::string &name) {
  auto it = find_if(attributes, [&](const AttributeProto &attribute) {
    return attribute.name() == name;
  });
  return it == attributes.end() ? nullptr : &*it;
}

/// Puts the attributes of a call, or else the defaults of its function, where
/// \p node refers to them; what neither gives is left out.
static void resolveAttributes(NodeProto &node, const Call &call) {
  Attributes resolved;
  for (AttributeProto &attribute : *node.mutable_attribute()) {
    if (!attribute.has_ref_attr_name()) {
      resolved.Add(std::move(attribute));
      continue;
    }
    const std::string &name = attribute.ref_attr_name();
    const AttributeProto *value = findAttribute(call.node.attribute(), name);
    if (!value)
      value = findAttribute(call.function.attribute_proto(), name);
    if (!value)
      continue;
    AttributeProto *copy = resolved.Add();
    *copy = *value;
    copy->set_name(attribute.name());
  }
  node.mutable_attribute()->Swap(&resolved);
}

/// What a call says of its node that the node itself does not say.
static void inheritMetadata(NodeProto &node, const NodeProto &call) {
  for (const StringStringEntryProto &entry : call.metadata_props())
    if (none_of(node.metadata_props(), [&](const StringStringEntryProto &own) {
          return own.key() == entry.key();
        }))
      *node.add_metadata_props() = entry;
  if (node.device_configurations_size() == 0)
    *node.mutable_device_configurations() = call.device_configurations();
}

void Inliner::instantiate(GraphProto &graph, Call &call,
                          const StringSet<> &around) {
  StringSet<> inner = getDefinitions(graph);
  for (const auto &name : around)
    inner.insert(name.getKey());
  auto rename = [&](const std::string &name) {
    return inner.contains(name) ? name : mapName(call, name);
  };
  for (NodeProto &node : *graph.mutable_node()) {
    for (std::string &input : *node.mutable_input())
      input = rename(input);
    resolveNode(node, call, inner);
  }
  for (ValueInfoProto &output : *graph.mutable_output())
    output.set_name(rename(output.name()));
}

void Inliner::resolveNode(NodeProto &node, Call &call,
                          const StringSet<> &inner) {
  resolveAttributes(node, call);
  node.set_opset_version(
      *getOpsetVersion(call.function.opset_import(), node.domain()));
  for (AttributeProto &attribute : *node.mutable_attribute())
    if (attribute.has_g())
      instantiate(*attribute.mutable_g(), call, inner);
}

NodeProto Inliner::instantiate(const NodeProto &node, int64_t index,
                               Call &call) {
  NodeProto copy = node;
  copy.set_name(joinPath(call.node.name(), getName(node, index)));
  for (std::string &input : *copy.mutable_input())
    input = mapName(call, input);
  for (std::string &output : *copy.mutable_output())
    output = mapName(call, output);
  resolveNode(copy, call, /*inner=*/{});
  inheritMetadata(copy, call.node);
  return copy;
}

/// A function may return its input, which then has two names in the graph.
void Inliner::forwardInputs(Call &call) {
  for (auto [i, output] : enumerate(call.node.output())) {
    const std::string &formal = call.function.output(i);
    if (output.empty() || !is_contained(call.function.input(), formal))
      continue;
    NodeProto identity;
    identity.set_op_type("Identity");
    identity.set_name(joinPath(call.node.name(), formal));
    identity.add_input(call.values[formal]);
    identity.add_output(output);
    inheritMetadata(identity, call.node);
    // All versions of it are the same.
    identity.set_opset_version(1);
    add(std::move(identity));
  }
}

std::vector<std::string>
pipewright::onnx::inlineFunctions(ModelProto &model,
                                  function_ref<bool(StringRef)> isOperator) {
  if (!model.has_graph() || model.functions_size() == 0)
    return {};
  return Inliner(model, isOperator).run();
}
