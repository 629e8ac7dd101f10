//===- Options.h - The options of a rank executable -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_CORE_OPTIONS_H
#define PPRT_CORE_OPTIONS_H

#include "LearningRate.h"
#include "LossScale.h"
#include "pprt/Data.h"
#include "pprt/Status.h"

#include <cstdint>
#include <optional>
#include <string>

namespace pprt {

enum class LogFormat { Text, Jsonl };

/// What ranks are to each other.
enum class TransportKind {
  Processes, ///< which a launcher starts
  Threads,   ///< of one process
  Local,     ///< threads that share one device
};

struct RankOptions {
  int64_t steps = 1;
  DataOptions data;
  bool eval = false;

  double learningRate = 1e-3;
  LearningRateSchedule schedule;
  std::optional<double> weightDecay; ///< default: 0.01 for AdamW, 0 for SGD
  std::optional<double> momentum;    ///< of SGD; default 0
  std::optional<double> beta1, beta2, epsilon; ///< of AdamW
  bool noDecay1d = false;
  double clipGradNorm = 0; ///< 0: no clipping
  LossScaleOptions lossScale;
  bool failOnNan = false;
  bool skipNan = false;

  LogFormat logFormat = LogFormat::Text;
  std::string logFile, traceFile, reportFile;
  std::string saveOutputs;    ///< folder
  std::string saveParameters; ///< file
  std::string weights;        ///< default: weights.safetensors of the build
  bool cudaGraph = false;
  TransportKind transport = TransportKind::Processes;
  double timeoutSeconds = 300;
  /// PIPEWRIGHT_FUZZ_DELAY: seed of random delays; absent: none.
  std::optional<uint64_t> fuzzSeed;
};

/// What the command line asks for.
struct CommandLine {
  RankOptions options;
  bool help = false;
};

/// Parses the command line of a rank whose optimizer is \p optimizer, and the
/// environment.
Status parseOptions(int argc, const char *const *argv, PprtOptimizer optimizer,
                    CommandLine &result);

/// The text of `--help`.
std::string getHelp(const std::string &program);

} // namespace pprt

#endif // PPRT_CORE_OPTIONS_H
