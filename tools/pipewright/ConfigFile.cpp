//===- ConfigFile.cpp - Options from a file
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// TOML is turned into the same values that JSON has; from there on there is
// one reader.
//
//===----------------------------------------------------------------------===//

#include "ConfigFile.h"

#include "pipewright/Support/Json.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"

#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

using namespace llvm;
using namespace pipewright;

static json::Value convert(const toml::node &node);

static json::Value convertTable(const toml::table &table) {
  json::Object object;
  for (auto &&[key, value] : table)
    object[std::string(key.str())] = convert(value);
  return object;
}

static json::Value convert(const toml::node &node) {
  if (const toml::table *table = node.as_table())
    return convertTable(*table);
  if (const toml::array *array = node.as_array()) {
    json::Array list;
    for (const toml::node &element : *array)
      list.push_back(convert(element));
    return list;
  }
  if (auto value = node.value_exact<bool>())
    return *value;
  if (auto value = node.value_exact<int64_t>())
    return *value;
  if (auto value = node.value_exact<double>())
    return *value;
  if (auto value = node.value_exact<std::string>())
    return *value;
  return nullptr; // A date or a time.
}

static Expected<json::Value> parseConfig(StringRef path, StringRef text) {
  if (path.ends_with(".json")) {
    Expected<json::Value> value = parseJson(text);
    if (!value)
      return createStringError(path + ": " + toString(value.takeError()));
    return value;
  }
  if (!path.ends_with(".toml"))
    return createStringError(path + ": is neither .toml nor .json");
  toml::parse_result result = toml::parse(std::string_view(text));
  if (result)
    return convertTable(result.table());
  const toml::parse_error &error = result.error();
  return createStringError(
      formatv("{0}:{1}:{2}: {3}", path, error.source().begin.line,
              error.source().begin.column, StringRef(error.description()))
          .str());
}

/// A value as it would stand on the command line, or nothing if it cannot.
static std::optional<std::string> formatValue(const json::Value &value) {
  if (auto text = value.getAsString())
    return text->str();
  if (auto number = value.getAsInteger())
    return std::to_string(*number);
  if (auto number = value.getAsNumber())
    return formatv("{0}", *number).str();
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
  auto file = MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!file)
    return createStringError(path + ": " + file.getError().message());
  Expected<json::Value> value = parseConfig(path, (*file)->getBuffer());
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
