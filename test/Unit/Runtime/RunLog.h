//===- RunLog.h - What a run has told ---------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_TEST_RUNLOG_H
#define PPRT_TEST_RUNLOG_H

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

inline bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

/// The lines of a log; what is infinite, of which this parser has no notion, is
/// null.
inline std::vector<nlohmann::json> parseLines(const std::string &text) {
  std::vector<nlohmann::json> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    const std::string infinity = ":Infinity";
    if (size_t at = line.find(infinity); at != std::string::npos)
      line.replace(at, infinity.size(), ":null");
    lines.push_back(nlohmann::json::parse(line, nullptr,
                                          /*allow_exceptions=*/false));
  }
  return lines;
}

/// Seconds within which a run that is to end has ended, on a machine that has
/// other work too; one that hangs runs until the test is ended.
constexpr double soon = 60;

#endif // PPRT_TEST_RUNLOG_H
