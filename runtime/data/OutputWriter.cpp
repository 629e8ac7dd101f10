//===- OutputWriter.cpp - The model's outputs as .npy ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OutputWriter.h"
#include "Npy.h"

#include <algorithm>
#include <filesystem>

using namespace pprt;

Status OutputWriter::open(const std::string &path, const PprtOutput &output,
                          int64_t microbatches, File &file) {
  const PprtTensor &tensor = output.tensor;
  auto dtype = static_cast<PprtDtype>(tensor.dtype);
  std::vector<int64_t> shape(tensor.shape, tensor.shape + tensor.rank);
  if (shape.empty())
    shape.push_back(1);
  for (int64_t axis = 0; axis < output.axis; ++axis)
    file.rows *= shape[axis];
  shape[output.axis] *= microbatches;
  std::string header = formatNpyHeader(dtype, shape);
  if (header.empty())
    return Status::dataError("output '" + std::string(tensor.name) +
                             "' cannot be saved: .npy has no " +
                             getDtypeName(dtype));
  if (Status status = file.file.open(path); status.failed())
    return status;
  file.end = header.size();
  file.bytes = file.rows > 0 ? tensor.bytes / file.rows : 0;
  file.stride = file.bytes * microbatches;
  return file.file.write(header.data(), header.size(), 0);
}

Status OutputWriter::create(const std::string &directory,
                            const PprtDescriptor &descriptor,
                            int64_t microbatches,
                            std::unique_ptr<OutputWriter> &result) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error)
    return Status::dataError("cannot create '" + directory +
                             "': " + error.message());
  result = std::make_unique<OutputWriter>();
  for (uint32_t i = 0; i < descriptor.outputCount; ++i) {
    const PprtOutput &output = descriptor.outputs[i];
    result->files.emplace_back();
    if (output.buffer == UINT32_MAX)
      continue;
    result->files.back() = std::make_unique<File>();
    std::string name = output.tensor.name;
    std::replace(name.begin(), name.end(), '/', '_');
    if (Status status = open(directory + "/" + name + ".npy", output,
                             microbatches, *result->files.back());
        status.failed())
      return status;
  }
  return Status();
}

void OutputWriter::append(uint32_t output, const void *data) {
  File &file = *files[output];
  auto bytes = static_cast<const char *>(data);
  for (uint64_t row = 0; row < file.rows && !status.failed(); ++row)
    status = file.file.write(bytes + row * file.bytes, file.bytes,
                             file.end + row * file.stride);
  file.end += file.bytes;
}

Status OutputWriter::finish() {
  for (std::unique_ptr<File> &file : files)
    if (file && !status.failed())
      status = file->file.commit();
  return status;
}
