//===- RankDescription.h - The descriptor of a rank, in C++ -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Mirrors pprt/Descriptor.h structure by structure: the packager fills this in
// and code generation emits it as constants of the rank's object. Counts and
// functions are not listed here, they follow from the vectors and the tasks.
// Enumerations are those of the runtime's header, and the meaning of each field
// is explained there.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_CODEGEN_RANKDESCRIPTION_H
#define PIPEWRIGHT_CODEGEN_RANKDESCRIPTION_H

#include "pprt/Descriptor.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace pipewright {

struct TensorDescription {
  std::string name;
  PprtDtype dtype = PPRT_F32;
  std::vector<int64_t> shape;
  uint64_t bytes = 0;
};

struct ContributionDescription {
  uint32_t rank = 0;
  uint32_t layer = 0;
  uint64_t offset = 0;
};

struct ParameterDescription {
  TensorDescription tensor;
  uint64_t offset = 0;
  bool trainable = false;
  uint32_t order = 0;
  uint64_t gradient = 0;
  std::array<uint64_t, 2> state = {0, 0};
  bool decayed = false;
  uint32_t owner = 0;
  std::vector<ContributionDescription> contributions;
  uint32_t shards = 1;
};

struct BufferDescription {
  PprtBufferKind kind = PPRT_BUFFER_CHANNEL;
  std::vector<uint64_t> offsets;
  uint64_t bytes = 0;
  std::vector<uint16_t> slotOf;
  uint32_t evalSlot = 0;
  int64_t index = 0;
};

struct ChannelDescription {
  std::string name;
  PprtChannelKind kind = PPRT_ACTIVATION;
  uint32_t id = 0;
  uint32_t source = 0;
  uint32_t target = 0;
  uint32_t sourceStage = 0;
  uint32_t targetStage = 0;
  TensorDescription tensor;
  uint32_t buffer = 0;
};

struct ExchangeDescription {
  std::string name;
  uint32_t id = 0;
  uint32_t stage = 0;
  uint64_t blockBytes = 0;
  uint32_t sent = 0;
  uint32_t received = 0;
};

struct BindingDescription {
  PprtBindingKind kind = PPRT_BIND_BUFFER;
  uint32_t index = 0;
  uint64_t offset = 0;
};

/// `name` is the symbol of the `pp.task`; the bindings are in the order of
/// TaskSignature.
struct TaskDescription {
  std::string name;
  PprtRole role = PPRT_ROLE_F;
  uint32_t stage = 0;
  std::vector<BindingDescription> bindings;
};

struct InputDescription {
  TensorDescription tensor;
  int64_t axis = 0;
  int64_t labelClasses = 0;
  int64_t ignoreIndex = 0;
  int64_t indexLimit = 0;
  bool read = false;
};

struct OutputDescription {
  TensorDescription tensor;
  int64_t axis = 0;
  uint32_t buffer = UINT32_MAX;
};

struct RankDescription {
  /// What `main` hands the descriptor to.
  std::string entryPoint = "pprtMain";
  std::string toolVersion;
  std::string modelName;
  std::array<uint8_t, 32> planHash = {};

  uint32_t rank = 0;
  uint32_t ranks = 1;
  uint32_t dataParallel = 1;
  uint32_t expertParallel = 1;
  uint32_t stages = 1;
  uint32_t microbatches = 1;
  uint32_t microbatchSize = 1;
  bool forwardOnly = false;
  uint32_t lossRank = 0;
  uint32_t secondLossRank = 0;
  PprtOptimizer optimizer = PPRT_SGD;

  uint64_t arenaBytes = 0;
  uint64_t messageBytes = 0;
  uint64_t reductionOffset = 0;

  std::vector<ParameterDescription> parameters;
  std::vector<BufferDescription> buffers;
  std::vector<ChannelDescription> channels;
  std::vector<ExchangeDescription> exchanges;
  std::vector<TaskDescription> tasks;
  std::vector<InputDescription> inputs;
  std::vector<OutputDescription> outputs;
};

} // namespace pipewright

#endif // PIPEWRIGHT_CODEGEN_RANKDESCRIPTION_H
