//===- SampleText.h - The text of functions of one op -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Types are written as between the angle brackets of `tensor<2x3xf64>`.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TEST_UNIT_GRADIENTS_SAMPLETEXT_H
#define PIPEWRIGHT_TEST_UNIT_GRADIENTS_SAMPLETEXT_H

#include <cstdint>
#include <string>
#include <vector>

namespace pipewright {

/// An op `%y = nn.<op> : <types>` on arguments %a, %b, … of the types \p from.
std::string apply(const std::string &op, std::vector<std::string> from,
                  const std::string &to, const std::string &types);

/// The same for one argument of the type of the result.
std::string applySame(const std::string &op, const std::string &type);

/// The same, with the types written as `(from) -> to`.
std::string applyFunctional(const std::string &op,
                            const std::vector<std::string> &from,
                            const std::string &to);

/// The same, with the types written as `from, from -> to`.
std::string applyListed(const std::string &op,
                        const std::vector<std::string> &from,
                        const std::string &to);

/// The same for an op with several results, of the types \p to.
std::string applyToResults(const std::string &op,
                           const std::vector<std::string> &from,
                           const std::vector<std::string> &to);

/// An op on one argument, or on two, of the type of the result.
std::string unary(const std::string &op, const std::string &type = "2x3xf64");
std::string binary(const std::string &op, const std::string &type = "2x3xf64");

/// Rows of the type \p from moved to those of \p to, as each of the two lists
/// of indices says.
std::string permuteRows(const std::string &from, const std::string &to,
                        const std::vector<int64_t> &indices,
                        const std::vector<int64_t> &inverse);

/// A norm of rows that begin at axis \p row.
std::string norm(const std::string &op, const std::string &row,
                 const std::string &arguments, const std::string &argumentTypes,
                 const std::string &results, const std::string &resultTypes);

} // namespace pipewright

#endif // PIPEWRIGHT_TEST_UNIT_GRADIENTS_SAMPLETEXT_H
