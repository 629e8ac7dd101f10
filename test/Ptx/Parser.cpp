//===- Parser.cpp - Modules and variables
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Ptx/Parser.h"

#include <algorithm>
#include <cstdlib>

using namespace pipewright::ptx;

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

bool Parser::accept(std::string_view text) {
  if (!at(text))
    return false;
  next();
  return true;
}

bool Parser::expect(std::string_view text) {
  if (accept(text))
    return true;
  return fail("expected '" + std::string(text) + "' before '" +
              std::string(peek().text) + "'");
}

bool Parser::failAt(int64_t line, const std::string &message) {
  if (error.empty())
    error = "line " + std::to_string(line) + ": " + message;
  return false;
}

bool Parser::fail(const std::string &message) {
  return failAt(peek().line, message);
}

void Parser::skipLine() {
  int64_t line = peek().line;
  while (peek().kind != Token::Kind::End && peek().line == line)
    next();
}

bool Parser::skipBraces() {
  if (!expect("{"))
    return false;
  while (peek().kind != Token::Kind::End && !at("}"))
    next();
  return expect("}");
}

/// "0x1F", "017", "12", each perhaps with a U at its end.
static bool parseDigits(std::string_view text, Word &value) {
  std::string digits(text);
  if (!digits.empty() && digits.back() == 'U')
    digits.pop_back();
  char *end = nullptr;
  int base = digits.rfind("0b", 0) == 0 ? 2 : 0;
  const char *begin = digits.c_str() + (base == 2 ? 2 : 0);
  value = std::strtoull(begin, &end, base);
  return end != begin && *end == 0;
}

bool Parser::parseInteger(int64_t &value) {
  bool isNegative = accept("-");
  Word magnitude = 0;
  if (peek().kind != Token::Kind::Number ||
      !parseDigits(peek().text, magnitude))
    return fail("expected an integer before '" + std::string(peek().text) +
                "'");
  next();
  value = static_cast<int64_t>(isNegative ? 0 - magnitude : magnitude);
  return true;
}

