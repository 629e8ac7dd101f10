//===- Data.h - The samples a run trains on ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which samples a step uses is a function of (seed, step) alone: step t, from
// 0, takes positions t*G to t*G + G - 1 of an endless sequence, G being the
// global batch, and cuts them into micro-batches in that order. The sequence
// runs through the samples in order, again and again; with `shuffle` each
// round, an epoch, is permuted by (seed, epoch).
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_DATA_H
#define PPRT_DATA_H

#include "pprt/Status.h"
#include "pprt/Tensor.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace pprt {

/// An input of the model: what the descriptor or the manifest says of it.
struct InputSpec {
  std::string name;
  PprtDtype dtype = PPRT_F32;
  std::vector<int64_t> shape; ///< of one micro-batch
  int64_t axis = 0;           ///< along which samples lie; -1: replicated
  int64_t labelClasses = 0;   ///< not 0: class labels, in [0, n) or ignoreIndex
  int64_t ignoreIndex = 0;
  int64_t indexLimit = 0; ///< not 0: indices, in [-n, n)
  bool read = true;       ///< false: no data is needed for it here
};

InputSpec makeInputSpec(const PprtInput &input);

/// `--data`, `--token-dtype`, `--shuffle` and `--seed`.
struct DataOptions {
  /// FILE, or INPUT=FILE. A file is a .npy array with the samples of one
  /// input, or tokens: a .bin array, or any other file read as bytes.
  std::vector<std::string> files;
  PprtDtype tokenDtype = PPRT_I16; ///< of .bin: I16 (unsigned) or I32
  bool shuffle = false;
  uint64_t seed = 0;
};

/// How samples are cut into steps.
struct BatchShape {
  int64_t microbatches = 1;
  int64_t microbatchSize = 1; ///< samples
  int64_t getGlobalBatch() const { return microbatches * microbatchSize; }
};

class InputSource;

/// The samples of a model's inputs.
class Dataset {
public:
  /// Opens the files and checks element types, shapes and sample counts; the
  /// error names the file and the input.
  static Status open(const DataOptions &options,
                     const std::vector<InputSpec> &inputs,
                     const BatchShape &batch, std::unique_ptr<Dataset> &result);
  ~Dataset();

  /// Checks the labels and indices that \p steps steps use; the error names
  /// the file, the sample and the value.
  Status validate(int64_t steps) const;

  /// Samples of all inputs; -1 if no input has samples.
  int64_t getSampleCount() const { return sampleCount; }

  /// Writes the micro-batch's part of input \p input to \p destination.
  void fill(size_t input, int64_t step, int64_t microbatch,
            void *destination) const;

private:
  Dataset(const DataOptions &options, const BatchShape &batch);
  int64_t getSample(int64_t position) const;
  Status checkCounts();

  DataOptions options;
  BatchShape batch;
  int64_t sampleCount = -1;
  std::vector<std::unique_ptr<InputSource>> sources; ///< null: not read
};

} // namespace pprt

#endif // PPRT_DATA_H
