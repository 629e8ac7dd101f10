//===- Tokens.cpp - Windows of a token file -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sample i is tokens i*S to i*S + S - 1, and its labels are the tokens that
// follow each: i*S + 1 to i*S + S. What is left at the end is not used.
//
//===----------------------------------------------------------------------===//

#include "InputSource.h"

#include <cstring>

using namespace pprt;

Status TokenFile::open(const std::string &path, PprtDtype dtype,
                       std::shared_ptr<TokenFile> &result) {
  result = std::make_shared<TokenFile>();
  if (Status status = MappedFile::open(path, result->file); status.failed())
    return status;
  int64_t bytes = getElementBytes(dtype);
  if (result->file->getSize() % bytes != 0)
    return Status::dataError("'" + path + "' has " +
                             std::to_string(result->file->getSize()) +
                             " bytes, which is not a number of tokens of " +
                             std::to_string(bytes) + " bytes");
  result->dtype = dtype;
  result->count = result->file->getSize() / bytes;
  return Status();
}

int64_t TokenFile::getToken(int64_t index) const {
  const uint8_t *data = file->getData();
  switch (dtype) {
  case PPRT_I16: {
    uint16_t token;
    memcpy(&token, data + index * 2, sizeof token);
    return token;
  }
  case PPRT_I32: {
    int32_t token;
    memcpy(&token, data + index * 4, sizeof token);
    return token;
  }
  default:
    return data[index];
  }
}

namespace {
class WindowSource : public InputSource {
public:
  WindowSource(std::shared_ptr<TokenFile> file, const InputSpec &input,
               WindowPart part, int64_t length)
      : file(std::move(file)), input(input), part(part), length(length) {}

  int64_t getSampleCount() const override {
    return file->getCount() == 0 ? 0 : (file->getCount() - 1) / length;
  }
  std::string getFile() const override { return file->getPath(); }
  void copy(int64_t sample, int64_t position,
            uint8_t *destination) const override;
  Status validate(int64_t samples) const override;

private:
  int64_t getValue(int64_t sample, int64_t offset) const;

  std::shared_ptr<TokenFile> file;
  InputSpec input;
  WindowPart part;
  int64_t length;
};
} // namespace

int64_t WindowSource::getValue(int64_t sample, int64_t offset) const {
  switch (part) {
  case WindowPart::Tokens:
    return file->getToken(sample * length + offset);
  case WindowPart::NextTokens:
    return file->getToken(sample * length + offset + 1);
  case WindowPart::Positions:
    return offset;
  case WindowPart::Ones:
    return 1;
  case WindowPart::Zeros:
    return 0;
  }
  return 0;
}

void WindowSource::copy(int64_t sample, int64_t position,
                        uint8_t *destination) const {
  // Little-endian: the first bytes of a wide integer are the narrow one.
  int64_t bytes = getElementBytes(input.dtype);
  uint8_t *element = destination + position * length * bytes;
  for (int64_t i = 0; i < length; ++i, element += bytes) {
    int64_t value = getValue(sample, i);
    memcpy(element, &value, bytes);
  }
}

Status WindowSource::validate(int64_t samples) const {
  if (input.labelClasses == 0 && input.indexLimit == 0)
    return Status();
  for (int64_t sample = 0; sample < samples; ++sample) {
    for (int64_t i = 0; i < length; ++i) {
      int64_t value = getValue(sample, i);
      std::string problem = checkValue(input, value);
      // A token counts from 0, though an index may count from the end.
      if (problem.empty() && value < 0)
        problem = "token " + std::to_string(value);
      if (!problem.empty())
        return Status::dataError("'" + getFile() + "' for input '" +
                                 input.name + "': sample " +
                                 std::to_string(sample) + " has " + problem);
    }
  }
  return Status();
}

std::unique_ptr<InputSource>
pprt::createWindowSource(std::shared_ptr<TokenFile> file,
                         const InputSpec &input, WindowPart part,
                         int64_t length) {
  return std::make_unique<WindowSource>(std::move(file), input, part, length);
}
