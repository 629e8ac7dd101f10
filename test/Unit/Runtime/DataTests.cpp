//===- DataTests.cpp - Samples, tokens and weights ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Launch.h"
#include "data/Npy.h"
#include "data/OutputWriter.h"
#include "data/Permutation.h"
#include "data/Safetensors.h"
#include "data/WriteFile.h"
#include "pprt/Data.h"

#include <gtest/gtest.h>
#include <set>

using namespace pprt;

namespace {
class DataTest : public testing::Test {
protected:
  /// Writes an array of any element type.
  template <typename T>
  void write(const std::string &name, PprtDtype dtype,
             const std::vector<int64_t> &shape, const std::vector<T> &values) {
    std::string content = formatNpyHeader(dtype, shape);
    content.append(reinterpret_cast<const char *>(values.data()),
                   values.size() * sizeof(T));
    writeText(name, content);
  }
  void writeText(const std::string &name, const std::string &content) {
    ASSERT_FALSE(writeFile(folder.getPath(name), content).failed());
  }

  static InputSpec makeInput(const std::string &name, PprtDtype dtype,
                             std::vector<int64_t> shape) {
    InputSpec input;
    input.name = name;
    input.dtype = dtype;
    input.shape = std::move(shape);
    return input;
  }

  /// Opens and validates; returns the error, with the folder's name removed.
  std::string open(std::vector<std::string> files, int64_t steps = 1) {
    for (std::string &file : files) {
      size_t equals = file.find('=');
      size_t position = equals == std::string::npos ? 0 : equals + 1;
      file.insert(position, folder.getPath(""));
    }
    options.files = files;
    Status status = Dataset::open(options, inputs, batch, dataset);
    if (!status.failed())
      status = dataset->validate(steps);
    std::string message = status.getMessage();
    std::string prefix = folder.getPath("");
    for (size_t at; (at = message.find(prefix)) != std::string::npos;)
      message.erase(at, prefix.size());
    return message;
  }

  template <typename T>
  std::vector<T> fill(size_t input, int64_t step, int64_t microbatch) {
    std::vector<T> values(countElements(inputs[input].shape));
    dataset->fill(input, step, microbatch, values.data());
    return values;
  }

  TemporaryFolder folder;
  DataOptions options;
  std::vector<InputSpec> inputs;
  BatchShape batch = {2, 2};
  std::unique_ptr<Dataset> dataset;
};
using Longs = std::vector<int64_t>;
using Floats = std::vector<float>;
} // namespace

TEST_F(DataTest, SamplesAreSequentialAndWrapAround) {
  inputs = {makeInput("x", PPRT_F32, {2})};
  write<float>("x.npy", PPRT_F32, {5}, {0, 1, 2, 3, 4});
  ASSERT_EQ(open({"x.npy"}), "");
  EXPECT_EQ(fill<float>(0, 0, 0), (Floats{0, 1}));
  EXPECT_EQ(fill<float>(0, 0, 1), (Floats{2, 3}));
  EXPECT_EQ(fill<float>(0, 1, 0), (Floats{4, 0}));
  EXPECT_EQ(fill<float>(0, 1, 1), (Floats{1, 2}));
}

TEST_F(DataTest, EpochsArePermutedBySeed) {
  inputs = {makeInput("x", PPRT_F32, {2})};
  Floats values(100);
  for (int i = 0; i < 100; ++i)
    values[i] = float(i);
  write("x.npy", PPRT_F32, {100}, values);
  options.shuffle = true;
  std::vector<Floats> orders;
  for (uint64_t seed : {1, 1, 2}) {
    options.seed = seed;
    ASSERT_EQ(open({"x.npy"}), "");
    for (int64_t epoch = 0; epoch < 2; ++epoch) {
      Floats order;
      for (int64_t step = epoch * 25; step < (epoch + 1) * 25; ++step)
        for (int64_t microbatch = 0; microbatch < 2; ++microbatch)
          for (float value : fill<float>(0, step, microbatch))
            order.push_back(value);
      EXPECT_EQ(std::set<float>(order.begin(), order.end()).size(), 100u);
      orders.push_back(order);
    }
  }
  EXPECT_EQ(orders[0], orders[2]);
  EXPECT_NE(orders[0], orders[1]);
  EXPECT_NE(orders[0], orders[4]);
  EXPECT_NE(orders[0], values);
}

