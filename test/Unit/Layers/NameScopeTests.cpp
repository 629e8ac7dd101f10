//===- NameScopeTests.cpp - Layers in the names of nodes
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Layers/NameScope.h"

#include "gtest/gtest.h"

using namespace pipewright;

/// The layer of \p name in a model whose nodes are \p names.
static std::string layerOf(llvm::StringRef name,
                           std::initializer_list<llvm::StringRef> names) {
  ScopeLevels levels;
  for (llvm::StringRef other : names)
    levels.add(NameScope(other));
  NameScope scope(name);
  std::optional<size_t> length = levels.findLayer(scope);
  return length ? scope.str(*length) : "none";
}

TEST(NameScope, WritesThePathsOfAllExportersAlike) {
  for (llvm::StringRef name :
       {"/transformer/h.3/MatMul", "transformer.h.3.weight",
        "transformer/h/3/MatMul_12"})
    EXPECT_EQ(NameScope(name).str(), "transformer/h.3") << name.str();
}

TEST(NameScope, FlatNamesHaveNone) {
  EXPECT_TRUE(NameScope("MatMul_27").empty());
  EXPECT_TRUE(NameScope("").empty());
  EXPECT_TRUE(NameScope("/Add").empty());
}

TEST(ScopeLevels, ANumberMayBePartOfAComponent) {
  EXPECT_EQ(layerOf("bert/encoder/layer_1/output/add",
                    {"bert/encoder/layer_0/x", "bert/encoder/layer_1/x"}),
            "bert/encoder/layer_1");
}

TEST(ScopeLevels, TheOutermostRepeatedContainerCounts) {
  std::initializer_list<llvm::StringRef> names = {
      "0.encoder.layer.0.experts.0.weight",
      "0.encoder.layer.0.experts.1.weight",
      "0.encoder.layer.1.experts.0.weight"};
  EXPECT_EQ(layerOf("0.encoder.layer.1.experts.0.weight", names),
            "0/encoder/layer.1");
  EXPECT_EQ(layerOf("0.pooler.weight", names), "none");
}

TEST(ScopeLevels, ASingleEntryCountsWhereNothingRepeats) {
  EXPECT_EQ(layerOf("h.0/MatMul", {"h.0/MatMul", "wte/Gather"}), "h.0");
}
