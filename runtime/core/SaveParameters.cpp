//===- SaveParameters.cpp - Parameters to a file --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Weights.h"
#include "data/Safetensors.h"
#include "data/WriteFile.h"
#include "launch/Collectives.h"

#include <algorithm>
#include <set>
#include <vector>

using namespace pprt;

/// Bytes that rank 0 holds of another rank's tensor at a time.
static constexpr uint64_t partBytes = 16 << 20;

/// What a rank at \p place saves: those at the first place all they have, the
/// others what only they have.
static std::vector<const PprtParameter *>
listSaved(const PprtDescriptor &descriptor, uint32_t place) {
  std::vector<const PprtParameter *> saved;
  for (uint32_t i = 0; i < descriptor.parameterCount; ++i)
    if (place == 0 || descriptor.parameters[i].shards > 1)
      saved.push_back(&descriptor.parameters[i]);
  return saved;
}

namespace {
/// Rank 0's side: one pass over the ranks for the tensors' descriptions, one
/// for their bytes.
class ParameterCollector {
public:
  ParameterCollector(const PprtDescriptor &descriptor, Device &device,
                     Transport &transport)
      : device(device), transport(transport),
        mine(listSaved(descriptor, /*place=*/0)) {}

  Status collect(const std::string &path);

private:
  void collectDescriptions();
  void receiveDescriptions(uint32_t rank);
  Status collectBytes(OutputFile &file);

  /// What a rank has of a tensor of the file.
  struct Extract {
    std::string name;
    uint64_t begin, bytes; ///< in the tensor
    bool wanted = true;    ///< false: a lower rank has a copy
  };
  void add(uint32_t rank, Extract extract, SafetensorsEntry whole);
  Status receive(uint32_t rank, const Extract &extract, OutputFile &file);

  Device &device;
  Transport &transport;
  std::vector<const PprtParameter *> mine;
  SafetensorsIndex index;
  std::set<std::pair<std::string, uint64_t>> known; ///< names and begins
  std::vector<std::vector<Extract>> extracts;       ///< per rank, in its order
};
} // namespace

void ParameterCollector::add(uint32_t rank, Extract extract,
                             SafetensorsEntry whole) {
  index.emplace(extract.name, std::move(whole));
  extract.wanted = known.insert({extract.name, extract.begin}).second;
  extracts[rank].push_back(std::move(extract));
}

void ParameterCollector::receiveDescriptions(uint32_t rank) {
  uint32_t count = 0;
  transport.recv(rank, ParameterTag, &count, sizeof count);
  for (uint32_t i = 0; i < count; ++i) {
    // Bytes of the name, dtype, rank, bytes of the whole, begin and bytes of
    // what the rank has.
    uint64_t header[6];
    transport.recv(rank, ParameterTag, header, sizeof header);
    std::string name(header[0], '\0');
    transport.recv(rank, ParameterTag, name.data(), name.size());
    SafetensorsEntry whole = {static_cast<PprtDtype>(header[1]),
                              std::vector<int64_t>(header[2]), 0, header[3]};
    transport.recv(rank, ParameterTag, whole.shape.data(),
                   whole.shape.size() * sizeof(int64_t));
    add(rank, {name, header[4], header[5]}, std::move(whole));
  }
}

static void sendDescriptions(const std::vector<const PprtParameter *> &mine,
                             uint32_t place, Transport &transport) {
  uint32_t count = mine.size();
  transport.send(0, ParameterTag, &count, sizeof count);
  for (const PprtParameter *parameter : mine) {
    const PprtTensor &tensor = parameter->tensor;
    std::string name = tensor.name;
    std::vector<int64_t> shape = getWholeShape(*parameter);
    uint64_t header[6] = {name.size(),
                          tensor.dtype,
                          shape.size(),
                          tensor.bytes * parameter->shards,
                          getShardBegin(*parameter, place),
                          tensor.bytes};
    transport.send(0, ParameterTag, header, sizeof header);
    transport.send(0, ParameterTag, name.data(), name.size());
    transport.send(0, ParameterTag, shape.data(),
                   shape.size() * sizeof(int64_t));
  }
}

static void sendBytes(const std::vector<const PprtParameter *> &mine,
                      Device &device, Transport &transport) {
  for (const PprtParameter *parameter : mine)
    for (uint64_t done = 0; done < parameter->tensor.bytes; done += partBytes) {
      uint64_t bytes = std::min(partBytes, parameter->tensor.bytes - done);
      transport.send(0, ParameterTag,
                     device.view(device.at(parameter->offset + done), bytes),
                     bytes);
    }
}

void ParameterCollector::collectDescriptions() {
  extracts.resize(transport.getSize());
  for (const PprtParameter *parameter : mine) {
    const PprtTensor &tensor = parameter->tensor;
    add(0, {tensor.name, /*begin=*/0, tensor.bytes},
        {static_cast<PprtDtype>(tensor.dtype), getWholeShape(*parameter),
         /*offset=*/0, tensor.bytes * parameter->shards});
  }
  for (uint32_t rank = 1; rank < transport.getSize(); ++rank)
    receiveDescriptions(rank);
}

/// Receives all that a rank has of a tensor even if it is not wanted or cannot
/// be written: the sender does not know.
Status ParameterCollector::receive(uint32_t rank, const Extract &extract,
                                   OutputFile &file) {
  Status result;
  uint64_t offset = index[extract.name].offset + extract.begin;
  std::vector<char> part(std::min(partBytes, extract.bytes));
  for (uint64_t done = 0; done < extract.bytes; done += partBytes) {
    uint64_t bytes = std::min(partBytes, extract.bytes - done);
    transport.recv(rank, ParameterTag, part.data(), bytes);
    if (extract.wanted && !result.failed())
      result = file.write(part.data(), bytes, offset + done);
  }
  return result;
}

Status ParameterCollector::collectBytes(OutputFile &file) {
  Status result;
  auto keepFirst = [&](Status status) {
    if (status.failed() && !result.failed())
      result = status;
  };
  for (const PprtParameter *parameter : mine)
    for (uint64_t done = 0; done < parameter->tensor.bytes; done += partBytes) {
      uint64_t bytes = std::min(partBytes, parameter->tensor.bytes - done);
      keepFirst(
          file.write(device.view(device.at(parameter->offset + done), bytes),
                     bytes, index[parameter->tensor.name].offset + done));
    }
  for (uint32_t rank = 1; rank < transport.getSize(); ++rank)
    for (const Extract &extract : extracts[rank])
      keepFirst(receive(rank, extract, file));
  return result;
}

Status ParameterCollector::collect(const std::string &path) {
  collectDescriptions();
  std::string start = layOutSafetensors(index);
  OutputFile file;
  Status opened = file.open(path);
  // A file that is not open fails at each write, and the bytes still arrive.
  Status written = collectBytes(file);
  if (opened.failed())
    return opened;
  if (written.failed())
    return written;
  if (Status status = file.write(start.data(), start.size(), 0);
      status.failed())
    return status;
  return file.commit();
}

Status pprt::saveParameters(const std::string &path,
                            const PprtDescriptor &descriptor, uint32_t place,
                            Device &device, Transport &group) {
  Status status;
  if (group.getRank() == 0) {
    status = ParameterCollector(descriptor, device, group).collect(path);
  } else {
    std::vector<const PprtParameter *> mine = listSaved(descriptor, place);
    sendDescriptions(mine, place, group);
    sendBytes(mine, device, group);
  }
  return agree(group, status);
}
