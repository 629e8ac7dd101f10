//===- DeviceModel.cpp - How long work takes on a device
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Cost/DeviceModel.h"

#include <algorithm>

using namespace pipewright;

double DeviceModel::seconds(const Work &work) const {
  double computing = work.flops / flopsPerSecond;
  double moving = (work.bytesRead + work.bytesWritten) / bytesPerSecond;
  return std::max(computing, moving) + launchSeconds;
}