TEST_F(DataTest, SamplesLieAlongAnyAxis) {
  inputs = {makeInput("x", PPRT_F32, {2, 2})};
  inputs[0].axis = 1;
  write<float>("x.npy", PPRT_F32, {2, 4}, {0, 1, 2, 3, 10, 11, 12, 13});
  ASSERT_EQ(open({"x.npy"}), "");
  EXPECT_EQ(fill<float>(0, 0, 1), (Floats{2, 3, 12, 13}));
}

// Labels of whole sequences may be flat: three elements a sample here.
TEST_F(DataTest, SampleHasSeveralSlices) {
  inputs = {makeInput("x", PPRT_F32, {6})};
  Floats values(12);
  for (int i = 0; i < 12; ++i)
    values[i] = float(i);
  write("x.npy", PPRT_F32, {12}, values);
  ASSERT_EQ(open({"x.npy"}), "");
  EXPECT_EQ(dataset->getSampleCount(), 4);
  EXPECT_EQ(fill<float>(0, 0, 1), (Floats{6, 7, 8, 9, 10, 11}));
}

TEST_F(DataTest, ReplicatedInputIsWhole) {
  inputs = {makeInput("x", PPRT_F32, {2}), makeInput("table", PPRT_F32, {3})};
  inputs[1].axis = -1;
  write<float>("x.npy", PPRT_F32, {4}, {0, 1, 2, 3});
  write<float>("table.npy", PPRT_F32, {3}, {7, 8, 9});
  ASSERT_EQ(open({"x=x.npy", "table=table.npy"}), "");
  EXPECT_EQ(fill<float>(1, 5, 1), (Floats{7, 8, 9}));
}

