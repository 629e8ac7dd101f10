//===- InputSource.h - Where the samples of an input come from --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_DATA_INPUTSOURCE_H
#define PPRT_DATA_INPUTSOURCE_H

#include "MappedFile.h"
#include "pprt/Data.h"

#include <memory>

namespace pprt {

/// The samples of one input.
class InputSource {
public:
  virtual ~InputSource();

  /// -1: any number.
  virtual int64_t getSampleCount() const { return -1; }
  /// The file, for messages.
  virtual std::string getFile() const { return ""; }
  /// Writes sample \p sample as number \p position of a micro-batch.
  virtual void copy(int64_t sample, int64_t position,
                    uint8_t *destination) const = 0;
  /// Checks the values of samples [0, \p samples).
  virtual Status validate(int64_t samples) const = 0;
};

/// Samples along an axis of a .npy array, or one array for all micro-batches.
Status openNpySource(const std::string &path, const InputSpec &input,
                     int64_t microbatchSize,
                     std::unique_ptr<InputSource> &result);

/// A file of tokens, cut into windows.
class TokenFile {
public:
  /// \p dtype: I8 for bytes, I16 and I32 for .bin files.
  static Status open(const std::string &path, PprtDtype dtype,
                     std::shared_ptr<TokenFile> &result);
  const std::string &getPath() const { return file->getPath(); }
  int64_t getCount() const { return count; }
  int64_t getToken(int64_t index) const;

private:
  std::unique_ptr<MappedFile> file;
  PprtDtype dtype;
  int64_t count;
};

/// What an input takes from a window of tokens.
enum class WindowPart { Tokens, NextTokens, Positions, Ones, Zeros };

/// Windows of \p length tokens; an input has one a sample.
std::unique_ptr<InputSource> createWindowSource(std::shared_ptr<TokenFile> file,
                                                const InputSpec &input,
                                                WindowPart part,
                                                int64_t length);

/// What is wrong with \p value as a label or an index of \p input; or "".
std::string checkValue(const InputSpec &input, int64_t value);

} // namespace pprt

#endif // PPRT_DATA_INPUTSOURCE_H
