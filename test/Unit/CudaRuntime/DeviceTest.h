//===- DeviceTest.h - A device and its memory -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The runtime's functions for CUDA run on the device of Machine.h.
//
//===----------------------------------------------------------------------===//

#ifndef CUDARUNTIME_DEVICETEST_H
#define CUDARUNTIME_DEVICETEST_H

#include "Stream.h"

#include "gtest/gtest.h"
#include <cstring>
#include <vector>

namespace pprt::cuda {

class DeviceTest : public testing::Test {
protected:
  DeviceTest();
  /// Gives all back, and expects that nothing went wrong or is left.
  ~DeviceTest() override;

  /// Gives back what was allocated and uploaded so far: a launch takes as long
  /// as there is much of it.
  void freeMemory();
  void *allocate(size_t bytes);
  void *allocatePinned(size_t bytes);

  /// Device memory with these numbers, \p shift of them after an address that
  /// is a multiple of 256.
  template <typename T>
  T *upload(const std::vector<T> &numbers, size_t shift = 0) {
    size_t bytes = numbers.size() * sizeof(T);
    auto *data = static_cast<T *>(allocate(bytes + shift * sizeof(T))) + shift;
    copyIn(data, numbers.data(), bytes);
    return data;
  }

  /// The numbers when all is done.
  template <typename T>
  std::vector<T> download(const T *data, size_t count) {
    std::vector<T> numbers(count);
    copyOut(numbers.data(), data, count * sizeof(T));
    return numbers;
  }

  /// Calls \p work as tasks are called before the first step, and then as in a
  /// step, where nothing may be allocated or loaded.
  template <typename WorkT>
  void prepareAndRun(WorkT work) {
    prepare(true);
    work();
    prepare(false);
    work();
    synchronize();
  }

  void prepare(bool begins);
  void synchronize();

  ComputeStream &to;

private:
  void copyIn(void *data, const void *numbers, size_t bytes);
  void copyOut(void *numbers, const void *data, size_t bytes);

  std::vector<void *> memory, pinned;
};

} // namespace pprt::cuda

#endif // CUDARUNTIME_DEVICETEST_H
