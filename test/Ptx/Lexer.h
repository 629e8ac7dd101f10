//===- Lexer.h - The words of PTX -------------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TEST_PTX_LEXER_H
#define PIPEWRIGHT_TEST_PTX_LEXER_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pipewright::ptx {

struct Token {
  enum class Kind : uint8_t {
    /// A name, a directive or an opcode with its modifiers: "%r1", ".reg",
    /// "cvt.rn.f32.s32".
    Word,
    Number,
    String,
    /// One character.
    Punctuation,
    End
  };

  Kind kind = Kind::End;
  std::string_view text;
  int64_t line = 0;
};

/// The tokens of \p text, which they refer to; the last is an End. Comments
/// are left out.
std::vector<Token> lex(std::string_view text);

} // namespace pipewright::ptx

#endif // PIPEWRIGHT_TEST_PTX_LEXER_H