bool Parser::parseNumber(Operand &operand) {
  bool isNegative = accept("-");
  std::string text(peek().text);
  operand.kind = Operand::Kind::Immediate;
  bool isSingle = text.size() == 10 && text[0] == '0' && (text[1] | 32) == 'f';
  bool isDouble = text.size() == 18 && text[0] == '0' && (text[1] | 32) == 'd';
  operand.isFloat = isSingle || isDouble || text.find('.') != std::string::npos;
  if (!operand.isFloat) {
    if (!parseDigits(text, operand.value))
      return fail("'" + text + "' is no number");
    if (isNegative)
      operand.value = 0 - operand.value;
    next();
    return true;
  }
  double value = 0;
  char *end = nullptr;
  if (isSingle || isDouble) {
    Word bits = std::strtoull(text.c_str() + 2, &end, 16);
    value = isSingle ? bitCast<float>(static_cast<uint32_t>(bits))
                     : bitCast<double>(bits);
  } else {
    value = std::strtod(text.c_str(), &end);
  }
  if (*end != 0)
    return fail("'" + text + "' is no number");
  operand.value = bitCast<Word>(isNegative ? -value : value);
  next();
  return true;
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

bool Parser::parseModule() {
  beginScope();
  while (peek().kind != Token::Kind::End)
    if (!parseDirective())
      return false;
  return checkRecursion();
}

/// What an assembler may do: "nounroll".
bool Parser::parsePragma() {
  if (peek().kind != Token::Kind::String)
    return fail("expected a string before '" + std::string(peek().text) + "'");
  next();
  return expect(";");
}

bool Parser::parseDirective() {
  bool isExtern = false;
  while (at(".visible") || at(".extern") || at(".weak") || at(".common"))
    isExtern |= next().text == ".extern";
  if (at(".version") || at(".target") || at(".address_size") || at(".file") ||
      at(".loc")) {
    skipLine();
    return true;
  }
  if (accept(".section")) {
    next(); // Its name.
    return skipBraces();
  }
  if (accept(".pragma"))
    return parsePragma();
  if (accept(".entry"))
    return parseEntry();
  if (accept(".func"))
    return parseFunction();
  if (accept(".global"))
    return parseVariable(Space::Global, isExtern);
  if (accept(".const"))
    return parseVariable(Space::Const, isExtern);
  if (accept(".shared"))
    return parseVariable(Space::Shared, isExtern);
  return fail("unknown directive '" + std::string(peek().text) + "'");
}

/// `.align 16 .b8 name[1024]`
bool Parser::parseDeclaration(Declaration &declaration) {
  bool isPointer = false;
  while (peek().kind == Token::Kind::Word && peek().text[0] == '.') {
    std::string_view word = next().text.substr(1);
    Type type = parseType(word);
    int64_t alignment = 0;
    if (type != Type::None) {
      declaration.type = type;
    } else if (word == "align") {
      if (!parseInteger(alignment))
        return false;
      // After .ptr it is the alignment of what the pointer points to.
      if (!isPointer)
        declaration.alignment = alignment;
    } else if (word == "ptr") {
      isPointer = true;
    } else if (!isPointer || (word != "global" && word != "shared" &&
                              word != "const" && word != "local")) {
      return fail("unknown attribute '." + std::string(word) + "'");
    }
  }
  if (declaration.type == Type::None)
    return fail("expected a type before '" + std::string(peek().text) + "'");
  if (peek().kind != Token::Kind::Word)
    return fail("expected a name before '" + std::string(peek().text) + "'");
  declaration.name = next().text;
  declaration.bytes = getBytes(declaration.type);
  declaration.alignment =
      std::max<int64_t>(declaration.alignment, getBytes(declaration.type));
  if (at("<"))
    return parseCount(declaration.count);
  return parseArray(declaration);
}

/// `<12>`, of registers.
bool Parser::parseCount(int64_t &count) {
  constexpr int64_t maxRegisters = 1 << 20;
  if (!expect("<") || !parseInteger(count) || !expect(">"))
    return false;
  if (count < 0 || count > maxRegisters)
    return fail(std::to_string(count) + " registers");
  return true;
}

bool Parser::parseArray(Declaration &declaration) {
  constexpr int64_t maxBytes = int64_t(1) << 30;
  while (accept("[")) {
    if (accept("]")) {
      declaration.isUnsized = true;
      declaration.bytes = 0;
      continue;
    }
    int64_t count = 0;
    if (!parseInteger(count) || !expect("]"))
      return false;
    if (count < 0 || count > maxBytes || declaration.bytes * count > maxBytes)
      return fail("'" + std::string(declaration.name) + "' is too large");
    declaration.bytes *= count;
  }
  return true;
}

static Word alignTo(Word value, Word alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

/// Bytes between two variables, so that an access beyond one is seen.
static constexpr Word gapBytes = 64;

/// Gives the variable its address.
Parser::Symbol Parser::placeVariable(Space space,
                                     const Declaration &declaration,
                                     bool isExtern) {
  Symbol symbol;
  symbol.kind = Symbol::Kind::Address;
  symbol.space = space;
  Word alignment = static_cast<Word>(declaration.alignment);
  auto place = [&](uint32_t &size) {
    symbol.address = alignTo(size, std::max(alignment, gapBytes));
    size = static_cast<uint32_t>(symbol.address + declaration.bytes + gapBytes);
  };
  switch (space) {
  case Space::Shared:
    if (isExtern)
      symbol.address = dynamicSharedBase;
    else
      place(program.sharedBytes);
    break;
  case Space::Local:
    place(program.localBytes);
    break;
  case Space::Const:
    place(program.constBytes);
    break;
  default: {
    Word next = variablesBase;
    for (const Variable &variable : program.variables)
      if (variable.space == Space::Global)
        next = variable.address + static_cast<Word>(variable.bytes) + 4096;
    symbol.address = alignTo(next, 256);
  }
  }
  return symbol;
}

bool Parser::parseVariable(Space space, bool isExtern) {
  Declaration declaration;
  if (!parseDeclaration(declaration))
    return false;
  if (isExtern && space != Space::Shared)
    return fail("'" + std::string(declaration.name) + "' is of another module");
  Variable variable;
  if (accept("=") && !parseInitializer(declaration, variable.initial))
    return false;
  Symbol symbol = placeVariable(space, declaration, isExtern);
  declare(declaration.name, symbol);
  variable.name = declaration.name;
  variable.space = space;
  variable.address = symbol.address;
  variable.bytes = isExtern ? 0 : declaration.bytes;
  if (function && program.functions[*function].isKernel)
    variable.kernel = program.functions[*function].name;
  program.variables.push_back(std::move(variable));
  return expect(";");
}

/// A number, or numbers in braces.
bool Parser::parseInitializer(const Declaration &declaration,
                              std::vector<uint8_t> &bytes) {
  if (!accept("{"))
    return parseInitialValue(declaration, bytes);
  do {
    if (!parseInitialValue(declaration, bytes))
      return false;
  } while (accept(","));
  return expect("}");
}

bool Parser::parseInitialValue(const Declaration &declaration,
                               std::vector<uint8_t> &bytes) {
  if (peek().kind != Token::Kind::Number && !at("-"))
    return fail("initial values are numbers, not '" + std::string(peek().text) +
                "'");
  Operand number;
  if (!parseNumber(number))
    return false;
  Word bits = number.value;
  if (number.isFloat && getBits(declaration.type) == 32)
    bits = bitCast<uint32_t>(static_cast<float>(bitCast<double>(bits)));
  unsigned size = getBytes(declaration.type);
  for (unsigned i = 0; i < size; ++i)
    bytes.push_back(static_cast<uint8_t>(bits >> (8 * i)));
  if (static_cast<int64_t>(bytes.size()) > declaration.bytes)
    return fail("more initial values than '" + std::string(declaration.name) +
                "' has elements");
  return true;
}

const Parser::Symbol *Parser::find(std::string_view name) const {
  for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope) {
    auto found = scope->symbols.find(name);
    if (found != scope->symbols.end())
      return &found->second;
  }
  return nullptr;
}
