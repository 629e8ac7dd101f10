//===- Messages.cpp - Messages between devices ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Messages.h"

using namespace pprt::cuda;

Messages::~Messages() = default;
