//===- ParseInstruction.cpp - Instructions and their operands
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Ptx/Control.h"
#include "Ptx/Parser.h"

#include <algorithm>

using namespace pipewright::ptx;

namespace {
struct SpecialName {
  std::string_view name;
  SpecialRegister special;
};

constexpr SpecialName specialNames[] = {
    {"%tid.x", SpecialRegister::TidX},
    {"%tid.y", SpecialRegister::TidY},
    {"%tid.z", SpecialRegister::TidZ},
    {"%ntid.x", SpecialRegister::NtidX},
    {"%ntid.y", SpecialRegister::NtidY},
    {"%ntid.z", SpecialRegister::NtidZ},
    {"%ctaid.x", SpecialRegister::CtaidX},
    {"%ctaid.y", SpecialRegister::CtaidY},
    {"%ctaid.z", SpecialRegister::CtaidZ},
    {"%nctaid.x", SpecialRegister::NctaidX},
    {"%nctaid.y", SpecialRegister::NctaidY},
    {"%nctaid.z", SpecialRegister::NctaidZ},
    {"%laneid", SpecialRegister::LaneId},
    {"%warpid", SpecialRegister::WarpId},
    {"%nwarpid", SpecialRegister::NwarpId},
    {"%lanemask_eq", SpecialRegister::LanemaskEq},
    {"%lanemask_le", SpecialRegister::LanemaskLe},
    {"%lanemask_lt", SpecialRegister::LanemaskLt},
    {"%lanemask_ge", SpecialRegister::LanemaskGe},
    {"%lanemask_gt", SpecialRegister::LanemaskGt},
    {"%clock", SpecialRegister::Clock},
    {"%clock64", SpecialRegister::Clock64},
    {"%globaltimer", SpecialRegister::GlobalTimer},
    {"%smid", SpecialRegister::SmId},
    {"%nsmid", SpecialRegister::NsmId},
    {"%gridid", SpecialRegister::GridId},
    {"%dynamic_smem_size", SpecialRegister::DynamicSharedBytes},
    {"%total_smem_size", SpecialRegister::TotalSharedBytes},
};
} // namespace

bool Parser::parseInstruction() {
  size_t first = position;
  Instruction instruction;
  instruction.line = peek().line;
  if (accept("@") && !parseGuard(instruction))
    return false;
  if (peek().kind != Token::Kind::Word)
    return fail("expected an instruction before '" + std::string(peek().text) +
                "'");
  std::string_view opcode = next().text;
  bool valid = false;
  if (opcode == "bra" || opcode == "bra.uni")
    valid = parseBranch(instruction);
  else if (opcode == "brx.idx" || opcode == "brx.idx.uni")
    valid = parseIndexedBranch(instruction);
  else if (opcode == "call" || opcode == "call.uni")
    valid = parseCall(instruction);
  else
    valid = parseOther(opcode, instruction);
  if (!valid || !expect(";"))
    return false;
  finish(std::move(instruction), first);
  return true;
}

/// Keeps the instruction with its text, for messages.
void Parser::finish(Instruction &&instruction, size_t firstToken) {
  const char *begin = tokens[firstToken].text.data();
  const Token &last = tokens[position - 1];
  const char *end = last.text.data();
  bool wasSpace = false;
  for (const char *c = begin; c != end; ++c) {
    bool isSpace = *c == ' ' || *c == '\t' || *c == '\n' || *c == '\r';
    if (!isSpace) {
      if (wasSpace && !instruction.text.empty())
        instruction.text += ' ';
      instruction.text += *c;
    }
    wasSpace = isSpace;
  }
  program.instructions.push_back(std::move(instruction));
}

bool Parser::parseGuard(Instruction &instruction) {
  instruction.guardNegated = accept("!");
  const Symbol *symbol = find(peek().text);
  if (!symbol || symbol->kind != Symbol::Kind::Register ||
      program.registerMasks[symbol->index] != 1)
    return fail("'" + std::string(peek().text) + "' is no predicate");
  instruction.guard = symbol->index;
  next();
  return true;
}

bool Parser::parseBranch(Instruction &instruction) {
  instruction.run = runBranch;
  Fixup fixup;
  fixup.line = peek().line;
  fixup.label = next().text;
  fixup.instruction = static_cast<uint32_t>(program.instructions.size());
  scopes.back().fixups.push_back(fixup);
  return true;
}

