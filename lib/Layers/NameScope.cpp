//===- NameScope.cpp - Module paths in the names of nodes
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Layers/NameScope.h"

#include "llvm/ADT/StringExtras.h"

using namespace pipewright;
using llvm::StringRef;

static bool isNumber(StringRef text) {
  return !text.empty() && llvm::all_of(text, llvm::isDigit);
}

NameScope::NameScope(StringRef name) {
  while (!name.empty()) {
    size_t end = name.find_first_of("/.");
    StringRef component = name.take_front(end);
    if (!component.empty())
      components.push_back(component.str());
    name = end == StringRef::npos ? StringRef() : name.drop_front(end + 1);
  }
  if (!components.empty())
    components.pop_back();
}

std::string NameScope::str(size_t length) const {
  std::string text;
  for (StringRef component : llvm::ArrayRef(components).take_front(length)) {
    if (!text.empty())
      text += isNumber(component) ? '.' : '/';
    text += component;
  }
  return text;
}

std::optional<std::string> NameScope::container(size_t index) const {
  StringRef component = components[index];
  if (isNumber(component))
    return str(index);
  auto [stem, number] = component.rsplit('_');
  if (stem.empty() || !isNumber(number))
    return std::nullopt;
  std::string outer = str(index);
  return outer.empty() ? stem.str() : outer + "/" + stem.str();
}

size_t NameScope::commonLength(const NameScope &other) const {
  size_t length = 0;
  while (length < size() && length < other.size() &&
         components[length] == other.components[length])
    ++length;
  return length;
}

void ScopeLevels::add(const NameScope &scope) {
  for (size_t index = 0; index < scope.size(); ++index) {
    std::optional<std::string> container = scope.container(index);
    if (!container)
      continue;
    llvm::StringSet<> &known = entries[*container];
    known.insert(scope.str(index + 1));
    repeats |= known.size() > 1;
  }
}

std::optional<size_t> ScopeLevels::findLayer(const NameScope &scope) const {
  for (size_t index = 0; index < scope.size(); ++index) {
    std::optional<std::string> container = scope.container(index);
    if (!container)
      continue;
    auto known = entries.find(*container);
    if (known != entries.end() && (!repeats || known->second.size() > 1))
      return index + 1;
  }
  return std::nullopt;
}
