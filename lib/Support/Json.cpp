//===- Json.cpp - JSON from files that nobody checked
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Support/Json.h"

#include "llvm/ADT/STLExtras.h"

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

bool pipewright::checkKeys(const json::Value &value,
                           ArrayRef<StringRef> required,
                           ArrayRef<StringRef> optional, json::Path path) {
  const json::Object *object = value.getAsObject();
  if (!object) {
    path.report("expected a table");
    return false;
  }
  std::vector<StringRef> keys;
  for (const auto &entry : *object)
    keys.push_back(entry.first);
  llvm::sort(keys); // The table has no order of its own.
  for (StringRef key : keys)
    if (!is_contained(required, key) && !is_contained(optional, key)) {
      path.field(key).report("is not a key that is known");
      return false;
    }
  for (StringRef key : required)
    if (!object->get(key)) {
      path.field(key).report("is missing");
      return false;
    }
  return true;
}

bool pipewright::readNumber(const json::Value &value, json::Path path,
                            bool mayBeZero, double &number) {
  std::optional<double> read = value.getAsNumber();
  if (!read) {
    path.report("expected a number");
    return false;
  }
  number = *read;
  if (number > 0 || (mayBeZero && number == 0))
    return true;
  if (mayBeZero)
    path.report("must be at least 0");
  else
    path.report("must be above 0");
  return false;
}

bool pipewright::readText(const json::Value &value, json::Path path,
                          std::string &text) {
  std::optional<StringRef> read = value.getAsString();
  if (!read || read->empty()) {
    path.report("expected a text");
    return false;
  }
  text = read->str();
  return true;
}
