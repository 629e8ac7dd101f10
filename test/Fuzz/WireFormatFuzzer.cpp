//===- WireFormatFuzzer.cpp - Any bytes through the wire walker
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What the walker takes, it must take again: its copy is a message as well.
//
//===----------------------------------------------------------------------===//

#include "WireFormat.h"

using namespace pipewright::onnx;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef file(reinterpret_cast<const char *>(data), size);
  llvm::Expected<std::string> copy = copyWithoutWeights(file);
  if (!copy) {
    llvm::consumeError(copy.takeError());
    return 0;
  }
  if (llvm::Error error = copyWithoutWeights(*copy).takeError())
    llvm::report_fatal_error(std::move(error));
  return 0;
}
