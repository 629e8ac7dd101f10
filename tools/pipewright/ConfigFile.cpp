//===- ConfigFile.cpp - Options from a file
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConfigFile.h"

#include "pipewright/Support/TableFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace pipewright;

/// A value as it would stand on the command line, or nothing if it cannot.
static std::optional<std::string> formatValue(const json::Value &value) {
  if (auto text = value.getAsString())
    return text->str();
  if (auto number = value.getAsInteger())
    return std::to_string(*number);
  // With all of its digits.
  if (value.getAsNumber())
    return formatv("{0}", value).str();
  std::vector<std::string> parts;
  if (const json::Array *list = value.getAsArray()) {
    for (const json::Value &element : *list) {
      std::optional<std::string> part = formatValue(element);
      if (!part)
        return std::nullopt;
      parts.push_back(*part);
    }
    return join(parts, ",");
  }
  if (const json::Object *table = value.getAsObject()) {
    for (const auto &[key, element] : *table) {
      std::optional<std::string> part = formatValue(element);
      if (!part)
        return std::nullopt;
      parts.push_back((StringRef(key) + "=" + *part).str());
    }
    llvm::sort(parts); // The table has no order of its own.
    return join(parts, ",");
  }
  return std::nullopt;
}

Expected<std::vector<ConfigEntry>> pipewright::readConfigFile(StringRef path) {
  Expected<json::Value> value = readTableFile(path);
  if (!value)
    return value.takeError();
  const json::Object *options = value->getAsObject();
  if (!options)
    return createStringError(path + ": is not a table of options");

  std::vector<ConfigEntry> entries;
  for (const auto &[key, option] : *options) {
    std::string name = StringRef(key).str();
    if (std::optional<bool> flag = option.getAsBoolean()) {
      if (*flag)
        entries.push_back({name, ""});
      continue;
    }
    std::optional<std::string> text = formatValue(option);
    if (!text)
      return createStringError(path + ": option '" + name +
                               "' has a value that no option takes");
    entries.push_back({name, *text});
  }
  llvm::sort(entries);
  return entries;
}
