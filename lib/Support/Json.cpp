//===- Json.cpp - JSON from files that nobody checked
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Support/Json.h"

using namespace llvm;
using namespace pipewright;

/// Far deeper than any of our files.
static constexpr int maxDepth = 100;

/// Whether brackets outside of strings are nested more deeply than maxDepth.
static bool isTooDeep(StringRef text) {
  int depth = 0;
  bool isInString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '"')
      isInString = !isInString;
    else if (isInString)
      i += c == '\\';
    else if ((c == '[' || c == '{') && ++depth > maxDepth)
      return true;
    else if (c == ']' || c == '}')
      --depth;
  }
  return false;
}

Expected<json::Value> pipewright::parseJson(StringRef text) {
  if (isTooDeep(text))
    return createStringError("lists and objects are nested more than " +
                             Twine(maxDepth) + " deep");
  return json::parse(text);
}
