//===- Device.h - What computes a rank's tasks ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A rank's thread gives work to its device in the order of its program. A CPU
// has done it when the call comes back. A GPU does it later, on several queues,
// and `wait` orders these; only what says that it blocks waits for it.
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_CORE_DEVICE_H
#define PPRT_CORE_DEVICE_H

#include "launch/Progress.h"
#include "launch/Transport.h"
#include "log/Trace.h"
#include "pprt/Descriptor.h"

#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace pprt {

struct RankOptions;

/// Numbers of f32 or f64 in the memory of a device.
struct Reals {
  void *data;
  int64_t count;
  bool isWide; ///< f64

  uint64_t getElementBytes() const {
    return isWide ? sizeof(double) : sizeof(float);
  }
};

/// One parameter, and what is updated with it.
struct ParameterUpdate {
  Reals value;
  const void *gradient;
  void *state[2]; ///< as in PprtParameter
  double weightDecay;
};

/// What an update has in common for all parameters.
struct UpdateRule {
  PprtOptimizer optimizer;
  double learningRate;
  double gradientScale;
  double momentum;              ///< SGD
  double beta1, beta2, epsilon; ///< AdamW
  int64_t step;                 ///< AdamW, from 1
};

/// A message of a channel or, without one, of gradients.
struct DeviceMessage {
  static constexpr uint32_t noChannel = UINT32_MAX;

  Activity activity; ///< Send or Recv, of an exchange too; gradients move
                     ///< either way
  uint32_t channel;  ///< of the descriptor
  uint32_t microbatch;
  uint32_t peer; ///< among all processes
  uint32_t tag;
  void *data;
  uint64_t bytes;
};

/// A message that is under way: its memory belongs to the device.
struct StartedMessage {
  DeviceMessage message;
  uint32_t request; ///< the device's
};

/// Blocks that the replicas of a group exchange, one for each of them.
struct BlockExchange {
  uint32_t index; ///< of the descriptor
  uint32_t microbatch;
  uint32_t tag;
  uint32_t place; ///< of this replica in its group
  /// Of the others among all processes, and of this one, by place.
  std::vector<uint32_t> peers;
  uint8_t *sent, *received;
  uint64_t blockBytes;
};

/// Which replicas have a part of a sum.
enum class Sharing : uint8_t {
  All,    ///< each has the whole parameter
  Places, ///< those that have the same shard of it
};

class Device {
public:
  virtual ~Device();

  /// Allocates the arena, zeroed, and loads what the tasks run.
  virtual Status start() = 0;
  /// Connects with the devices of the other ranks, which do the same.
  virtual Status connect() = 0;

  uint8_t *at(uint64_t offset) const {
    return offset < messagesBegin ? arena + offset
                                  : messages + (offset - messagesBegin);
  }

  /// Fills memory from the host, where \p produce writes parts of at most
  /// what is asked for, in order; blocks.
  using Producer =
      std::function<Status(uint8_t *host, uint64_t offset, uint64_t bytes)>;
  virtual Status load(void *data, uint64_t bytes, const Producer &produce) = 0;
  /// The memory as the host sees it, until the next call; blocks.
  virtual const uint8_t *view(const void *data, uint64_t bytes) = 0;

  /// Forgets what was staged and which messages there were.
  virtual void beginStep() = 0;
  virtual void zero(void *data, uint64_t bytes) = 0;
  /// Host memory whose bytes `commitStage` moves to \p data. They may be the
  /// same.
  virtual uint8_t *stage(void *data, uint64_t bytes) = 0;
  virtual void commitStage(void *data, uint64_t bytes) = 0;
  /// Copies at most 8 bytes to \p host, where they are after `synchronize`.
  virtual void readLater(void *host, const void *data, uint64_t bytes) = 0;

  /// Runs a task as an action of the program.
  virtual void run(uint32_t task, uint32_t microbatch,
                   void *const *pointers) = 0;
  virtual StartedMessage startSend(const DeviceMessage &message) = 0;
  virtual StartedMessage startRecv(const DeviceMessage &message) = 0;
  /// Begins an exchange, as all replicas of the group do. What is under way of
  /// what is sent and of what is received are messages of their own; their
  /// `channel` is the exchange.
  virtual std::vector<StartedMessage>
  startExchange(const BlockExchange &exchange) = 0;
  /// Has what is given to the device from here on wait for a message, or blocks
  /// until it has arrived or left.
  virtual void wait(const StartedMessage &started) = 0;
  /// Has only what comes next wait for a message: another one of a channel, or
  /// an exchange, as \p next and \p index say. Returns whether all else waits
  /// too, and the message is over.
  virtual bool waitBefore(const StartedMessage &started, Activity next,
                          uint32_t index) = 0;
  /// Blocks until all is done.
  virtual void synchronize() = 0;

  /// Begins to add numbers over replicas, which do the same; each gets the
  /// same bits. They are there for what is given to the device after `wait`.
  /// Nothing if the device does not add by itself: that takes messages.
  virtual std::optional<StartedMessage>
  startAllReduce(const std::vector<Reals> &sums, Sharing sharing) = 0;

  /// target += addend
  virtual void add(const Reals &target, const void *addend) = 0;
  /// Writes the sum of the squares of each to \p sums; blocks.
  virtual void sumSquares(const std::vector<Reals> &values, double *sums) = 0;
  virtual void update(const UpdateRule &rule,
                      const std::vector<ParameterUpdate> &parameters) = 0;

protected:
  uint8_t *arena = nullptr;
  /// From there on, offsets are those of memory for messages.
  uint64_t messagesBegin = UINT64_MAX;
  uint8_t *messages = nullptr;
};

/// What a device is made with; all outlive it.
struct DeviceSetup {
  const PprtDescriptor &descriptor;
  const RankOptions &options;
  Transport &transport; ///< to all processes
  Progress &progress;
  Trace &trace;
};

/// The device of the backend that the runtime was built with.
std::unique_ptr<Device> createDevice(const DeviceSetup &setup);

} // namespace pprt

#endif // PPRT_CORE_DEVICE_H
