//===- SuiteTypesTests.cpp - Types against ONNX's own inference
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each value of each model of ONNX's tests that we import has at least as
// precise a type as ONNX's own shape inference gives it; make_suite_types.py
// says how those were found.
//
//===----------------------------------------------------------------------===//

#include "ModelTest.h"
#include "Tensors.h"

#include "pipewright/Import/Import.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace pipewright;

namespace {
/// A type as far as inference knows it.
struct InferredType {
  int64_t dataType = 0;
  SmallVector<StringRef> sizes; ///< "?" for one that is not known
};

class SuiteTypes : public ModelTest {
protected:
  void check(const std::string &name, const InferredType &inferred);

  ImportNotes notes;
  int64_t values = 0, models = 0, refused = 0;
};
} // namespace

/// Reads `elements:2,3`.
static InferredType parseType(StringRef text) {
  InferredType type;
  auto [dataType, sizes] = text.split(':');
  EXPECT_FALSE(dataType.getAsInteger(10, type.dataType)) << text.str();
  sizes.split(type.sizes, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  return type;
}

/// The results of all nodes of \p model, in their order.
static std::vector<std::string> listResults(const onnx::ModelProto &model) {
  std::vector<std::string> names;
  for (const onnx::NodeProto &node : model.graph().node())
    for (const std::string &name : node.output())
      if (!name.empty())
        names.push_back(name);
  return names;
}

void SuiteTypes::check(const std::string &name, const InferredType &inferred) {
  SCOPED_TRACE(name);
  auto ours = notes.types.find(name);
  ASSERT_NE(ours, notes.types.end()) << "has no type";
  RankedTensorType type = ours->second;
  ++values;
  if (Type element = convertElementType(inferred.dataType, &context))
    EXPECT_EQ(type.getElementType(), element);
  ASSERT_EQ(size_t(type.getRank()), inferred.sizes.size());
  for (auto [actual, expected] :
       llvm::zip_equal(type.getShape(), inferred.sizes))
    if (expected != "?")
      EXPECT_EQ(std::to_string(actual), expected);
}

TEST_F(SuiteTypes, AreAsPreciseAsOnnxs) {
  auto buffer = llvm::MemoryBuffer::getFile(PIPEWRIGHT_SUITE_TYPES);
  ASSERT_TRUE(buffer) << "cannot read " << PIPEWRIGHT_SUITE_TYPES;
  for (StringRef line : llvm::split((*buffer)->getBuffer(), '\n')) {
    if (line.empty() || line.starts_with("#"))
      continue;
    SmallVector<StringRef> fields;
    line.split(fields, '\t');
    SCOPED_TRACE(fields.front().str());
    std::optional<SuiteTest> test =
        SuiteTest::read(getSuite() + "/" + fields.front().str());
    ASSERT_TRUE(test) << "is not in " << getSuite();
    notes = ImportNotes();
    if (!importEither(*test, &notes)) {
      ++refused;
      continue;
    }
    ++models;
    for (auto [name, type] : llvm::zip_equal(listResults(test->model),
                                             ArrayRef(fields).drop_front()))
      if (type != "-")
        check(name, parseType(type));
  }
  llvm::outs() << "types of " << values << " values of " << models
               << " models are as precise as ONNX's; " << refused
               << " models are refused\n";
  EXPECT_GE(models, 900);
}
