//===- LoadWeights.cpp - Parameters from a file ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Weights.h"
#include "data/Safetensors.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

using namespace pprt;

std::vector<int64_t> pprt::getWholeShape(const PprtParameter &parameter) {
  const PprtTensor &tensor = parameter.tensor;
  std::vector<int64_t> shape(tensor.shape, tensor.shape + tensor.rank);
  if (parameter.shards > 1)
    shape.front() *= parameter.shards;
  return shape;
}

uint64_t pprt::getShardBegin(const PprtParameter &parameter, uint32_t place) {
  return parameter.shards > 1 ? place * parameter.tensor.bytes : 0;
}

static Status readAt(int file, void *data, uint64_t bytes, uint64_t offset) {
  char *next = static_cast<char *>(data);
  while (bytes != 0) {
    ssize_t count = pread(file, next, bytes, offset);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return Status::dataError(count < 0 ? strerror(errno) : "file cut off");
    next += count;
    offset += count;
    bytes -= count;
  }
  return Status();
}

/// What is wrong with the file's tensor for the parameter, or "".
static std::string compare(const SafetensorsEntry &entry,
                           const PprtParameter &parameter) {
  const PprtTensor &tensor = parameter.tensor;
  auto dtype = static_cast<PprtDtype>(tensor.dtype);
  std::vector<int64_t> shape = getWholeShape(parameter);
  if (entry.dtype == dtype && entry.shape == shape &&
      entry.bytes == tensor.bytes * parameter.shards)
    return "";
  return "is " + formatShape(entry.shape) + " of " + getDtypeName(entry.dtype) +
         ", but the program needs " + formatShape(shape) + " of " +
         getDtypeName(dtype);
}

static Status loadTensor(int file, const SafetensorsIndex &index,
                         const PprtParameter &parameter, uint32_t place,
                         Device &device) {
  auto entry = index.find(parameter.tensor.name);
  if (entry == index.end())
    return Status::dataError("is missing");
  if (std::string problem = compare(entry->second, parameter); !problem.empty())
    return Status::dataError(problem);
  if (parameter.trainable && parameter.tensor.dtype != PPRT_F32 &&
      parameter.tensor.dtype != PPRT_F64)
    return Status::dataError("is trained and neither of f32 nor of f64");
  uint64_t begin = entry->second.offset + getShardBegin(parameter, place);
  return device.load(device.at(parameter.offset), parameter.tensor.bytes,
                     [&](uint8_t *host, uint64_t offset, uint64_t bytes) {
                       return readAt(file, host, bytes, begin + offset);
                     });
}

Status pprt::loadWeights(const std::string &path,
                         const PprtDescriptor &descriptor, uint32_t place,
                         Device &device) {
  if (descriptor.parameterCount == 0)
    return Status();
  SafetensorsIndex index;
  if (Status status = readSafetensorsIndex(path, index); status.failed())
    return status;
  int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return Status::dataError("cannot read '" + path + "': " + strerror(errno));
  Status result;
  for (uint32_t i = 0; i < descriptor.parameterCount && !result.failed(); ++i) {
    const PprtParameter &parameter = descriptor.parameters[i];
    Status status = loadTensor(file, index, parameter, place, device);
    if (status.failed())
      result =
          Status::dataError("'" + path + "': tensor '" + parameter.tensor.name +
                            "' " + status.getMessage());
  }
  close(file);
  return result;
}
