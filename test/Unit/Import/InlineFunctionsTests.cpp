//===- InlineFunctionsTests.cpp - Small files that ask for much
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InlineFunctions.h"
#include "Proto/Onnx.pb.h"

#include <gtest/gtest.h>

using namespace pipewright::onnx;

/// A model whose function `f<i>` calls `f<i + 1>` \p calls times; the last is
/// one node.
static ModelProto makeChain(int length, int calls) {
  ModelProto model;
  model.add_opset_import()->set_version(18);
  auto addCall = [](NodeProto *node, int callee) {
    node->set_op_type("f" + std::to_string(callee));
    node->add_input("x");
  };
  addCall(model.mutable_graph()->add_node(), 0);
  for (int i = 0; i < length; ++i) {
    FunctionProto *function = model.add_functions();
    function->set_name("f" + std::to_string(i));
    function->add_input("x");
    function->add_opset_import()->set_version(18);
    for (int call = 0; call < calls; ++call)
      addCall(function->add_node(), i + 1);
  }
  return model;
}

static std::vector<std::string> expand(ModelProto &model) {
  return inlineFunctions(model, [](llvm::StringRef) { return false; });
}

TEST(InlineFunctions, ExpandsNestedCalls) {
  ModelProto model = makeChain(/*length=*/3, /*calls=*/2);
  EXPECT_TRUE(expand(model).empty());
  ASSERT_EQ(model.graph().node_size(), 8);
  EXPECT_EQ(model.graph().node(1).name(), "f0_0/f1_0/f2_0/f3_1");
  EXPECT_EQ(model.graph().node(1).input(0), "x");
}

TEST(InlineFunctions, RefusesDeepChains) {
  ModelProto model = makeChain(/*length=*/101, /*calls=*/1);
  EXPECT_EQ(expand(model), std::vector<std::string>{
                               "nests calls of functions deeper than 100"});
  ModelProto shallower = makeChain(/*length=*/100, /*calls=*/1);
  EXPECT_TRUE(expand(shallower).empty());
}

TEST(InlineFunctions, RefusesManyNodes) {
  ModelProto model = makeChain(/*length=*/30, /*calls=*/2);
  // Calls count, even if there is nothing at their ends.
  model.mutable_functions(29)->clear_node();
  EXPECT_EQ(expand(model),
            std::vector<std::string>{
                "has more than 1048576 nodes with those of its functions"});
}