bool Parser::parseIndexedBranch(Instruction &instruction) {
  instruction.run = runIndexedBranch;
  if (!parseValues(instruction.sources, /*isResult=*/false) || !expect(","))
    return false;
  const Symbol *symbol = find(peek().text);
  if (!symbol || symbol->kind != Symbol::Kind::BranchTable)
    return fail("'" + std::string(peek().text) + "' is no list of targets");
  instruction.target = symbol->index;
  next();
  return true;
}

/// `call (result), function, (argument, ...)`
bool Parser::parseCall(Instruction &instruction) {
  instruction.run = runCall;
  Call call;
  if (at("(") && (!parseCallList(call.results) || !expect(",")))
    return false;
  const Symbol *symbol = find(peek().text);
  if (!symbol || symbol->kind != Symbol::Kind::Function)
    return fail("'" + std::string(peek().text) +
                "' is no function; indirect calls are not supported");
  call.function = symbol->index;
  next();
  if (accept(",") && !parseCallList(call.arguments))
    return false;
  const Function &callee = program.functions[call.function];
  if (callee.parameters.size() != call.arguments.size() ||
      callee.results.size() != call.results.size())
    return fail("'" + callee.name + "' has " +
                std::to_string(callee.parameters.size()) + " parameters and " +
                std::to_string(callee.results.size()) + " results");
  instruction.target = static_cast<uint32_t>(program.calls.size());
  program.calls.push_back(std::move(call));
  return true;
}

bool Parser::parseCallList(std::vector<CallSlot> &slots) {
  if (!expect("("))
    return false;
  while (!accept(")")) {
    const Symbol *symbol = find(peek().text);
    if (!symbol || symbol->kind != Symbol::Kind::CallSlot)
      return fail("'" + std::string(peek().text) + "' is no parameter");
    slots.push_back(symbol->slot);
    next();
    accept(",");
  }
  return true;
}

