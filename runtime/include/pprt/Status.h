//===- Status.h - Success, or what went wrong -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_STATUS_H
#define PPRT_STATUS_H

#include <string>
#include <utility>

namespace pprt {

/// Exit status of a rank executable: part of the command line's contract.
enum class ExitCode : int {
  Done = 0,
  Usage = 2,
  Data = 3,
  PeerLost = 10,
  NoProgress = 11,
  DeviceLost = 12,
  Numeric = 13,
  Mismatch = 14,
};

/// Success, or an exit code and a message: lower-case, one line, what and
/// where.
class [[nodiscard]] Status {
public:
  Status() = default;
  static Status error(ExitCode code, std::string message) {
    Status status;
    status.code = code;
    status.message = std::move(message);
    return status;
  }
  static Status dataError(std::string message) {
    return error(ExitCode::Data, std::move(message));
  }

  bool failed() const { return code != ExitCode::Done; }
  ExitCode getCode() const { return code; }
  const std::string &getMessage() const { return message; }

private:
  ExitCode code = ExitCode::Done;
  std::string message;
};

} // namespace pprt

#endif // PPRT_STATUS_H
