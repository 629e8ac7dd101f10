//===- Json.h - JSON from files that nobody checked -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_SUPPORT_JSON_H
#define PIPEWRIGHT_SUPPORT_JSON_H

#include "llvm/Support/JSON.h"

namespace pipewright {

/// Reads \p text. Refuses, besides what is not JSON, lists and objects that are
/// nested so deeply that llvm::json::parse, which is recursive, would run out
/// of stack.
llvm::Expected<llvm::json::Value> parseJson(llvm::StringRef text);

} // namespace pipewright

#endif // PIPEWRIGHT_SUPPORT_JSON_H
