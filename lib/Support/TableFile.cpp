//===- TableFile.cpp - Files that users write
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// TOML is turned into the same values that JSON has; from there on there is
// one reader.
//
//===----------------------------------------------------------------------===//

#include "pipewright/Support/TableFile.h"

#include "pipewright/Support/Json.h"

#include "llvm/ADT/STLExtras.h"
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

static Expected<json::Value> parseTable(StringRef path, StringRef text) {
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

Expected<json::Value> pipewright::readTableFile(StringRef path) {
  auto file = MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!file)
    return createStringError(path + ": " + file.getError().message());
  return parseTable(path, (*file)->getBuffer());
}

std::vector<StringRef> pipewright::getNames(ArrayRef<NamedTable> tables) {
  std::vector<StringRef> names;
  for (const NamedTable &table : tables)
    names.push_back(table.name);
  return names;
}

Expected<json::Value> pipewright::readNamedTable(StringRef what,
                                                 StringRef nameOrFile,
                                                 ArrayRef<NamedTable> known) {
  const auto *table = find_if(known, [=](const NamedTable &candidate) {
    return candidate.name == nameOrFile;
  });
  if (table != known.end())
    return parseJson(table->text);
  if (!nameOrFile.ends_with(".json") && !nameOrFile.ends_with(".toml"))
    return createStringError("there is no " + what + " '" + nameOrFile +
                             "'; expected " + join(getNames(known), ", ") +
                             ", or a .json or .toml file");
  return readTableFile(nameOrFile);
}
