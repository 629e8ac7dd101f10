//===- NpySource.cpp - Samples in a .npy array ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InputSource.h"
#include "Npy.h"

#include <cstring>

using namespace pprt;

namespace {
/// A sample is `slices` slices along the axis: usually one, but labels of a
/// whole sequence may be laid out flat. Seen as [outer][axis][inner], outer
/// being the axes before and inner those after.
class NpySource : public InputSource {
public:
  NpySource(NpyArray array, const InputSpec &input, int64_t microbatchSize);

  int64_t getSampleCount() const override {
    return input.axis < 0 ? -1 : array.shape[input.axis] / slices;
  }
  std::string getFile() const override { return array.file->getPath(); }
  void copy(int64_t sample, int64_t position,
            uint8_t *destination) const override;
  Status validate(int64_t samples) const override;

private:
  void copyElements(int64_t first, int64_t count, int64_t position,
                    uint8_t *destination) const;
  int64_t readInteger(int64_t index) const;
  int64_t getSampleOf(int64_t element) const;

  NpyArray array;
  InputSpec input;
  int64_t slices = 1;
  int64_t outer = 1;
  int64_t inner = 1;
};
} // namespace

InputSource::~InputSource() = default;

NpySource::NpySource(NpyArray npy, const InputSpec &spec,
                     int64_t microbatchSize)
    : array(std::move(npy)), input(spec) {
  // Unsigned integers fit any wider type.
  array.dtype = input.dtype;
  if (input.axis < 0) {
    inner = countElements(input.shape);
    return;
  }
  slices = input.shape[input.axis] / microbatchSize;
  for (size_t i = 0; i < input.shape.size(); ++i) {
    if (int64_t(i) < input.axis)
      outer *= input.shape[i];
    if (int64_t(i) > input.axis)
      inner *= input.shape[i];
  }
}

void NpySource::copy(int64_t sample, int64_t position,
                     uint8_t *destination) const {
  if (input.axis < 0) {
    copyElements(0, inner, 0, destination);
    return;
  }
  int64_t count = slices * inner;
  int64_t sourceRow = array.shape[input.axis] * inner;
  int64_t targetRow = input.shape[input.axis] * inner;
  for (int64_t i = 0; i < outer; ++i)
    copyElements(i * sourceRow + sample * count, count,
                 i * targetRow + position * count, destination);
}

/// Copies \p count elements from \p first on to \p position of \p destination.
void NpySource::copyElements(int64_t first, int64_t count, int64_t position,
                             uint8_t *destination) const {
  int64_t from = array.elementBytes, to = getElementBytes(input.dtype);
  const uint8_t *source = array.data + first * from;
  destination += position * to;
  if (!array.isUnsigned()) {
    memcpy(destination, source, count * to);
    return;
  }
  memset(destination, 0, count * to);
  for (int64_t i = 0; i < count; ++i)
    memcpy(destination + i * to, source + i * from, from);
}

int64_t NpySource::readInteger(int64_t index) const {
  const uint8_t *element = array.data + index * array.elementBytes;
  if (array.isUnsigned()) {
    uint64_t value = 0;
    memcpy(&value, element, array.elementBytes);
    return value;
  }
  switch (array.dtype) {
  case PPRT_I8:
    return *reinterpret_cast<const int8_t *>(element);
  case PPRT_I16: {
    int16_t value;
    memcpy(&value, element, sizeof value);
    return value;
  }
  case PPRT_I32: {
    int32_t value;
    memcpy(&value, element, sizeof value);
    return value;
  }
  default: {
    int64_t value;
    memcpy(&value, element, sizeof value);
    return value;
  }
  }
}

/// The sample that an element of the array belongs to.
int64_t NpySource::getSampleOf(int64_t element) const {
  return element / inner % array.shape[input.axis] / slices;
}

