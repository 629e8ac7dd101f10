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
#include <vector>

using namespace pprt;

/// Bytes that rank 0 holds of another rank's tensor at a time.
static constexpr uint64_t partBytes = 16 << 20;

namespace {
/// Rank 0's side: one pass over the ranks for the tensors' descriptions, one
/// for their bytes.
class ParameterCollector {
public:
  ParameterCollector(const PprtDescriptor &descriptor, Device &device,
                     Transport &transport)
      : descriptor(descriptor), device(device), transport(transport) {}

  Status collect(const std::string &path);

private:
  void collectDescriptions();
  void receiveDescriptions(uint32_t rank);
  void add(uint32_t rank, const std::string &name, SafetensorsEntry entry);
  Status collectBytes(OutputFile &file);
  Status receive(uint32_t rank, const SafetensorsEntry &entry, bool wanted,
                 OutputFile &file);

  struct Tensor {
    std::string name;
    uint64_t bytes;
    bool wanted; ///< false: a lower rank has a copy
  };

  const PprtDescriptor &descriptor;
  Device &device;
  Transport &transport;
  SafetensorsIndex index;
  std::vector<std::vector<Tensor>> tensors; ///< per rank, in its order
};
} // namespace

static SafetensorsEntry describe(const PprtTensor &tensor) {
  return {static_cast<PprtDtype>(tensor.dtype),
          std::vector<int64_t>(tensor.shape, tensor.shape + tensor.rank),
          /*offset=*/0, tensor.bytes};
}

void ParameterCollector::add(uint32_t rank, const std::string &name,
                             SafetensorsEntry entry) {
  bool isNew = index.find(name) == index.end();
  tensors[rank].push_back({name, entry.bytes, isNew});
  if (isNew)
    index[name] = std::move(entry);
}

void ParameterCollector::receiveDescriptions(uint32_t rank) {
  uint32_t count = 0;
  transport.recv(rank, ParameterTag, &count, sizeof count);
  for (uint32_t i = 0; i < count; ++i) {
    uint64_t header[4]; // bytes of the name, dtype, rank, bytes
    transport.recv(rank, ParameterTag, header, sizeof header);
    std::string name(header[0], '\0');
    transport.recv(rank, ParameterTag, name.data(), name.size());
    SafetensorsEntry entry = {static_cast<PprtDtype>(header[1]),
                              std::vector<int64_t>(header[2]), 0, header[3]};
    transport.recv(rank, ParameterTag, entry.shape.data(),
                   entry.shape.size() * sizeof(int64_t));
    add(rank, name, std::move(entry));
  }
}

static void sendDescriptions(const PprtDescriptor &descriptor,
                             Transport &transport) {
  uint32_t count = descriptor.parameterCount;
  transport.send(0, ParameterTag, &count, sizeof count);
  for (uint32_t i = 0; i < count; ++i) {
    const PprtTensor &tensor = descriptor.parameters[i].tensor;
    std::string name = tensor.name;
    uint64_t header[4] = {name.size(), tensor.dtype, tensor.rank, tensor.bytes};
    transport.send(0, ParameterTag, header, sizeof header);
    transport.send(0, ParameterTag, name.data(), name.size());
    transport.send(0, ParameterTag, tensor.shape,
                   tensor.rank * sizeof(int64_t));
  }
}

static void sendBytes(const PprtDescriptor &descriptor, Device &device,
                      Transport &transport) {
  for (uint32_t i = 0; i < descriptor.parameterCount; ++i) {
    const PprtParameter &parameter = descriptor.parameters[i];
    for (uint64_t done = 0; done < parameter.tensor.bytes; done += partBytes) {
      uint64_t bytes = std::min(partBytes, parameter.tensor.bytes - done);
      transport.send(0, ParameterTag,
                     device.view(device.at(parameter.offset + done), bytes),
                     bytes);
    }
  }
}

void ParameterCollector::collectDescriptions() {
  tensors.resize(transport.getSize());
  for (uint32_t i = 0; i < descriptor.parameterCount; ++i) {
    const PprtTensor &tensor = descriptor.parameters[i].tensor;
    add(0, tensor.name, describe(tensor));
  }
  for (uint32_t rank = 1; rank < transport.getSize(); ++rank)
    receiveDescriptions(rank);
}

/// Receives all of a tensor even if it is not wanted or cannot be written:
/// the sender does not know.
Status ParameterCollector::receive(uint32_t rank, const SafetensorsEntry &entry,
                                   bool wanted, OutputFile &file) {
  Status result;
  std::vector<char> part(std::min(partBytes, entry.bytes));
  for (uint64_t done = 0; done < entry.bytes; done += partBytes) {
    uint64_t bytes = std::min(partBytes, entry.bytes - done);
    transport.recv(rank, ParameterTag, part.data(), bytes);
    if (wanted && !result.failed())
      result = file.write(part.data(), bytes, entry.offset + done);
  }
  return result;
}

Status ParameterCollector::collectBytes(OutputFile &file) {
  Status result;
  auto keepFirst = [&](Status status) {
    if (status.failed() && !result.failed())
      result = status;
  };
  for (uint32_t i = 0; i < descriptor.parameterCount; ++i) {
    const PprtParameter &parameter = descriptor.parameters[i];
    for (uint64_t done = 0; done < parameter.tensor.bytes; done += partBytes) {
      uint64_t bytes = std::min(partBytes, parameter.tensor.bytes - done);
      keepFirst(
          file.write(device.view(device.at(parameter.offset + done), bytes),
                     bytes, index[parameter.tensor.name].offset + done));
    }
  }
  for (uint32_t rank = 1; rank < transport.getSize(); ++rank)
    for (const Tensor &tensor : tensors[rank])
      keepFirst(receive(rank, index[tensor.name], tensor.wanted, file));
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
                            const PprtDescriptor &descriptor, Device &device,
                            Transport &transport) {
  Status status;
  if (transport.getRank() == 0) {
    status = ParameterCollector(descriptor, device, transport).collect(path);
  } else {
    sendDescriptions(descriptor, transport);
    sendBytes(descriptor, device, transport);
  }
  return agree(transport, status);
}
