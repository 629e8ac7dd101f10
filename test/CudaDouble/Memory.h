//===- Memory.h - Allocations, and who uses their bytes when ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CUDADOUBLE_MEMORY_H
#define CUDADOUBLE_MEMORY_H

#include "VectorClock.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace cudadouble {

enum class MemoryKind { Device, Pinned, Communication };

/// Bytes that an operation reads or writes.
struct Access {
  const void *data;
  size_t bytes;
  bool isWrite;
};

/// Who accesses: an operation at its moment, and what it happened after.
struct Accessor {
  Moment moment;
  const VectorClock *clock;
  std::string text;
};

/// All allocations of all devices. Two accesses of which one writes race if
/// neither happened before the other.
class Memory {
public:
  explicit Memory(std::function<void(std::string)> report)
      : report(std::move(report)) {}
  ~Memory();

  /// Filled with a pattern that is not a number as a float of any width.
  void *allocate(MemoryKind kind, int device, size_t bytes);
  /// Whether \p data is what an allocation of that kind returned.
  bool free(MemoryKind kind, void *data);
  /// Checks that the bytes are there, have been written before they are read,
  /// and do not race; and remembers the access.
  void access(const Access &access, const Accessor &accessor);
  /// Whether all of the bytes are in one allocation.
  bool contains(const void *data, size_t bytes) const;

  /// Calls \p visit for each allocation.
  void forEach(const std::function<void(void *, size_t)> &visit) const;
  /// "device 0 holds 64 bytes of device memory" for each that is left.
  std::vector<std::string> describeLeaks() const;

private:
  struct Use {
    Moment moment;
    std::string text;
  };
  /// Bytes with one history.
  struct Segment {
    size_t bytes;
    Use lastWrite;          ///< of count 0: never
    std::vector<Use> reads; ///< since then, the last one of each actor
  };
  struct Allocation {
    MemoryKind kind;
    int device;
    size_t bytes;
    std::unique_ptr<unsigned char[]> storage;
    std::map<size_t, Segment> segments; ///< by their first byte
  };

  const std::pair<const uintptr_t, Allocation> *find(const void *data,
                                                     size_t bytes) const;
  static void split(Allocation &allocation, size_t at);
  void check(Segment &segment, bool isWrite, const Accessor &accessor,
             const std::string &place);

  std::function<void(std::string)> report;
  std::map<uintptr_t, Allocation> allocations;
  /// What was freed stays, for programs that still use it.
  std::vector<std::unique_ptr<unsigned char[]>> graves;
};

} // namespace cudadouble

#endif // CUDADOUBLE_MEMORY_H