Status NpySource::validate(int64_t samples) const {
  if (input.labelClasses == 0 && input.indexLimit == 0)
    return Status();
  int64_t count = countElements(array.shape);
  for (int64_t i = 0; i < count; ++i) {
    std::string problem = checkValue(input, readInteger(i));
    if (problem.empty())
      continue;
    int64_t sample = input.axis < 0 ? 0 : getSampleOf(i);
    if (sample < samples)
      return Status::dataError("'" + getFile() + "' for input '" + input.name +
                               "': sample " + std::to_string(sample) + " has " +
                               problem);
  }
  return Status();
}

static bool isInteger(PprtDtype dtype) {
  return dtype >= PPRT_I8 && dtype <= PPRT_I64;
}

static std::string getTypeName(const NpyArray &array) {
  if (array.isUnsigned())
    return "u" + std::to_string(8 * array.elementBytes);
  return getDtypeName(array.dtype);
}

/// Whether the input can hold all numbers of the array's type.
static bool canHold(const InputSpec &input, const NpyArray &array) {
  if (array.dtype == input.dtype)
    return true;
  return array.isUnsigned() && isInteger(input.dtype) &&
         getElementBytes(input.dtype) > array.elementBytes;
}

/// What is wrong with the array for the input, or "".
static std::string checkArray(const NpyArray &array, const InputSpec &input,
                              int64_t microbatchSize) {
  if (!canHold(input, array))
    return "has elements of type " + getTypeName(array) +
           ", but the input's are " + getDtypeName(input.dtype);
  bool matches = array.shape.size() == input.shape.size();
  for (size_t i = 0; matches && i < input.shape.size(); ++i)
    matches = int64_t(i) == input.axis || array.shape[i] == input.shape[i];
  std::string note;
  if (input.axis >= 0)
    note = " for a micro-batch, with samples along axis " +
           std::to_string(input.axis);
  if (!matches)
    return "has shape " + formatShape(array.shape) + ", but the input's is " +
           formatShape(input.shape) + note;
  if (input.axis < 0)
    return "";
  int64_t slices = input.shape[input.axis] / microbatchSize;
  if (slices == 0 || input.shape[input.axis] % microbatchSize != 0)
    return "cannot be cut: axis " + std::to_string(input.axis) +
           " of the input has " + std::to_string(input.shape[input.axis]) +
           " elements for " + std::to_string(microbatchSize) + " samples";
  if (array.shape[input.axis] % slices != 0)
    return "has " + std::to_string(array.shape[input.axis]) +
           " elements along axis " + std::to_string(input.axis) +
           ", but a sample has " + std::to_string(slices);
  return "";
}

std::string pprt::checkValue(const InputSpec &input, int64_t value) {
  if (input.labelClasses != 0 && value != input.ignoreIndex &&
      (value < 0 || value >= input.labelClasses))
    return "label " + std::to_string(value) + ", which is not in [0, " +
           std::to_string(input.labelClasses) + ") and not the ignored label " +
           std::to_string(input.ignoreIndex);
  if (input.indexLimit != 0 &&
      (value < -input.indexLimit || value >= input.indexLimit))
    return "index " + std::to_string(value) + ", which is not in [0, " +
           std::to_string(input.indexLimit) + ")";
  return "";
}

Status pprt::openNpySource(const std::string &path, const InputSpec &input,
                           int64_t microbatchSize,
                           std::unique_ptr<InputSource> &result) {
  NpyArray array;
  if (Status status = openNpy(path, array); status.failed())
    return status;
  std::string problem = checkArray(array, input, microbatchSize);
  if (problem.empty() && !isInteger(input.dtype) &&
      (input.labelClasses != 0 || input.indexLimit != 0))
    problem = "holds labels or indices, which must be integers";
  if (!problem.empty())
    return Status::dataError("'" + path + "' for input '" + input.name + "' " +
                             problem);
  result = std::make_unique<NpySource>(std::move(array), input, microbatchSize);
  return Status();
}
