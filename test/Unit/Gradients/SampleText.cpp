//===- SampleText.cpp - The text of functions of one op
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SampleText.h"

using namespace pipewright;

/// Types as in `tensor<2x3xf64>, tensor<4xf64>`.
static std::string list(const std::vector<std::string> &types) {
  std::string text;
  for (const std::string &type : types)
    text += (text.empty() ? "tensor<" : ", tensor<") + type + ">";
  return text;
}

std::string pipewright::apply(const std::string &op,
                              std::vector<std::string> from,
                              const std::string &to, const std::string &types) {
  std::string text = "nn.function @f(";
  for (size_t i = 0; i < from.size(); ++i)
    text += (i ? ", %" : "%") + std::string(1, 'a' + i) + ": tensor<" +
            from[i] + ">";
  return text + ") -> tensor<" + to + "> {\n  %y = nn." + op + " : " + types +
         "\n  nn.return %y : tensor<" + to + ">\n}\n";
}

std::string pipewright::applySame(const std::string &op,
                                  const std::string &type) {
  return apply(op, {type}, type, "tensor<" + type + ">");
}

std::string pipewright::applyFunctional(const std::string &op,
                                        const std::vector<std::string> &from,
                                        const std::string &to) {
  return apply(op, from, to, "(" + list(from) + ") -> tensor<" + to + ">");
}

std::string pipewright::applyListed(const std::string &op,
                                    const std::vector<std::string> &from,
                                    const std::string &to) {
  return apply(op, from, to, list(from) + " -> tensor<" + to + ">");
}

std::string pipewright::applyToResults(const std::string &op,
                                       const std::vector<std::string> &from,
                                       const std::vector<std::string> &to) {
  std::string arguments, results;
  for (size_t i = 0; i < from.size(); ++i)
    arguments += (i ? ", %" : "%") + std::string(1, 'a' + i) + ": tensor<" +
                 from[i] + ">";
  for (size_t i = 0; i < to.size(); ++i)
    results += (i ? ", %y" : "%y") + std::to_string(i);
  return "nn.function @f(" + arguments + ") -> (" + list(to) + ") {\n  " +
         results + " = nn." + op + " : (" + list(from) + ") -> (" + list(to) +
         ")\n  nn.return " + results + " : " + list(to) + "\n}\n";
}

std::string pipewright::unary(const std::string &op, const std::string &type) {
  return applySame(op + " %a", type);
}

std::string pipewright::binary(const std::string &op, const std::string &type) {
  return apply(op + " %a, %b", {type, type}, type, "tensor<" + type + ">");
}

/// A line that makes the constant \p name of \p numbers.
static std::string constant(const std::string &name,
                            const std::vector<int64_t> &numbers) {
  std::string text;
  for (int64_t number : numbers)
    text += (text.empty() ? "[" : ", ") + std::to_string(number);
  return "  %" + name + " = nn.constant dense<" +
         (numbers.empty() ? text : text + "]") + "> : tensor<" +
         std::to_string(numbers.size()) + "xi64>\n";
}

std::string pipewright::permuteRows(const std::string &from,
                                    const std::string &to,
                                    const std::vector<int64_t> &indices,
                                    const std::vector<int64_t> &inverse) {
  std::string types = list({from, std::to_string(indices.size()) + "xi64",
                            std::to_string(inverse.size()) + "xi64"});
  return "nn.function @f(%a: tensor<" + from + ">) -> tensor<" + to + "> {\n" +
         constant("i", indices) + constant("n", inverse) +
         "  %y = nn.permute_rows %a, %i, %n : " + types + " -> tensor<" + to +
         ">\n  nn.return %y : tensor<" + to + ">\n}\n";
}

std::string pipewright::norm(const std::string &op, const std::string &row,
                             const std::string &arguments,
                             const std::string &argumentTypes,
                             const std::string &results,
                             const std::string &resultTypes) {
  return "nn.function @f(" + arguments + ") -> (" + resultTypes + ") {\n  " +
         results + " = nn." + op + " axis " + row + " epsilon 1.0e-3 : (" +
         argumentTypes + ") -> (" + resultTypes + ")\n  nn.return " + results +
         " : " + resultTypes + "\n}\n";
}
