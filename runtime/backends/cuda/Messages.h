//===- Messages.h - Messages between devices --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_BACKENDS_CUDA_MESSAGES_H
#define PPRT_BACKENDS_CUDA_MESSAGES_H

#include "Lanes.h"

namespace pprt::cuda {

/// Puts messages onto streams. Those of a lane are given in the order of the
/// program, which is proved to come to its end even if each waits for its other
/// end at once.
class Messages {
public:
  virtual ~Messages();

  /// Connects with all ranks, which call it too.
  virtual Status connect() = 0;
  /// What comes later on \p stream is after the message.
  virtual void send(const DeviceMessage &message, Lane lane,
                    cudaStream_t stream) = 0;
  virtual void receive(const DeviceMessage &message, Lane lane,
                       cudaStream_t stream) = 0;
  /// Moves the blocks of an exchange, the rank's own one too.
  virtual void exchange(const BlockExchange &exchange, cudaStream_t stream) = 0;
  /// Whether sums over replicas take no messages.
  virtual bool addsUp() const = 0;
  /// Adds numbers over replicas, which do the same, if that takes none.
  virtual void allReduce(const std::vector<Reals> &, Lane, cudaStream_t) {}
  /// Fails if a peer is lost.
  virtual Status poll() = 0;
};

/// NCCL, with a communicator for each lane that any rank uses.
std::unique_ptr<Messages> createNcclMessages(const DeviceSetup &setup);

/// Copies between ranks that are threads of one process and share a device.
std::unique_ptr<Messages> createLocalMessages(const DeviceSetup &setup);

} // namespace pprt::cuda

#endif // PPRT_BACKENDS_CUDA_MESSAGES_H
