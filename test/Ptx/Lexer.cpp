//===- Lexer.cpp - The words of PTX
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Ptx/Lexer.h"

#include <algorithm>
#include <cctype>

using namespace pipewright::ptx;

static bool isWordStart(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '$' ||
         c == '%' || c == '.';
}

static bool isWordPart(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' ||
         c == '.';
}

/// The end of the word at \p begin. Modifiers such as "shared::cta" have two
/// colons; a label has one after it. Directives have no point within: between
/// those of ".reg.b32" may be no space.
static size_t endOfWord(std::string_view text, size_t begin) {
  bool isDirective = text[begin] == '.';
  size_t end = begin + 1;
  while (end < text.size()) {
    if (isDirective && text[end] == '.')
      break;
    if (isWordPart(text[end])) {
      ++end;
      continue;
    }
    if (text.substr(end, 2) != "::")
      break;
    end += 2;
  }
  return end;
}

/// Numbers may have an exponent with a sign, "1.5e-3", if they have a point.
static size_t endOfNumber(std::string_view text, size_t begin) {
  size_t end = begin + 1;
  bool hasPoint = false;
  while (end < text.size()) {
    char c = text[end];
    hasPoint |= c == '.';
    bool isSign = (c == '-' || c == '+') && hasPoint &&
                  (text[end - 1] == 'e' || text[end - 1] == 'E');
    if (!isWordPart(c) && !isSign)
      break;
    ++end;
  }
  return end;
}

/// The end of the space and comments at \p at.
static size_t skipSpace(std::string_view text, size_t at) {
  while (at < text.size()) {
    if (std::isspace(static_cast<unsigned char>(text[at]))) {
      ++at;
    } else if (text.substr(at, 2) == "//") {
      at = std::min(text.find('\n', at), text.size());
    } else if (text.substr(at, 2) == "/*") {
      size_t end = text.find("*/", at + 2);
      at = end == std::string_view::npos ? text.size() : end + 2;
    } else {
      break;
    }
  }
  return at;
}

std::vector<Token> pipewright::ptx::lex(std::string_view text) {
  std::vector<Token> tokens;
  int64_t line = 1;
  size_t at = 0;
  auto advance = [&](size_t to) {
    line += std::count(text.begin() + at, text.begin() + to, '\n');
    at = to;
  };
  for (advance(skipSpace(text, 0)); at < text.size();
       advance(skipSpace(text, at))) {
    Token token;
    token.line = line;
    size_t end = at + 1;
    char c = text[at];
    if (isWordStart(c)) {
      token.kind = Token::Kind::Word;
      end = endOfWord(text, at);
    } else if (std::isdigit(static_cast<unsigned char>(c))) {
      token.kind = Token::Kind::Number;
      end = endOfNumber(text, at);
    } else if (c == '"') {
      token.kind = Token::Kind::String;
      size_t close = text.find('"', at + 1);
      end = close == std::string_view::npos ? text.size() : close + 1;
    } else {
      token.kind = Token::Kind::Punctuation;
    }
    token.text = text.substr(at, end - at);
    tokens.push_back(token);
    advance(end);
  }
  Token last;
  last.line = line;
  tokens.push_back(last);
  return tokens;
}
