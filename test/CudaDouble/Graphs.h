//===- Graphs.h - Work that is recorded and launched as a whole -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CUDADOUBLE_GRAPHS_H
#define CUDADOUBLE_GRAPHS_H

#include "Machine.h"

namespace cudadouble {

/// What is captured from one stream and those that join it.
class Capture : public std::enable_shared_from_this<Capture> {
public:
  /// Captures \p stream from here on.
  void join(Stream &stream);
  void add(const OperationPtr &operation, const std::vector<Stream *> &on);
  /// Ends the capture that began on \p origin; false, after a report, if a
  /// stream has not come back to it.
  bool end(Stream &origin);
  /// Puts a copy of all operations onto \p stream.
  void launch(Stream &stream) const;

  bool isOver = false;

private:
  std::vector<OperationPtr> operations; ///< each after those it waits for
  std::vector<Stream *> streams;
  /// Streams of a launch are not those of the capture.
  std::map<Stream *, size_t> actors;
};

/// The capture that one of \p streams is in, or null.
Capture *findCapture(const std::vector<Stream *> &streams);

} // namespace cudadouble

#endif // CUDADOUBLE_GRAPHS_H
