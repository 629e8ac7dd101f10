//===- LoadCudnnTests.cpp - Whether cuDNN is on the machine ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cudnn.h"

#include "gtest/gtest.h"
#include <cstdlib>

using namespace pprt::cuda;

TEST(LoadCudnnDeathTest, SaysWhatToDoWithoutTheLibrary) {
  setenv("PIPEWRIGHT_CUDNN", "/nowhere/libcudnn.so.9", /*overwrite=*/1);
  EXPECT_EXIT(
      getCudnn(), testing::ExitedWithCode(3),
      "cannot load cuDNN, which computes convolutions, pooling and attention: "
      "/nowhere/libcudnn.so.9: .*; install cuDNN 9, name its "
      "libcudnn.so.9 in PIPEWRIGHT_CUDNN, or build with "
      "'--convolutions kernels' and '--attention kernels'");
}

// The library of mathematical functions is one without convolutions.
TEST(LoadCudnnDeathTest, SaysWhichFunctionALibraryLacks) {
  setenv("PIPEWRIGHT_CUDNN", "libm.so.6", /*overwrite=*/1);
  EXPECT_EXIT(getCudnn(), testing::ExitedWithCode(3),
              "cannot load cuDNN.*cudnnGetVersion");
}