TEST_F(DataTest, TextIsCutIntoWindows) {
  inputs = {makeInput("input_ids", PPRT_I64, {2, 3}),
            makeInput("attention_mask", PPRT_I64, {2, 3}),
            makeInput("position_ids", PPRT_I64, {2, 3}),
            makeInput("labels", PPRT_I64, {2, 3})};
  inputs[3].labelClasses = 256;
  // 4 windows of 3 and the token after the last.
  writeText("text", "abcdefghijklm");
  ASSERT_EQ(open({"text"}), "");
  EXPECT_EQ(dataset->getSampleCount(), 4);
  EXPECT_EQ(fill<int64_t>(0, 0, 1), (Longs{'g', 'h', 'i', 'j', 'k', 'l'}));
  EXPECT_EQ(fill<int64_t>(3, 0, 1), (Longs{'h', 'i', 'j', 'k', 'l', 'm'}));
  EXPECT_EQ(fill<int64_t>(1, 0, 0), (Longs{1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(fill<int64_t>(2, 0, 0), (Longs{0, 1, 2, 0, 1, 2}));
}

TEST_F(DataTest, BinaryTokensAreUnsigned) {
  batch = {1, 1};
  inputs = {makeInput("ids", PPRT_I64, {1, 2})};
  writeText("tokens.bin", std::string("\xff\xff\x01\x00\x02\x00", 6));
  ASSERT_EQ(open({"tokens.bin"}), "");
  EXPECT_EQ(fill<int64_t>(0, 0, 0), (Longs{65535, 1}));
}

TEST_F(DataTest, TokensOutsideTheVocabulary) {
  batch = {1, 1};
  inputs = {makeInput("ids", PPRT_I64, {1, 2})};
  inputs[0].indexLimit = 100;
  writeText("text", "A!BxC");
  EXPECT_EQ(open({"text"}, 1), "");
  EXPECT_EQ(open({"text"}, 2), "'text' for input 'ids': sample 1 has index "
                               "120, which is not in [0, 100)");
}

TEST_F(DataTest, LabelsOutsideTheClasses) {
  inputs = {makeInput("y", PPRT_I64, {2})};
  inputs[0].labelClasses = 10;
  inputs[0].ignoreIndex = -100;
  write<int64_t>("y.npy", PPRT_I64, {6}, {0, 9, -100, 1, 10, 2});
  EXPECT_EQ(open({"y.npy"}, 1), "");
  EXPECT_EQ(open({"y.npy"}, 2),
            "'y.npy' for input 'y': sample 4 has label 10, which is not in "
            "[0, 10) and not the ignored label -100");
}

TEST_F(DataTest, WrongElementType) {
  inputs = {makeInput("x", PPRT_F32, {2})};
  write<int64_t>("x.npy", PPRT_I64, {4}, {0, 1, 2, 3});
  EXPECT_EQ(open({"x.npy"}), "'x.npy' for input 'x' has elements of type i64, "
                             "but the input's are f32");
}

/// A file whose numbers NumPy calls \p name.
static std::string makeFile(PprtDtype dtype, const std::string &signedName,
                            const std::string &name, std::string elements) {
  std::string content = formatNpyHeader(dtype, {int64_t(elements.size()) / 2});
  content.replace(content.find(signedName), signedName.size(), name);
  return content + elements;
}

TEST_F(DataTest, UnsignedIntegersFitWiderTypes) {
  // 65535, 1, 32768 and 258.
  std::string elements("\xff\xff\x01\x00\x00\x80\x02\x01", 8);
  writeText("x.npy", makeFile(PPRT_I16, "<i2", "<u2", elements));
  for (PprtDtype dtype : {PPRT_I32, PPRT_I64}) {
    inputs = {makeInput("x", dtype, {2})};
    ASSERT_EQ(open({"x.npy"}), "");
    std::vector<int64_t> values;
    for (int64_t microbatch : {0, 1})
      for (int i : {0, 1})
        values.push_back(dtype == PPRT_I32
                             ? fill<int32_t>(0, 0, microbatch)[i]
                             : fill<int64_t>(0, 0, microbatch)[i]);
    EXPECT_EQ(values, Longs({65535, 1, 32768, 258}));
  }
  inputs = {makeInput("x", PPRT_I16, {2})};
  EXPECT_EQ(open({"x.npy"}), "'x.npy' for input 'x' has elements of type u16, "
                             "but the input's are i16");
  inputs = {makeInput("x", PPRT_I64, {2})};
  inputs[0].indexLimit = 40000;
  EXPECT_EQ(open({"x.npy"}), "'x.npy' for input 'x': sample 0 has index 65535, "
                             "which is not in [0, 40000)");
}

TEST_F(DataTest, WrongShape) {
  inputs = {makeInput("x", PPRT_F32, {2, 3})};
  write<float>("x.npy", PPRT_F32, {4, 2}, Floats(8));
  EXPECT_EQ(open({"x.npy"}),
            "'x.npy' for input 'x' has shape 4x2, but the input's is 2x3 for a "
            "micro-batch, with samples along axis 0");
}

TEST_F(DataTest, OneSampleIsEnough) {
  inputs = {makeInput("x", PPRT_F32, {2})};
  write<float>("x.npy", PPRT_F32, {1}, {7});
  ASSERT_EQ(open({"x.npy"}), "");
  EXPECT_EQ(fill<float>(0, 0, 0), (Floats{7, 7}));
  EXPECT_EQ(fill<float>(0, 3, 1), (Floats{7, 7}));
}

TEST_F(DataTest, NoSample) {
  inputs = {makeInput("x", PPRT_F32, {2})};
  write<float>("x.npy", PPRT_F32, {0}, {});
  EXPECT_EQ(open({"x.npy"}), "'x.npy' is too short for even one sample");
}

TEST_F(DataTest, UnequalSampleCounts) {
  inputs = {makeInput("x", PPRT_F32, {2}), makeInput("y", PPRT_F32, {2})};
  inputs[1].read = false;
  write<float>("x.npy", PPRT_F32, {4}, Floats(4));
  write<float>("y.npy", PPRT_F32, {5}, Floats(5));
  EXPECT_EQ(open({"x=x.npy", "y=y.npy"}),
            "'x.npy' has 4 samples, but 'y.npy' has 5");
}

TEST_F(DataTest, MissingInput) {
  inputs = {makeInput("x", PPRT_F32, {2}), makeInput("y", PPRT_F32, {2})};
  write<float>("x.npy", PPRT_F32, {4}, Floats(4));
  EXPECT_EQ(open({"x=x.npy"}), "input 'y' (f32, 2 a micro-batch) has no data; "
                               "give it with --data y=FILE.npy");
  inputs[1].read = false;
  EXPECT_EQ(open({"x=x.npy"}), "");
}

TEST_F(DataTest, UnknownInput) {
  inputs = {makeInput("x", PPRT_F32, {2})};
  options.files = {"z=x.npy"};
  Status status = Dataset::open(options, inputs, batch, dataset);
  EXPECT_EQ(status.getMessage(),
            "no input 'z' for '--data z=x.npy'; the inputs are 'x'");
}

TEST_F(DataTest, BrokenArrays) {
  inputs = {makeInput("x", PPRT_F32, {2})};
  writeText("empty.npy", "");
  EXPECT_EQ(open({"empty.npy"}), "'empty.npy' is not a .npy file");
  write<float>("short.npy", PPRT_F32, {4}, Floats(3));
  EXPECT_EQ(open({"short.npy"}), "'short.npy' has 12 bytes of elements, but "
                                 "its shape needs 16");
  EXPECT_EQ(open({"absent.npy"}),
            "cannot read 'absent.npy': No such file or directory");
}

// Two micro-batches of [2, 1, 2] give [2, 2, 2] along axis 1.
TEST_F(DataTest, OutputsFollowEachOtherAlongAnyAxis) {
  const int64_t shape[] = {2, 1, 2};
  PprtOutput output = {{"y", PPRT_F32, 3, shape, 16}, /*axis=*/1, /*buffer=*/0};
  PprtDescriptor descriptor = {};
  descriptor.outputCount = 1;
  descriptor.outputs = &output;
  std::unique_ptr<OutputWriter> writer;
  ASSERT_FALSE(OutputWriter::create(folder.getPath("out"), descriptor,
                                    /*microbatches=*/2, writer)
                   .failed());
  writer->append(0, Floats{0, 1, 10, 11}.data());
  writer->append(0, Floats{2, 3, 12, 13}.data());
  ASSERT_FALSE(writer->finish().failed());
  write<float>("y.npy", PPRT_F32, {2, 2, 2}, {0, 1, 2, 3, 10, 11, 12, 13});
  EXPECT_EQ(readFile(folder.getPath("out/y.npy")),
            readFile(folder.getPath("y.npy")));
}

TEST(Permutation, HitsEachIndexOnce) {
  for (int64_t size : {1, 2, 3, 16, 17, 1000}) {
    std::set<int64_t> images;
    for (int64_t i = 0; i < size; ++i)
      images.insert(permute(i, size, /*key=*/7));
    EXPECT_EQ(int64_t(images.size()), size);
    EXPECT_GE(*images.begin(), 0);
    EXPECT_LT(*images.rbegin(), size);
  }
}

TEST_F(DataTest, SafetensorsReadBack) {
  SafetensorsIndex index;
  index["b"] = {PPRT_F32, {2, 3}, 0, 24};
  index["a"] = {PPRT_I64, {}, 0, 8};
  std::string content = layOutSafetensors(index);
  EXPECT_EQ(content.size() % 64, 0u);
  EXPECT_EQ(index["a"].offset, content.size());
  writeText("w", content + std::string(32, 'x'));
  SafetensorsIndex read;
  ASSERT_EQ(readSafetensorsIndex(folder.getPath("w"), read).getMessage(), "");
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(read["b"].shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(read["b"].offset, index["b"].offset);
}

TEST_F(DataTest, BrokenSafetensors) {
  auto read = [&](const std::string &header) {
    uint64_t length = header.size();
    writeText("w", std::string(reinterpret_cast<char *>(&length), 8) + header +
                       "12345678");
    SafetensorsIndex index;
    std::string message =
        readSafetensorsIndex(folder.getPath("w"), index).getMessage();
    return message.substr(std::min(message.size(), message.rfind("w'")));
  };
  EXPECT_EQ(read(R"({"t":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})"),
            "");
  EXPECT_EQ(read(R"({"t":{"dtype":"F32","shape":[3],"data_offsets":[0,12]}})"),
            "w': tensor 't' occupies bytes 0 to 12 of 8");
  EXPECT_EQ(read(R"({"t":{"dtype":"F32","shape":[1],"data_offsets":[0,8]}})"),
            "w': tensor 't' has 8 bytes, which is not 1 of f32");
  EXPECT_EQ(read(R"({"t":{"dtype":"U7","shape":[1],"data_offsets":[0,8]}})"),
            "w': tensor 't' has element type 'U7', which is not supported");
  EXPECT_EQ(read("{\"t\":"), "w' is not a safetensors file: its header is not "
                             "a JSON object");
}
