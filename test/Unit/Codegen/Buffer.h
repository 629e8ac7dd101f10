//===- Buffer.h - Memory that notices stray writes --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TEST_UNIT_CODEGEN_BUFFER_H
#define PIPEWRIGHT_TEST_UNIT_CODEGEN_BUFFER_H

#include "pipewright/Dialect/NN/HostTensor.h"

#include <cstdlib>
#include <memory>

namespace pipewright {

/// Memory of a compiled function, aligned as the arena is, between guards.
/// What was never written is NaN or -1.
class Buffer {
public:
  explicit Buffer(int64_t bytes);

  void *getData() { return memory.get() + guardBytes; }

  void write(mlir::Type element, const nn::HostTensor &tensor);
  nn::HostTensor read(mlir::RankedTensorType type);

  /// Whether nothing was written before or after the buffer.
  bool isIntact() const;

private:
  static constexpr int64_t guardBytes = 64;
  static constexpr unsigned char guardValue = 0xA5;
  struct Free {
    void operator()(unsigned char *memory) const { std::free(memory); }
  };

  int64_t bytes;
  std::unique_ptr<unsigned char, Free> memory;
};

} // namespace pipewright

#endif // PIPEWRIGHT_TEST_UNIT_CODEGEN_BUFFER_H
