//===- ParseFunction.cpp - Kernels and functions
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Ptx/Control.h"
#include "Ptx/Parser.h"

#include <algorithm>

using namespace pipewright::ptx;

uint32_t Parser::getFunction(std::string_view name) {
  if (const Symbol *symbol = find(name))
    if (symbol->kind == Symbol::Kind::Function)
      return symbol->index;
  Symbol symbol;
  symbol.kind = Symbol::Kind::Function;
  symbol.index = static_cast<uint32_t>(program.functions.size());
  scopes.front().symbols[name] = symbol;
  program.functions.emplace_back();
  program.functions.back().name = name;
  return symbol.index;
}

/// `.entry name(.param .u64 x, ...) .maxntid 256 { ... }`
bool Parser::parseEntry() {
  if (peek().kind != Token::Kind::Word)
    return fail("expected a kernel's name");
  uint32_t index = getFunction(next().text);
  Function &kernel = program.functions[index];
  kernel.isKernel = true;
  beginScope();
  bool valid = parseKernelParameters(kernel.info) && parseLimits(kernel.info) &&
               (accept(";") || parseBody(index));
  endScope();
  return valid;
}

bool Parser::parseKernelParameters(KernelInfo &info) {
  info = KernelInfo();
  if (!accept("("))
    return true;
  while (!accept(")")) {
    Declaration declaration;
    if (!expect(".param") || !parseDeclaration(declaration))
      return false;
    int64_t alignment = declaration.alignment;
    int64_t offset =
        (info.parameterBytes + alignment - 1) / alignment * alignment;
    info.parameters.push_back(
        {std::string(declaration.name), offset, declaration.bytes});
    info.parameterBytes = offset + declaration.bytes;
    Symbol symbol;
    symbol.kind = Symbol::Kind::Address;
    symbol.space = Space::Param;
    symbol.address = static_cast<Word>(offset);
    declare(declaration.name, symbol);
    accept(",");
  }
  return true;
}

bool Parser::parseDims(int64_t (&dims)[3]) {
  for (int64_t &dim : dims)
    dim = 1;
  for (int64_t &dim : dims) {
    if (!parseInteger(dim))
      return false;
    if (!accept(","))
      return true;
  }
  return true;
}

bool Parser::parseLimits(KernelInfo &info) {
  while (peek().kind == Token::Kind::Word && peek().text[0] == '.') {
    std::string_view word = next().text;
    int64_t ignored = 0;
    bool valid = true;
    if (word == ".maxntid")
      valid = parseDims(info.maxThreads);
    else if (word == ".reqntid")
      valid = parseDims(info.requiredThreads);
    else if (word == ".minnctapersm" || word == ".maxnreg")
      valid = parseInteger(ignored);
    else if (word == ".pragma")
      valid = parsePragma();
    else if (word != ".noreturn")
      valid = fail("unknown directive '" + std::string(word) + "'");
    if (!valid)
      return false;
  }
  return true;
}

/// One parameter or result of a function, or one that a caller declares.
bool Parser::parseCallSlot(CallSlot &slot) {
  Declaration declaration;
  if (!parseDeclaration(declaration))
    return false;
  if (declaration.isUnsized)
    return fail("functions with a variable number of arguments are not "
                "supported");
  auto alignment =
      static_cast<uint32_t>(std::max<int64_t>(declaration.alignment, 1));
  slot.offset = (program.callBytes + alignment - 1) / alignment * alignment;
  slot.bytes = static_cast<uint32_t>(declaration.bytes);
  program.callBytes = slot.offset + slot.bytes;
  Symbol symbol;
  symbol.kind = Symbol::Kind::CallSlot;
  symbol.slot = slot;
  symbol.address = callParamBase + slot.offset;
  symbol.space = Space::Param;
  declare(declaration.name, symbol);
  return true;
}

bool Parser::parseCallParameters(std::vector<CallSlot> &slots) {
  slots.clear();
  if (!accept("("))
    return true;
  while (!accept(")")) {
    if (at(".reg"))
      return fail("parameters in registers are not supported");
    CallSlot slot;
    if (!expect(".param") || !parseCallSlot(slot))
      return false;
    slots.push_back(slot);
    accept(",");
  }
  return true;
}

/// `.func (.param .b32 result) name(.param .b32 x) { ... }`
bool Parser::parseFunction() {
  beginScope();
  std::vector<CallSlot> results, parameters;
  if (!parseCallParameters(results))
    return false;
  if (peek().kind != Token::Kind::Word)
    return fail("expected a function's name");
  uint32_t index = getFunction(next().text);
  KernelInfo limits;
  if (!parseCallParameters(parameters) || !parseLimits(limits))
    return false;
  program.functions[index].results = results;
  program.functions[index].parameters = parameters;
  bool valid = accept(";") || parseBody(index);
  endScope();
  return valid;
}

uint32_t Parser::addRegister(std::string name, Type type) {
  program.registerNames.push_back(std::move(name));
  program.registerMasks.push_back(maskOfBits(getBits(type)));
  return static_cast<uint32_t>(program.registerNames.size() - 1);
}