bool Parser::parseOther(std::string_view opcode, Instruction &instruction) {
  Modifiers modifiers(opcode);
  auto entry = getOpcodes().find(modifiers.getName());
  if (entry == getOpcodes().end())
    return failAt(instruction.line,
                  "unknown opcode '" + std::string(opcode) + "'");
  instruction.run = runLanes;
  modifiers.shape = entry->second.shape;
  bool valid = entry->second.decode(modifiers, instruction);
  if (!valid || !modifiers.getRest().empty())
    return failAt(instruction.line,
                  "'" + std::string(opcode) + "' is not supported" +
                      (modifiers.getRest().empty()
                           ? ""
                           : ", because of '." +
                                 std::string(modifiers.getRest().front()) +
                                 "'"));
  return parseOperands(modifiers, instruction) &&
         addCarry(modifiers, instruction) &&
         checkCounts(modifiers, instruction);
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

bool Parser::parseOperands(const Modifiers &modifiers,
                           Instruction &instruction) {
  const std::string &shape = modifiers.shape;
  bool isFirst = true;
  for (size_t i = 0; i < shape.size(); ++i) {
    bool isOptional = i + 1 < shape.size() && shape[i + 1] == '?';
    if (isOptional && at(";"))
      return true;
    if (!isFirst && !expect(","))
      return false;
    isFirst = false;
    if (!parseOperand(shape[i], instruction))
      return false;
    i += isOptional;
  }
  return true;
}

bool Parser::parseOperand(char kind, Instruction &instruction) {
  if (kind == 'a')
    return parseAddress(instruction);
  bool isResult = kind == 'r';
  auto &operands = isResult ? instruction.results : instruction.sources;
  size_t first = operands.size();
  if (!parseValues(operands, isResult))
    return false;
  // Literals get the bits of the type that they are for.
  Type type = instruction.sourceType == Type::None ? instruction.type
                                                   : instruction.sourceType;
  for (size_t i = first; i < operands.size(); ++i) {
    if (!operands[i].isFloat)
      continue;
    double value = bitCast<double>(operands[i].value);
    if (getBits(type) == 32)
      operands[i].value = bitCast<uint32_t>(static_cast<float>(value));
    else if (getBits(type) != 64)
      return fail("a float is no operand of this type");
  }
  return true;
}

/// One value, a vector `{a, b}`, or two results `a|b`.
bool Parser::parseValues(std::vector<Operand> &operands, bool isResult) {
  const char *separator = ",";
  bool isVector = accept("{");
  if (!isVector)
    separator = "|";
  do {
    Operand operand;
    if (!parseValue(operand, isResult))
      return false;
    operands.push_back(operand);
  } while ((isVector || isResult) && accept(separator));
  return !isVector || expect("}");
}

bool Parser::parseValue(Operand &operand, bool isResult) {
  if (accept("!"))
    operand.negated = true;
  bool isNumber = peek().kind == Token::Kind::Number || at("-");
  if (isNumber)
    return isResult ? fail("a number is no result") : parseNumber(operand);
  if (peek().kind != Token::Kind::Word)
    return fail("expected an operand before '" + std::string(peek().text) +
                "'");
  if (accept("_"))
    return isResult ? true : fail("'_' has no value");
  if (accept("WARP_SZ")) {
    operand.kind = Operand::Kind::Immediate;
    operand.value = warpSize;
    return true;
  }
  return parseSymbol(operand, isResult);
}

/// A register, a special register or the address of a variable.
bool Parser::parseSymbol(Operand &operand, bool isResult) {
  std::string_view name = peek().text;
  const Symbol *symbol = find(name);
  if (symbol && symbol->kind == Symbol::Kind::Register) {
    operand.kind = Operand::Kind::Register;
    operand.index = symbol->index;
    if (operand.negated && program.registerMasks[symbol->index] != 1)
      return fail("'" + std::string(name) + "' is no predicate");
    next();
    return true;
  }
  if (isResult)
    return fail("'" + std::string(name) + "' is no register");
  for (const SpecialName &special : specialNames)
    if (special.name == name) {
      operand.kind = Operand::Kind::Special;
      operand.special = special.special;
      next();
      return true;
    }
  bool hasAddress = symbol && (symbol->kind == Symbol::Kind::Address ||
                               symbol->kind == Symbol::Kind::CallSlot);
  if (!hasAddress)
    return fail("unknown name '" + std::string(name) + "'");
  next();
  operand.kind = Operand::Kind::Immediate;
  operand.value = symbol->address;
  int64_t offset = 0;
  if (accept("+") && !parseInteger(offset))
    return false;
  operand.value += static_cast<Word>(offset);
  return true;
}

/// `[%rd1+16]`, `[%rd1+-16]`, `[variable+4]`, `[16]`
bool Parser::parseAddress(Instruction &instruction) {
  if (!expect("["))
    return false;
  Operand operand;
  if (!parseValue(operand, /*isResult=*/false))
    return false;
  if (operand.kind == Operand::Kind::Special || operand.isFloat ||
      operand.negated)
    return fail("this is no address");
  operand.hasBase = operand.kind == Operand::Kind::Register;
  operand.kind = Operand::Kind::Address;
  if (operand.hasBase)
    operand.value = 0;
  int64_t offset = 0;
  if ((accept("+") || at("-")) && !parseInteger(offset))
    return false;
  operand.value += static_cast<Word>(offset);
  instruction.addresses.push_back(operand);
  return expect("]");
}

/// The carry is a register of each function that its text does not name.
bool Parser::addCarry(const Modifiers &modifiers, Instruction &instruction) {
  if (!modifiers.carryIn && !modifiers.carryOut)
    return true;
  if (!carryRegister)
    carryRegister = addRegister("CC.CF", Type::Pred);
  Operand carry;
  carry.kind = Operand::Kind::Register;
  carry.index = *carryRegister;
  if (modifiers.carryIn)
    instruction.sources.push_back(carry);
  if (modifiers.carryOut)
    instruction.results.push_back(carry);
  return true;
}

/// A decoder gives exact numbers where they are not those of the shape.
bool Parser::checkCounts(const Modifiers &modifiers,
                         const Instruction &instruction) {
  auto count = [&](char kind) {
    return static_cast<int>(
        std::count(modifiers.shape.begin(), modifiers.shape.end(), kind));
  };
  auto isRight = [](int wanted, int shape, int extra, size_t actual) {
    if (wanted == Modifiers::anyNumber)
      return true;
    return static_cast<int>(actual) == (wanted < 0 ? shape : wanted) + extra;
  };
  if (isRight(modifiers.results, count('r'), modifiers.carryOut,
              instruction.results.size()) &&
      isRight(modifiers.sources, count('s'), modifiers.carryIn,
              instruction.sources.size()))
    return true;
  return failAt(instruction.line, "wrong number of operands");
}
