//===- GraphOrder.cpp - Who defines what, and in which order
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GraphOrder.h"

#include "GraphReads.h"
#include "Proto/Onnx.pb.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

#include <functional>
#include <queue>

using namespace mlir;
using namespace pipewright;
using namespace pipewright::onnx;

namespace {

enum class Definer { Input, Initializer, Node };

struct Definition {
  Definer definer;
  int index; ///< of the node
};

class Orderer {
public:
  explicit Orderer(GraphScope &scope)
      : scope(scope), graph(scope.graph), report(scope.report),
        successors(graph.node_size()), pending(graph.node_size(), 0) {}

  void define();
  void connect();
  std::vector<int> sort();

private:
  void define(const std::string &name, Definition definition);
  std::string describe(const Definition &definition) const;
  void reportCycle(ArrayRef<bool> isSorted);

  GraphScope &scope;
  const GraphProto &graph;
  GraphReport &report;
  llvm::StringMap<Definition> definitions;
  std::vector<std::vector<int>> successors;
  std::vector<int> pending; ///< operands of a node that are not sorted yet
};

} // namespace

std::string Orderer::describe(const Definition &definition) const {
  switch (definition.definer) {
  case Definer::Input:
    return "an input";
  case Definer::Initializer:
    return "an initializer";
  case Definer::Node:
    return "node " + report.describeNode(definition.index);
  }
  llvm_unreachable("all definers are handled");
}

void Orderer::define(const std::string &name, Definition definition) {
  auto [it, isNew] = definitions.try_emplace(name, definition);
  if (isNew)
    return;
  // An initializer may be listed as an input too: its default value.
  if (it->second.definer == Definer::Input &&
      definition.definer == Definer::Initializer) {
    it->second = definition;
    return;
  }
  report.error() << "defines '" << name << "' twice: by "
                 << describe(it->second) << " and by " << describe(definition);
}

void Orderer::define() {
  for (const ValueInfoProto &input : graph.input())
    define(input.name(), {Definer::Input, 0});
  for (const TensorProto &initializer : graph.initializer())
    define(initializer.name(), {Definer::Initializer, 0});
  for (auto [index, node] : llvm::enumerate(graph.node()))
    for (const std::string &name : node.output())
      if (!name.empty())
        define(name, {Definer::Node, int(index)});
}

void Orderer::connect() {
  for (auto [index, node] : llvm::enumerate(graph.node())) {
    for (const std::string &name : getReads(node)) {
      auto it = definitions.find(name);
      if (it == definitions.end()) {
        if (scope.isCaptured(name))
          continue;
        report.nodeError(index) << "reads '" << name << "', which no input, "
                                << "initializer or node defines";
        continue;
      }
      if (it->second.definer != Definer::Node)
        continue;
      successors[it->second.index].push_back(index);
      ++pending[index];
    }
  }
  for (const ValueInfoProto &output : graph.output())
    if (!definitions.contains(output.name()) &&
        !scope.isCaptured(output.name()))
      report.error() << "has output '" << output.name()
                     << "', which no input, initializer or node defines";
}

std::vector<int> Orderer::sort() {
  std::priority_queue<int, std::vector<int>, std::greater<int>> ready;
  for (int index = 0; index < graph.node_size(); ++index)
    if (pending[index] == 0)
      ready.push(index);
  std::vector<int> order;
  SmallVector<bool> isSorted(graph.node_size(), false);
  while (!ready.empty()) {
    int index = ready.top();
    ready.pop();
    order.push_back(index);
    isSorted[index] = true;
    for (int successor : successors[index])
      if (--pending[successor] == 0)
        ready.push(successor);
  }
  if (int(order.size()) != graph.node_size())
    reportCycle(isSorted);
  return order;
}

void Orderer::reportCycle(ArrayRef<bool> isSorted) {
  // A node that was not sorted has a predecessor that was not either, so going
  // back from any of them ends in a cycle.
  SmallVector<int> predecessor(graph.node_size(), -1);
  for (auto [index, next] : llvm::enumerate(successors))
    if (!isSorted[index])
      for (int successor : next)
        predecessor[successor] = index;
  SmallVector<bool> isVisited(graph.node_size(), false);
  int start = llvm::find(isSorted, false) - isSorted.begin();
  while (!isVisited[start]) {
    isVisited[start] = true;
    start = predecessor[start];
  }
  InFlightDiagnostic diag = report.error();
  diag << "has a cycle: node " << report.describeNode(start);
  int index = start;
  do {
    index = predecessor[index];
    diag << " reads a result of " << report.describeNode(index);
    if (index != start)
      diag << ", which";
  } while (index != start);
}

std::vector<int> pipewright::orderNodes(GraphScope &scope) {
  Orderer orderer(scope);
  orderer.define();
  orderer.connect();
  return scope.report.hasFailed() ? std::vector<int>() : orderer.sort();
}