bool Parser::parseBody(uint32_t index) {
  function = index;
  carryRegister.reset();
  program.functions[index].isDefined = true;
  program.functions[index].entry =
      static_cast<uint32_t>(program.instructions.size());
  program.functions[index].firstRegister =
      static_cast<uint32_t>(program.registerNames.size());
  if (!expect("{"))
    return false;
  beginScope();
  while (!accept("}"))
    if (!parseStatement())
      return false;
  // The end of the text is the end of the function.
  Instruction end;
  end.run = runReturn;
  end.line = peek().line;
  end.text = "}";
  program.instructions.push_back(end);
  endScope();
  for (const Fixup &fixup : scopes.back().fixups)
    failAt(fixup.line, "unknown label '" + std::string(fixup.label) + "'");
  program.functions[index].endRegister =
      static_cast<uint32_t>(program.registerNames.size());
  function.reset();
  return error.empty();
}

/// Labels of a scope are for its own branches and those of scopes within.
void Parser::endScope() {
  Scope scope = std::move(scopes.back());
  scopes.pop_back();
  for (Fixup &fixup : scope.fixups) {
    auto label = scope.labels.find(fixup.label);
    if (label == scope.labels.end())
      scopes.back().fixups.push_back(fixup);
    else if (fixup.tableEntry)
      program.branchTables[fixup.tableEntry->first][fixup.tableEntry->second] =
          label->second;
    else
      program.instructions[fixup.instruction].target = label->second;
  }
}

bool Parser::parseStatement() {
  if (peek().kind == Token::Kind::End)
    return fail("a function has no end");
  if (accept("{")) {
    beginScope();
    while (!accept("}"))
      if (!parseStatement())
        return false;
    endScope();
    return true;
  }
  if (accept(".reg"))
    return parseRegisters();
  if (accept(".local"))
    return parseVariable(Space::Local, false);
  if (accept(".param")) {
    CallSlot slot;
    return parseCallSlot(slot) && expect(";");
  }
  bool isLabel = peek().kind == Token::Kind::Word && peek(1).text == ":";
  if (isLabel) {
    std::string_view name = next().text;
    next();
    if (accept(".branchtargets"))
      return parseBranchTable(name);
    scopes.back().labels[name] =
        static_cast<uint32_t>(program.instructions.size());
    return true;
  }
  if (peek().text[0] == '.')
    return parseDirective();
  return accept(";") || parseInstruction();
}

/// `.reg .b32 %r<12>, %x;`
bool Parser::parseRegisters() {
  Type type = Type::None;
  do {
    Declaration declaration;
    // The type is there once, for all names.
    if (type == Type::None) {
      if (!parseDeclaration(declaration))
        return false;
      type = declaration.type;
    } else {
      declaration.name = next().text;
      if (at("<") && !parseCount(declaration.count))
        return false;
    }
    std::string name(declaration.name);
    Symbol symbol;
    symbol.kind = Symbol::Kind::Register;
    if (declaration.count == 0) {
      symbol.index = addRegister(name, type);
      declare(declaration.name, symbol);
    }
    for (int64_t i = 0; i < declaration.count; ++i) {
      std::string numbered = name + std::to_string(i);
      names.push_back(std::make_unique<std::string>(numbered));
      symbol.index = addRegister(numbered, type);
      declare(*names.back(), symbol);
    }
  } while (accept(","));
  return expect(";");
}

/// `name: .branchtargets $L1, $L2;`
bool Parser::parseBranchTable(std::string_view name) {
  Symbol symbol;
  symbol.kind = Symbol::Kind::BranchTable;
  symbol.index = static_cast<uint32_t>(program.branchTables.size());
  declare(name, symbol);
  program.branchTables.emplace_back();
  do {
    Fixup fixup;
    fixup.label = next().text;
    fixup.line = peek().line;
    fixup.tableEntry = {symbol.index, program.branchTables.back().size()};
    program.branchTables.back().push_back(0);
    scopes.back().fixups.push_back(fixup);
  } while (accept(","));
  return expect(";");
}

namespace {
/// Finds a function that can call itself, by depth-first search.
class RecursionSearch {
public:
  explicit RecursionSearch(const Program &program)
      : program(program), states(program.functions.size()) {}

  std::optional<uint32_t> find() {
    for (uint32_t i = 0; i < states.size(); ++i)
      if (visit(i))
        return i;
    return std::nullopt;
  }

private:
  enum class State : uint8_t { New, Open, Done };

  bool visit(uint32_t index) {
    if (states[index] != State::New)
      return states[index] == State::Open;
    states[index] = State::Open;
    const Function &function = program.functions[index];
    if (function.isDefined)
      for (uint32_t i = function.entry; !isEnd(i); ++i) {
        const Instruction &at = program.instructions[i];
        if (at.run == runCall && visit(program.calls[at.target].function))
          return true;
      }
    states[index] = State::Done;
    return false;
  }

  bool isEnd(uint32_t i) const { return program.instructions[i].text == "}"; }

  const Program &program;
  std::vector<State> states;
};
} // namespace

bool Parser::checkRecursion() {
  std::optional<uint32_t> found = RecursionSearch(program).find();
  if (!found)
    return true;
  return failAt(program.instructions[program.functions[*found].entry].line,
                "function '" + program.functions[*found].name +
                    "' can call itself, which is not supported");
}
