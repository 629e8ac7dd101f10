//===- WireFormatTests.cpp - Weights are left in the file
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proto/Onnx.pb.h"
#include "WireFormat.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace pipewright::onnx;

/// A model with a tensor in each place where one may be.
static ModelProto makeModel() {
  ModelProto model;
  model.set_ir_version(8);
  GraphProto *graph = model.mutable_graph();
  TensorProto *weight = graph->add_initializer();
  weight->set_name("weight");
  weight->set_data_type(TensorProto::FLOAT);
  weight->add_dims(2);
  weight->set_raw_data("12345678");
  TensorProto *typed = graph->add_initializer();
  typed->set_name("typed");
  typed->set_data_type(TensorProto::FLOAT);
  typed->add_dims(3);
  for (float value : {1.0f, 2.0f, 3.0f})
    typed->add_float_data(value);
  TensorProto *attribute = graph->add_node()->add_attribute()->mutable_t();
  attribute->set_data_type(TensorProto::INT64);
  attribute->add_int64_data(7);
  return model;
}

static ModelProto parseWithoutWeights(const std::string &file) {
  Expected<std::string> copy = copyWithoutWeights(file);
  ModelProto model;
  if (!copy) {
    ADD_FAILURE() << toString(copy.takeError());
    return model;
  }
  EXPECT_TRUE(model.ParseFromString(*copy));
  return model;
}

TEST(WireFormat, LeavesWhatLiesAsInMemory) {
  std::string file = makeModel().SerializeAsString();
  ModelProto model = parseWithoutWeights(file);
  ASSERT_EQ(model.graph().initializer_size(), 2);
  const TensorProto &weight = model.graph().initializer(0);
  EXPECT_FALSE(weight.has_raw_data());
  EXPECT_EQ(file.substr(weight.left_at(), weight.left_bytes()), "12345678");
  const TensorProto &typed = model.graph().initializer(1);
  EXPECT_EQ(typed.float_data_size(), 0);
  EXPECT_EQ(typed.left_bytes(), 12);
}

TEST(WireFormat, KeepsEverythingElse) {
  ModelProto expected = makeModel();
  ModelProto model = parseWithoutWeights(expected.SerializeAsString());
  expected.mutable_graph()->mutable_initializer()->Clear();
  model.mutable_graph()->mutable_initializer()->Clear();
  EXPECT_EQ(model.SerializeAsString(), expected.SerializeAsString());
}

TEST(WireFormat, KeepsFieldsThatItDoesNotKnow) {
  ModelProto expected = makeModel();
  expected.mutable_unknown_fields()->AddLengthDelimited(4711, "later");
  ModelProto model = parseWithoutWeights(expected.SerializeAsString());
  ASSERT_EQ(model.unknown_fields().field_count(), 1);
  EXPECT_EQ(model.unknown_fields().field(0).number(), 4711);
}

TEST(WireFormat, TakesPlacesFromNoOneElse) {
  ModelProto forged = makeModel();
  TensorProto *tensor = forged.mutable_graph()->mutable_initializer(0);
  tensor->clear_raw_data();
  tensor->set_left_at(1 << 20);
  tensor->set_left_bytes(8);
  forged.mutable_graph()->mutable_node(0)->set_opset_version(1);
  ModelProto model = parseWithoutWeights(forged.SerializeAsString());
  EXPECT_FALSE(model.graph().initializer(0).has_left_at());
  EXPECT_FALSE(model.graph().node(0).has_opset_version());
}

TEST(WireFormat, RefusesEveryTruncation) {
  std::string file = makeModel().SerializeAsString();
  int refused = 0;
  for (size_t size = 0; size < file.size(); ++size) {
    Expected<std::string> copy = copyWithoutWeights(file.substr(0, size));
    if (!copy) {
      consumeError(copy.takeError());
      ++refused;
    }
  }
  // Between the model's two fields it is a whole message, and so is nothing.
  EXPECT_EQ(refused, int(file.size()) - 2);
}

TEST(WireFormat, SurvivesEveryChangedByte) {
  std::string file = makeModel().SerializeAsString();
  for (size_t i = 0; i < file.size(); ++i) {
    for (int value = 0; value < 256; ++value) {
      std::string changed = file;
      changed[i] = char(value);
      Expected<std::string> copy = copyWithoutWeights(changed);
      if (!copy)
        consumeError(copy.takeError());
    }
  }
}

TEST(WireFormat, RefusesDeepNesting) {
  GraphProto graph;
  for (int depth = 0; depth < 60; ++depth) {
    GraphProto outer;
    *outer.add_node()->add_attribute()->mutable_g() = std::move(graph);
    graph = std::move(outer);
  }
  ModelProto model;
  *model.mutable_graph() = std::move(graph);
  Expected<std::string> copy = copyWithoutWeights(model.SerializeAsString());
  ASSERT_FALSE(bool(copy));
  EXPECT_NE(toString(copy.takeError()).find("deeper than 100"),
            std::string::npos);
}
