//===- Memory.h - Buffers that know which bytes are written -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TEST_PTX_MEMORY_H
#define PIPEWRIGHT_TEST_PTX_MEMORY_H

#include "Ptx/Program.h"
#include "Ptx/Races.h"

namespace pipewright::ptx {

/// A range of addresses: a global buffer, a block's shared memory, a lane's
/// local memory.
class Region {
public:
  enum class ByteState : uint8_t {
    Unwritten,
    Written,
    /// Between two variables: not to be accessed.
    Gap
  };

  Region(std::string name, Word base, size_t bytes,
         ByteState state = ByteState::Unwritten);
  /// The caller's bytes, all of them written.
  Region(std::string name, uint8_t *data, size_t bytes);

  bool contains(Word address, size_t bytes) const;
  uint8_t *getData(Word address) { return data + (address - base); }
  const uint8_t *getData(Word address) const { return data + (address - base); }

  bool isWritten(Word address, size_t bytes) const;
  void setState(Word address, size_t bytes, ByteState state);
  /// Copies \p bytes in and marks them written.
  void fill(Word address, const void *from, size_t bytes);

  std::string name;
  Word base;
  size_t size;
  bool isReadOnly = false;
  RaceShadow shadow;
  Traffic traffic;

private:
  std::vector<uint8_t> own;
  uint8_t *data;
  std::vector<ByteState> states; ///< empty: all bytes are written
};

/// The global and constant memory of a machine.
class Memory {
public:
  explicit Memory(const Program &program);

  Region &allocate(const std::string &name, size_t bytes);
  Region &map(const std::string &name, void *data, size_t bytes);

  /// The buffer that holds \p address or, if there is none, null.
  Region *find(Word address);
  const Region *find(Word address) const;
  /// Where an address outside of all buffers is, for messages: "16 bytes past
  /// the end of 'x' (4096 bytes)".
  std::string describe(Word address) const;

  Region &getConstants() { return constants; }
  /// Forgets the accesses and traffic of the last launch.
  void beginLaunch();
  void addTraffic(std::map<std::string, Traffic> &traffic) const;
  std::vector<AccessedRange> getAccesses() const;

private:
  Region &insert(Region region);

  /// In the order of their bases.
  std::vector<std::unique_ptr<Region>> regions;
  Region constants;
  Word next = buffersBase;
  Region *last = nullptr;
};

void addTraffic(Traffic &sum, const Traffic &more);

} // namespace pipewright::ptx

#endif // PIPEWRIGHT_TEST_PTX_MEMORY_H
