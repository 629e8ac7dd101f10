//===- Parser.h - From PTX text to a program --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A parser by recursive descent. Functions return whether they succeeded; the
// first failure is kept with its line. Parser.cpp reads modules and variables,
// ParseFunction.cpp functions, ParseInstruction.cpp what is in them.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TEST_PTX_PARSER_H
#define PIPEWRIGHT_TEST_PTX_PARSER_H

#include "Ptx/Lexer.h"
#include "Ptx/Opcodes.h"
#include "Ptx/Program.h"

#include <algorithm>
#include <map>

namespace pipewright::ptx {

class Parser {
public:
  Parser(std::string_view text, Program &program)
      : tokens(lex(text)), program(program) {}

  bool parseModule();
  const std::string &getError() const { return error; }

private:
  /// What a name means.
  struct Symbol {
    enum class Kind : uint8_t {
      Register,
      /// A variable or kernel parameter: its address in its space.
      Address,
      /// A parameter or result of a call.
      CallSlot,
      Function,
      BranchTable
    };
    Kind kind = Kind::Register;
    uint32_t index = 0;
    Word address = 0;
    Space space = Space::Generic;
    CallSlot slot;
  };

  /// A target that is known when its scope has ended.
  struct Fixup {
    std::string_view label;
    int64_t line;
    /// An instruction, or an entry of a table.
    uint32_t instruction = 0;
    std::optional<std::pair<size_t, size_t>> tableEntry;
  };

  struct Scope {
    std::map<std::string_view, Symbol> symbols;
    std::map<std::string_view, uint32_t> labels;
    std::vector<Fixup> fixups;
  };

  /// The declared form of a variable or parameter, without its space.
  struct Declaration {
    std::string_view name;
    Type type = Type::None;
    int64_t alignment = 0;
    int64_t bytes = 0;
    /// `x[]`, of `.extern` variables.
    bool isUnsized = false;
    /// `%r<12>`: how many registers; 0 for a single name.
    int64_t count = 0;
  };

  //===--- Tokens --------------------------------------------------------===//

  const Token &peek(size_t ahead = 0) const {
    return tokens[std::min(position + ahead, tokens.size() - 1)];
  }
  Token next() {
    Token token = peek();
    if (position + 1 < tokens.size())
      ++position;
    return token;
  }
  bool at(std::string_view text) const { return peek().text == text; }
  bool accept(std::string_view text);
  bool expect(std::string_view text);
  bool fail(const std::string &message);
  bool failAt(int64_t line, const std::string &message);
  void skipLine();
  bool skipBraces();
  bool parseInteger(int64_t &value);
  /// A number's bits; of a float, those of a double.
  bool parseNumber(Operand &operand);

  //===--- Modules -------------------------------------------------------===//

  bool parseDirective();
  bool parsePragma();
  bool parseDeclaration(Declaration &declaration);
  bool parseArray(Declaration &declaration);
  bool parseCount(int64_t &count);
  bool parseVariable(Space space, bool isExtern);
  bool parseInitializer(const Declaration &declaration,
                        std::vector<uint8_t> &bytes);
  bool parseInitialValue(const Declaration &declaration,
                         std::vector<uint8_t> &bytes);
  Symbol placeVariable(Space space, const Declaration &declaration,
                       bool isExtern);
  void declare(std::string_view name, const Symbol &symbol) {
    scopes.back().symbols[name] = symbol;
  }
  const Symbol *find(std::string_view name) const;

  //===--- Functions -----------------------------------------------------===//

  bool parseEntry();
  bool parseFunction();
  uint32_t getFunction(std::string_view name);
  bool parseKernelParameters(KernelInfo &info);
  bool parseCallParameters(std::vector<CallSlot> &slots);
  bool parseCallSlot(CallSlot &slot);
  bool parseLimits(KernelInfo &info);
  bool parseDims(int64_t (&dims)[3]);
  bool parseBody(uint32_t index);
  bool parseStatement();
  bool parseRegisters();
  bool parseBranchTable(std::string_view name);
  uint32_t addRegister(std::string name, Type type);
  void beginScope() { scopes.emplace_back(); }
  void endScope();
  bool checkRecursion();

  //===--- Instructions --------------------------------------------------===//

  bool parseInstruction();
  bool parseGuard(Instruction &instruction);
  bool parseBranch(Instruction &instruction);
  bool parseIndexedBranch(Instruction &instruction);
  bool parseCall(Instruction &instruction);
  bool parseCallList(std::vector<CallSlot> &slots);
  bool parseOther(std::string_view opcode, Instruction &instruction);
  bool parseOperands(const Modifiers &modifiers, Instruction &instruction);
  bool parseOperand(char kind, Instruction &instruction);
  bool parseValues(std::vector<Operand> &operands, bool isResult);
  bool parseValue(Operand &operand, bool isResult);
  bool parseSymbol(Operand &operand, bool isResult);
  bool parseAddress(Instruction &instruction);
  bool addCarry(const Modifiers &modifiers, Instruction &instruction);
  bool checkCounts(const Modifiers &modifiers, const Instruction &instruction);
  void finish(Instruction &&instruction, size_t firstToken);

  std::vector<Token> tokens;
  size_t position = 0;
  Program &program;
  std::string error;
  std::vector<Scope> scopes;
  /// The function that is being parsed.
  std::optional<uint32_t> function;
  std::optional<uint32_t> carryRegister;
  /// Names such as "%r7" that the text does not spell out.
  std::vector<std::unique_ptr<std::string>> names;
};

} // namespace pipewright::ptx

#endif // PIPEWRIGHT_TEST_PTX_PARSER_H
