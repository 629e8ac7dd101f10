//===- Machine.h - Run generated GPU kernels without a GPU ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An interpreter of PTX, the assembly of NVIDIA's GPUs, that watches what the
// kernels do. Tests compile a kernel to PTX text, run it here and compare its
// results with a reference:
//
//   ModuleOrError module = Module::parse(text);
//   Machine machine(module.value);
//   Address x = machine.upload("x", values);
//   Address y = machine.allocate("y", bytes);
//   LaunchResult result = machine.launch(
//       Launch("softmax", {rows}, {256}).argument(x).argument(y));
//   EXPECT_TRUE(result.ok()) << result.describe();
//
// The lanes of a warp run in lockstep where their program counters are equal;
// all threads of a block go on, so that they may wait for each other. Blocks
// run one after the other: a kernel whose blocks wait for each other does not
// end.
//
// Faults that a GPU hides, or answers with wrong numbers, are found whatever
// the order in which the threads run: accesses outside of buffers, misaligned
// ones, races, reads of what nobody wrote, barriers that not all threads
// reach. FaultKind lists them.
//
// The text is PTX as LLVM and nvcc write it for sm_80 and sm_90. An opcode or
// modifier that is not implemented is an error of Module::parse, which names
// the line: nothing is guessed. Not implemented are textures, clusters,
// mbarrier, bulk copies, wgmma, recursive and indirect calls.
//
// Numbers: .rn, .rz, .rm and .rp results are those of IEEE 754. The .approx
// functions (ex2, lg2, sin, cos, tanh, rcp, rsqrt, sqrt, div) are computed in
// double and rounded once, so they are within 0.5 ulp of the exact value and
// differ from the GPU's, which are within 2 ulp (tanh: a relative 2^-11).
// Subnormal numbers become zero where the instruction says .ftz, and only
// there. NaN results have the GPU's canonical bits.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TEST_PTX_MACHINE_H
#define PIPEWRIGHT_TEST_PTX_MACHINE_H

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace pipewright::ptx {

struct Program;
class Memory;

/// An address of the machine's global memory.
using Address = uint64_t;

/// A parameter of a kernel; a launch passes all of them as one block of bytes.
struct Parameter {
  std::string name;
  int64_t offset;
  int64_t bytes;
};

/// What a launch must respect.
struct KernelInfo {
  std::vector<Parameter> parameters;
  /// Bytes of all parameters.
  int64_t parameterBytes = 0;
  /// Bytes of shared memory that the kernel declares, without what a launch
  /// adds.
  int64_t sharedBytes = 0;
  /// `.maxntid`, the most threads a block may have in x, y and z; 0: no limit.
  int64_t maxThreads[3] = {0, 0, 0};
  /// `.reqntid`, the threads a block must have; 0: any number.
  int64_t requiredThreads[3] = {0, 0, 0};
};

class Module;

/// A module, or why the text is none: "line 12: unknown opcode 'wgmma...'".
struct ModuleOrError {
  std::shared_ptr<const Module> value;
  std::string error;
  explicit operator bool() const { return value != nullptr; }
};

/// The kernels and variables of one PTX file, decoded.
class Module {
public:
  static ModuleOrError parse(const std::string &text);
  ~Module();

  /// The names of all kernels, in the order of the file.
  std::vector<std::string> getKernels() const;
  /// Null if there is no such kernel.
  const KernelInfo *getKernel(const std::string &name) const;

private:
  friend class Machine;
  Module();
  std::unique_ptr<Program> program;
};

struct Dim {
  uint32_t x = 1, y = 1, z = 1;
};

/// One launch of a kernel: its grid, its blocks and its arguments.
struct Launch {
  Launch(std::string kernel, Dim grid, Dim block)
      : kernel(std::move(kernel)), grid(grid), block(block) {}

  /// Appends an argument at its natural alignment. It has the size of the
  /// parameter: an `int` for .u32, an Address for .u64, a structure by value.
  template <typename T>
  Launch &argument(const T &value) {
    size_t offset =
        (parameters.size() + alignof(T) - 1) / alignof(T) * alignof(T);
    parameters.resize(offset + sizeof(T));
    std::memcpy(parameters.data() + offset, &value, sizeof(T));
    return *this;
  }

  /// Dynamic shared memory, in bytes.
  Launch &shared(int64_t bytes) {
    sharedBytes = bytes;
    return *this;
  }

  std::string kernel;
  Dim grid, block;
  int64_t sharedBytes = 0;
  std::vector<uint8_t> parameters;
  /// Instructions of a warp that a launch may take before it counts as endless.
  uint64_t maxInstructions = 50'000'000;
  /// Off for kernels whose blocks exchange data through flags in global
  /// memory: an order that flags make is not seen.
  bool checkRacesOfBlocks = true;
};

enum class FaultKind {
  /// The launch does not fit the kernel: no such kernel, wrong size of the
  /// arguments, too many threads, too much shared memory.
  Launch,
  /// An access outside of every buffer, or of a block's shared memory.
  OutOfBounds,
  /// An address that is not a multiple of the access's size.
  Misaligned,
  /// A write to a buffer that the kernel may only read.
  ReadOnly,
  /// Two threads of a block access the same byte, one of them writes, and
  /// neither a barrier nor, within a warp, bar.warp.sync is between them. Two
  /// lanes may write the same value in one instruction. Strong accesses
  /// (atomic, volatile, relaxed) do not race with each other.
  Race,
  /// The same between two blocks, which nothing orders.
  BlockRace,
  /// A read of a register or byte that nobody wrote. Copies of registers pass
  /// that on; the parameters and results of calls count as written.
  Uninitialized,
  /// A barrier, or an instruction that waits for other lanes, that some of
  /// its threads never reach. Threads that have exited count as missing.
  Deadlock,
  /// An instruction whose operands PTX leaves undefined.
  Undefined,
  /// trap, or a call of a function that the module only declares, such as
  /// __assertfail.
  Trap,
  /// The launch took more than Launch::maxInstructions.
  StepLimit
};

struct Fault {
  FaultKind kind;
  /// Line of the PTX text; 0 if the fault has none.
  int64_t line;
  /// Kernel, line, instruction, thread, block, address and what is wrong.
  std::string message;
};

/// Bytes that the threads asked for, and the 32-byte sectors that each
/// warp's instruction touches: coalesced accesses have sectors * 32 == bytes.
struct Traffic {
  int64_t bytesRead = 0, bytesWritten = 0;
  int64_t sectorsRead = 0, sectorsWritten = 0;
  /// Lanes' atomic operations; their bytes are both read and written.
  int64_t atomics = 0;
  /// How often a warp's access of shared memory has to be repeated because its
  /// lanes want different words of one of the 32 banks. 32 lanes are served at
  /// once, or as many as want 128 bytes.
  int64_t bankConflicts = 0;
};

struct Counters {
  /// Instructions that warps issued, and the sum of their active lanes.
  int64_t warpInstructions = 0, threadInstructions = 0;
  /// Barriers that completed, over all blocks.
  int64_t barriers = 0;
  /// Warps' branches that lanes took apart.
  int64_t divergentBranches = 0;
  /// By the name of the buffer; shared and local memory are "shared", "local".
  std::map<std::string, Traffic> traffic;
};

struct LaunchResult {
  /// The first fault of each kind and instruction. Faults after which the
  /// threads cannot go on end the launch.
  std::vector<Fault> faults;
  Counters counters;

  bool ok() const { return faults.empty(); }
  bool has(FaultKind kind) const;
  /// The messages, one a line.
  std::string describe() const;
};

/// Bytes of global memory that a launch wrote, or read before it wrote them.
struct AccessedRange {
  Address address;
  size_t bytes;
  bool isWrite;
};

/// A GPU with its global memory. Memory keeps its bytes between launches.
class Machine {
public:
  explicit Machine(std::shared_ptr<const Module> module);
  ~Machine();

  /// A buffer of its own, of bytes that nobody wrote. Buffers are far apart
  /// and 256-byte aligned.
  Address allocate(const std::string &name, size_t bytes);
  /// The caller's memory as a buffer, at the caller's own address and written.
  void map(const std::string &name, void *data, size_t bytes);
  /// Kernels may not write to the buffer at \p address.
  void protect(Address address);

  /// Both are within one buffer.
  void write(Address address, const void *data, size_t bytes);
  void read(Address address, void *data, size_t bytes) const;

  /// A buffer with the bytes of \p values.
  template <typename T>
  Address upload(const std::string &name, const std::vector<T> &values) {
    Address address = allocate(name, values.size() * sizeof(T));
    write(address, values.data(), values.size() * sizeof(T));
    return address;
  }

  template <typename T>
  std::vector<T> download(Address address, size_t count) const {
    std::vector<T> values(count);
    read(address, values.data(), count * sizeof(T));
    return values;
  }

  /// The address of a `.global` variable of the module; 0 if there is none.
  Address getVariable(const std::string &name) const;

  LaunchResult launch(const Launch &launch);
  /// Of the last launch; whole buffers apart, and neighbours in one.
  std::vector<AccessedRange> getAccesses() const;

private:
  std::shared_ptr<const Module> module;
  std::unique_ptr<Memory> memory;
};

} // namespace pipewright::ptx

#endif // PIPEWRIGHT_TEST_PTX_MACHINE_H
