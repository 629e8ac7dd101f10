//===- StepLog.h - A line for each step -------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_LOG_STEPLOG_H
#define PPRT_LOG_STEPLOG_H

#include "core/Options.h"
#include "pprt/Status.h"

#include <cstdio>
#include <optional>
#include <string>

namespace pprt {

struct StepRecord {
  int64_t step; ///< from 1
  int64_t steps;
  bool hasLoss;
  double loss;
  bool hasWideLoss; ///< of f64: all its digits count
  bool trained;     ///< false: evaluated, the next four are not set
  double gradientNorm;
  double learningRate;
  std::optional<float> lossScale; ///< if one is used
  bool skipped;                   ///< without an update
  double seconds;
  double tokensPerSecond;
};

std::string formatJsonl(const StepRecord &record);
std::string formatText(const StepRecord &record);

/// Writes to stdout or to a file, each line at once.
class StepLog {
public:
  ~StepLog();
  Status open(LogFormat format, const std::string &path);
  void write(const StepRecord &record);
  /// Writes a line that is for people only.
  void writeText(const std::string &line);
  /// Fails if not all of the lines could be written.
  Status finish() const;

private:
  void writeLine(const std::string &line);
  void showProgress(const StepRecord &record);

  LogFormat format = LogFormat::Text;
  std::string path;
  std::FILE *file = nullptr; ///< null: stdout
  int failure = 0;           ///< the first error number
};

} // namespace pprt

#endif // PPRT_LOG_STEPLOG_H
