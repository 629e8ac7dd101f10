//===- Device.cpp - What computes a rank's tasks --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device.h"

using namespace pprt;

Device::~Device() = default;
