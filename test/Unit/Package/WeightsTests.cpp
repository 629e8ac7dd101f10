//===- WeightsTests.cpp - Initial values in safetensors
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Package/Weights.h"

#include "pipewright/Dialect/PP/PP.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace mlir;
using namespace pipewright;

namespace {

class WeightsTest : public testing::Test {
protected:
  WeightsTest() {
    context.loadDialect<pp::PPDialect>();
    llvm::sys::fs::createTemporaryFile("weights", "safetensors", output);
    llvm::sys::fs::createTemporaryFile("weights", "bin", data);
  }
  ~WeightsTest() override {
    llvm::sys::fs::remove(output);
    llvm::sys::fs::remove(data);
  }

  LogicalResult write(llvm::StringRef text) {
    auto module = parseSourceString<ModuleOp>(text, &context);
    return module ? writeWeights(*module, output) : failure();
  }

  /// The bytes of a tensor in the output, found through the header.
  std::string read(llvm::StringRef name) {
    auto file = llvm::MemoryBuffer::getFile(output);
    llvm::StringRef content = (*file)->getBuffer();
    uint64_t length;
    memcpy(&length, content.data(), sizeof(length));
    EXPECT_EQ((length + 8) % 64, 0u);
    auto header = llvm::json::parse(content.substr(8, length));
    llvm::json::Array *offsets =
        header->getAsObject()->getObject(name)->getArray("data_offsets");
    int64_t begin = *(*offsets)[0].getAsInteger();
    int64_t end = *(*offsets)[1].getAsInteger();
    return content.substr(8 + length + begin, end - begin).str();
  }

  MLIRContext context;
  llvm::SmallString<128> output, data;
};

} // namespace

TEST_F(WeightsTest, WritesInlineValuesSplatsAndBools) {
  ASSERT_TRUE(succeeded(write(R"(
    pp.parameter @"a/b:0" : tensor<2xi16> = dense<[1, 258]> : tensor<2xi16>
    pp.parameter @splat : tensor<3xf32> = dense<1.0> : tensor<3xf32>
    pp.parameter @mask : tensor<3xi1> = dense<[true, false, true]> : tensor<3xi1>
  )")));
  EXPECT_EQ(read("a/b:0"), std::string("\x01\x00\x02\x01", 4));
  std::string one("\x00\x00\x80\x3f", 4);
  EXPECT_EQ(read("splat"), one + one + one);
  EXPECT_EQ(read("mask"), std::string("\x01\x00\x01", 3));
}

TEST_F(WeightsTest, WritesAllShards) {
  ASSERT_TRUE(succeeded(write(R"(
    pp.parameter @w shards 2 : tensor<1x2xi8> = dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>
    pp.parameter @next : tensor<1xi8> = dense<5> : tensor<1xi8>
  )")));
  EXPECT_EQ(read("w"), "\x01\x02\x03\x04");
  EXPECT_EQ(read("next"), "\x05");
  auto file = llvm::MemoryBuffer::getFile(output);
  EXPECT_NE((*file)->getBuffer().find("\"shape\":[2,2]"),
            llvm::StringRef::npos);
}

// Every number of 16 bits is one of f32: normal, subnormal, infinite or none.
TEST_F(WeightsTest, ConvertsToMasters) {
  const uint16_t stored[] = {0x3FC0, 0x0001, 0xFF80, 0x3E00, 0x8001, 0x7C00};
  std::error_code error;
  llvm::raw_fd_ostream(data, error) << llvm::StringRef(
      reinterpret_cast<const char *>(stored), sizeof(stored));
  std::string file = data.str().str();
  ASSERT_TRUE(succeeded(
      write("pp.parameter @b : tensor<3xf32> = #pp.external<\"" + file +
            "\", offset = 0, length = 6, stored = bf16>\n"
            "pp.parameter @h : tensor<3xf32> = #pp.external<\"" +
            file + "\", offset = 6, length = 6, stored = f16>")));
  auto readFloats = [&](llvm::StringRef name) {
    std::vector<float> values(3);
    std::string bytes = read(name);
    EXPECT_EQ(bytes.size(), 12u);
    memcpy(values.data(), bytes.data(), 12);
    return values;
  };
  EXPECT_EQ(readFloats("b"), std::vector<float>({1.5f, 0x1p-133f, -INFINITY}));
  EXPECT_EQ(readFloats("h"), std::vector<float>({1.5f, -0x1p-24f, INFINITY}));
}

TEST_F(WeightsTest, CopiesARangeOfAnotherFile) {
  std::error_code error;
  llvm::raw_fd_ostream(data, error) << "..12345678..";
  ASSERT_TRUE(
      succeeded(write(("pp.parameter @w : tensor<2xf32> = #pp.external<\"" +
                       data + "\", offset = 2, length = 8>")
                          .str())));
  EXPECT_EQ(read("w"), "12345678");
}

TEST_F(WeightsTest, SaysWhereAFileEndsTooEarly) {
  std::error_code error;
  llvm::raw_fd_ostream(data, error) << "..1234";
  std::string message;
  ScopedDiagnosticHandler handler(
      &context, [&](Diagnostic &diagnostic) { message = diagnostic.str(); });
  EXPECT_TRUE(
      failed(write(("pp.parameter @w : tensor<2xf32> = #pp.external<\"" + data +
                    "\", offset = 2, length = 8>")
                       .str())));
  EXPECT_EQ(message, ("cannot read the values of 'w' from '" + data +
                      "': it ends after 4 of 8 bytes")
                         .str());
}
