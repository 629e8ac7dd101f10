//===- OutputWriter.h - The model's outputs as .npy -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_DATA_OUTPUTWRITER_H
#define PPRT_DATA_OUTPUTWRITER_H

#include "WriteFile.h"
#include "pprt/Descriptor.h"
#include "pprt/Tensor.h"

#include <memory>
#include <vector>

namespace pprt {

/// Writes each output that this rank makes to DIR/NAME.npy, all micro-batches
/// one after the other along the output's axis. A `/` in a name becomes `_`.
class OutputWriter {
public:
  /// \p microbatches: how many will be appended to each output.
  static Status create(const std::string &directory,
                       const PprtDescriptor &descriptor, int64_t microbatches,
                       std::unique_ptr<OutputWriter> &result);

  /// Appends a micro-batch; an error is kept until finish().
  void append(uint32_t output, const void *data);
  Status finish();

private:
  struct File {
    OutputFile file;
    uint64_t end = 0;    ///< where the next micro-batch's first row goes
    uint64_t rows = 1;   ///< how often the axis occurs: sizes before it
    uint64_t bytes = 0;  ///< of a micro-batch in a row
    uint64_t stride = 0; ///< from row to row
  };
  static Status open(const std::string &path, const PprtOutput &output,
                     int64_t microbatches, File &file);

  std::vector<std::unique_ptr<File>> files; ///< per output; null: not ours
  Status status;
};

} // namespace pprt

#endif // PPRT_DATA_OUTPUTWRITER_H
