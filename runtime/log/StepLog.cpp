//===- StepLog.cpp - A line for each step ---------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepLog.h"
#include "core/Numbers.h"

#include <cerrno>
#include <cstring>
#include <unistd.h>

using namespace pprt;

std::string pprt::formatJsonl(const StepRecord &record) {
  std::string line = "{\"step\":" + std::to_string(record.step);
  if (record.hasLoss)
    line +=
        ",\"loss\":" + (record.hasWideLoss ? formatReal(record.loss)
                                           : formatReal(float(record.loss)));
  if (record.trained)
    line += ",\"grad_norm\":" + formatReal(record.gradientNorm) +
            ",\"lr\":" + formatReal(record.learningRate);
  if (record.lossScale)
    line += ",\"loss_scale\":" + formatReal(*record.lossScale);
  if (record.skipped)
    line += ",\"skipped\":true";
  return line + ",\"step_time_s\":" + formatReal(record.seconds) +
         ",\"tokens_per_s\":" + formatReal(record.tokensPerSecond) + "}\n";
}

std::string pprt::formatText(const StepRecord &record) {
  char text[256];
  int width = static_cast<int>(std::to_string(record.steps).size());
  std::string line(text, snprintf(text, sizeof text, "step %*lld/%lld", width,
                                  static_cast<long long>(record.step),
                                  static_cast<long long>(record.steps)));
  if (record.hasLoss)
    line.append(text, snprintf(text, sizeof text, "  loss %9.6f", record.loss));
  if (record.trained)
    line.append(text,
                snprintf(text, sizeof text, "  gradient norm %9.4f  lr %.3e",
                         record.gradientNorm, record.learningRate));
  if (record.lossScale)
    line += "  loss scale " + formatReal(*record.lossScale);
  if (record.skipped)
    line += "  skipped";
  line.append(text, snprintf(text, sizeof text, "  %.3f s  %.0f tokens/s\n",
                             record.seconds, record.tokensPerSecond));
  return line;
}

Status StepLog::open(LogFormat wanted, const std::string &where) {
  format = wanted;
  path = where;
  if (path.empty())
    return Status();
  file = fopen(path.c_str(), "we");
  if (!file)
    return Status::dataError("cannot write '" + path + "': " + strerror(errno));
  return Status();
}

StepLog::~StepLog() {
  if (file)
    fclose(file);
}

void StepLog::writeLine(const std::string &line) {
  std::FILE *stream = file ? file : stdout;
  fwrite(line.data(), 1, line.size(), stream);
  // Whoever reads along sees the step when it is done.
  if (fflush(stream) != 0 && failure == 0)
    failure = errno;
}

Status StepLog::finish() const {
  if (failure == 0)
    return Status();
  std::string place = file ? "'" + path + "'" : "the standard output";
  return Status::dataError("cannot write the log to " + place + ": " +
                           strerror(failure));
}

void StepLog::write(const StepRecord &record) {
  writeLine(format == LogFormat::Jsonl ? formatJsonl(record)
                                       : formatText(record));
  if (file && isatty(STDERR_FILENO))
    showProgress(record);
}

void StepLog::writeText(const std::string &line) {
  if (format == LogFormat::Text)
    writeLine(line);
}

/// A bar on the terminal, for when the lines go to a file.
void StepLog::showProgress(const StepRecord &record) {
  constexpr int width = 40;
  int done = static_cast<int>(width * record.step / record.steps);
  std::string bar(done, '#');
  bar.resize(width, '.');
  fprintf(stderr, "\r[%s] %lld/%lld%s", bar.c_str(),
          static_cast<long long>(record.step),
          static_cast<long long>(record.steps),
          record.step == record.steps ? "\n" : "");
}
