//===- DeviceModelTests.cpp - The roofline model
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Cost/DeviceModel.h"

#include "gtest/gtest.h"

using namespace pipewright;

TEST(DeviceModel, IsBoundByTheSlowerOfArithmeticAndMemory) {
  DeviceModel device{/*flopsPerSecond=*/100, /*bytesPerSecond=*/10,
                     /*launchSeconds=*/0.5};
  EXPECT_DOUBLE_EQ(
      device.seconds({/*flops=*/400, /*bytesRead=*/10, /*bytesWritten=*/10}),
      4.5);
  EXPECT_DOUBLE_EQ(
      device.seconds({/*flops=*/100, /*bytesRead=*/40, /*bytesWritten=*/20}),
      6.5);
}
