//===- Json.h - JSON from files that nobody checked -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_SUPPORT_JSON_H
#define PIPEWRIGHT_SUPPORT_JSON_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/JSON.h"

namespace pipewright {

/// Reads \p text. Refuses, besides what is not JSON, lists and objects that are
/// nested so deeply that llvm::json::parse, which is recursive, would run out
/// of stack.
llvm::Expected<llvm::json::Value> parseJson(llvm::StringRef text);

/// Whether \p value is an object with all \p required keys and otherwise only
/// \p optional ones; reports the first fault at \p path.
bool checkKeys(const llvm::json::Value &value,
               llvm::ArrayRef<llvm::StringRef> required,
               llvm::ArrayRef<llvm::StringRef> optional, llvm::json::Path path);

/// Reads a number above 0, or of at least 0 if it \p mayBeZero; reports the
/// fault at \p path.
bool readNumber(const llvm::json::Value &value, llvm::json::Path path,
                bool mayBeZero, double &number);

/// Reads a text that is not empty; reports the fault at \p path.
bool readText(const llvm::json::Value &value, llvm::json::Path path,
              std::string &text);

} // namespace pipewright

#endif // PIPEWRIGHT_SUPPORT_JSON_H
