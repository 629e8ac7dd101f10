//===- Faults.h - What tests expect of reports ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CUDADOUBLE_UNIT_FAULTS_H
#define CUDADOUBLE_UNIT_FAULTS_H

#include "gtest/gtest.h"
#include <algorithm>
#include <string>
#include <vector>

namespace cudadouble {

using Faults = std::vector<std::string>;

/// Whether one of \p faults has \p text in it.
inline testing::AssertionResult has(const Faults &faults, const char *text) {
  bool isThere =
      std::any_of(faults.begin(), faults.end(), [=](const std::string &fault) {
        return fault.find(text) != std::string::npos;
      });
  return (isThere ? testing::AssertionSuccess() : testing::AssertionFailure())
         << testing::PrintToString(faults) << " and '" << text << "'";
}

} // namespace cudadouble

#endif // CUDADOUBLE_UNIT_FAULTS_H
