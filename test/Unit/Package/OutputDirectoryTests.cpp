//===- OutputDirectoryTests.cpp - Whole or not at all
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Package/OutputDirectory.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace pipewright;

namespace {

class OutputDirectoryTest : public testing::Test {
protected:
  OutputDirectoryTest() {
    sys::fs::createUniqueDirectory("output", parent);
    target = parent;
    sys::path::append(target, "out");
  }
  ~OutputDirectoryTest() override { sys::fs::remove_directories(parent); }

  /// How many entries the parent folder has.
  int countEntries() {
    std::error_code error;
    int count = 0;
    for (sys::fs::directory_iterator it(parent, error), end; it != end;
         it.increment(error))
      ++count;
    return count;
  }

  SmallString<128> parent, target;
};

} // namespace

TEST_F(OutputDirectoryTest, AppearsWithAllItsFilesOnCommit) {
  Expected<OutputDirectory> directory = OutputDirectory::create(target, false);
  ASSERT_TRUE(bool(directory));
  ASSERT_FALSE(bool(directory->makeDirectory("bin")));
  ASSERT_FALSE(bool(directory->writeFile("bin/run", "x", true)));
  EXPECT_FALSE(sys::fs::exists(target));
  ASSERT_FALSE(bool(directory->commit()));
  EXPECT_TRUE(sys::fs::can_execute(target + "/bin/run"));
  EXPECT_EQ(countEntries(), 1);
}

TEST_F(OutputDirectoryTest, LeavesNothingWithoutCommit) {
  {
    Expected<OutputDirectory> directory =
        OutputDirectory::create(target, false);
    ASSERT_TRUE(bool(directory));
    ASSERT_FALSE(bool(directory->writeFile("file", "x")));
  }
  EXPECT_EQ(countEntries(), 0);
}

TEST_F(OutputDirectoryTest, ReplacesAnOldOneOnlyByForce) {
  sys::fs::create_directory(target);
  Expected<OutputDirectory> refused = OutputDirectory::create(target, false);
  ASSERT_FALSE(bool(refused));
  EXPECT_EQ(toString(refused.takeError()),
            ("'" + target + "' exists; give '--force' to replace it").str());

  Expected<OutputDirectory> directory = OutputDirectory::create(target, true);
  ASSERT_TRUE(bool(directory));
  ASSERT_FALSE(bool(directory->writeFile("new", "x")));
  ASSERT_FALSE(bool(directory->commit()));
  EXPECT_TRUE(sys::fs::exists(target + "/new"));
  EXPECT_EQ(countEntries(), 1);
}

TEST_F(OutputDirectoryTest, KeepsWhatIsNeeded) {
  std::string model = (target + "/model.onnx").str();
  // Its name only begins like that of the directory.
  std::string neighbour = (target + "2").str();
  sys::fs::create_directory(target);
  sys::fs::create_directory(neighbour);
  ASSERT_FALSE(sys::fs::create_directory(model));
  EXPECT_EQ(
      toString(OutputDirectory::check(target, true, {neighbour, model})),
      ("'" + target + "' cannot be replaced: it holds '" + model + "'").str());
  EXPECT_FALSE(bool(OutputDirectory::check(target, true, {neighbour})));
}
