//===- TextMutator.cpp - Changes a word of a text
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TextMutator.h"

#include "llvm/ADT/StringExtras.h"

#include <cstring>
#include <random>
#include <vector>

using namespace llvm;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

/// The words, numbers and single other characters of \p text.
static std::vector<StringRef> split(StringRef text) {
  auto isWord = [](char c) { return isAlnum(c) || c == '_' || c == '.'; };
  std::vector<StringRef> words;
  while (!text.empty()) {
    size_t length = std::max<size_t>(text.take_while(isWord).size(), 1);
    if (!isSpace(text.front()))
      words.push_back(text.take_front(length));
    text = text.drop_front(length);
  }
  return words;
}

size_t pipewright::mutateText(uint8_t *data, size_t size, size_t maxSize,
                              unsigned seed) {
  StringRef text(reinterpret_cast<char *>(data), size);
  std::vector<StringRef> words = split(text);
  if (seed % 8 == 0 || words.empty())
    return LLVMFuzzerMutate(data, size, maxSize);
  std::minstd_rand random(seed);
  auto pick = [&](size_t limit) { return random() % limit; };
  constexpr StringRef numbers[] = {
      "0",  "1",    "-1",      "2",          "3",
      "16", "1024", "1048576", "2147483648", "9223372036854775807"};
  StringRef word = words[pick(words.size())];
  std::string other = words[pick(words.size())].str();
  size_t choice = pick(6);
  if (choice == 0)
    other.clear();
  else if (choice == 1)
    other = (word + " " + word).str();
  else if (isDigit(word.front()))
    other = numbers[pick(std::size(numbers))].str();
  std::string changed = text.take_front(word.begin() - text.begin()).str() +
                        other + text.take_back(text.end() - word.end()).str();
  if (changed.size() > maxSize)
    return size;
  std::memcpy(data, changed.data(), changed.size());
  return changed.size();
}
