//===- ModelMutator.cpp - Changes a field of a model
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelMutator.h"

#include "Proto/Onnx.pb.h"

#include <google/protobuf/message.h>

#include <limits>
#include <random>

using namespace pipewright;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

namespace {

/// A field of a message, and which of its elements if it has several.
struct Place {
  Message *message;
  const FieldDescriptor *field;
  int index; ///< -1: the field has one value
};

class Mutator {
public:
  Mutator(onnx::ModelProto &model, unsigned seed) : random(seed) {
    collect(model);
  }

  void mutate();

private:
  void collect(Message &message);
  void changeRepeated(const Place &place);
  void changeNumber(const Place &place);
  void changeName(const Place &place);
  void change(const Place &place);

  /// A number from 0 to \p limit - 1.
  size_t pick(size_t limit) { return random() % limit; }
  int64_t pickNumber();

  std::minstd_rand random;
  std::vector<Place> places;
  std::vector<std::string> names;
};

} // namespace

void Mutator::collect(Message &message) {
  const Reflection &reflection = *message.GetReflection();
  std::vector<const FieldDescriptor *> fields;
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor *field : fields) {
    bool isRepeated = field->is_repeated();
    int count = isRepeated ? reflection.FieldSize(message, field) : 1;
    for (int i = 0; i < count; ++i) {
      places.push_back({&message, field, isRepeated ? i : -1});
      if (field->type() == FieldDescriptor::TYPE_STRING)
        names.push_back(isRepeated
                            ? reflection.GetRepeatedString(message, field, i)
                            : reflection.GetString(message, field));
      if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE)
        collect(isRepeated
                    ? *reflection.MutableRepeatedMessage(&message, field, i)
                    : *reflection.MutableMessage(&message, field));
    }
  }
}

int64_t Mutator::pickNumber() {
  constexpr int64_t corners[] = {std::numeric_limits<int64_t>::min(),
                                 std::numeric_limits<int64_t>::max(),
                                 std::numeric_limits<int32_t>::min(),
                                 std::numeric_limits<int32_t>::max(),
                                 int64_t(1) << 40,
                                 int64_t(1) << 20};
  if (pick(3) == 0)
    return corners[pick(std::size(corners))];
  return int64_t(pick(24)) - 6;
}

/// An element of a list goes, comes twice, or changes places.
void Mutator::changeRepeated(const Place &place) {
  const Reflection &reflection = *place.message->GetReflection();
  int last = reflection.FieldSize(*place.message, place.field) - 1;
  bool isMessage = place.field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
  switch (pick(3)) {
  case 0:
    reflection.SwapElements(place.message, place.field, place.index, last);
    reflection.RemoveLast(place.message, place.field);
    return;
  case 1:
    reflection.SwapElements(place.message, place.field, place.index,
                            pick(last + 1));
    return;
  default:
    if (isMessage)
      reflection.AddMessage(place.message, place.field)
          ->CopyFrom(reflection.GetRepeatedMessage(*place.message, place.field,
                                                   place.index));
    else if (place.field->cpp_type() == FieldDescriptor::CPPTYPE_INT64)
      reflection.AddInt64(place.message, place.field, pickNumber());
    else if (place.field->type() == FieldDescriptor::TYPE_STRING)
      reflection.AddString(place.message, place.field,
                           names[pick(names.size())]);
  }
}

void Mutator::changeNumber(const Place &place) {
  const Reflection &reflection = *place.message->GetReflection();
  int64_t number = pickNumber();
  bool isRepeated = place.index >= 0;
  switch (place.field->cpp_type()) {
  case FieldDescriptor::CPPTYPE_INT64:
    if (isRepeated)
      reflection.SetRepeatedInt64(place.message, place.field, place.index,
                                  number);
    else
      reflection.SetInt64(place.message, place.field, number);
    return;
  case FieldDescriptor::CPPTYPE_INT32:
    if (isRepeated)
      reflection.SetRepeatedInt32(place.message, place.field, place.index,
                                  int32_t(number));
    else
      reflection.SetInt32(place.message, place.field, int32_t(number));
    return;
  case FieldDescriptor::CPPTYPE_FLOAT:
    if (isRepeated)
      reflection.SetRepeatedFloat(place.message, place.field, place.index,
                                  float(number));
    else
      reflection.SetFloat(place.message, place.field, float(number));
    return;
  default:
    return;
  }
}

void Mutator::changeName(const Place &place) {
  const Reflection &reflection = *place.message->GetReflection();
  std::string name = pick(8) == 0 ? "" : names[pick(names.size())];
  if (place.index >= 0)
    reflection.SetRepeatedString(place.message, place.field, place.index, name);
  else
    reflection.SetString(place.message, place.field, name);
}

void Mutator::change(const Place &place) {
  if (place.index >= 0 && pick(2) == 0)
    return changeRepeated(place);
  if (place.field->type() == FieldDescriptor::TYPE_STRING && pick(8) != 0)
    return changeName(place);
  if (place.index < 0 && pick(8) == 0)
    return place.message->GetReflection()->ClearField(place.message,
                                                      place.field);
  changeNumber(place);
}

void Mutator::mutate() {
  // One change only: a change may remove what other places are in.
  if (!places.empty())
    change(places[pick(places.size())]);
}

size_t pipewright::mutateModel(uint8_t *data, size_t size, size_t maxSize,
                               unsigned seed) {
  onnx::ModelProto model;
  if (seed % 16 == 0 || !model.ParsePartialFromArray(data, int(size)))
    return LLVMFuzzerMutate(data, size, maxSize);
  Mutator(model, seed).mutate();
  if (model.ByteSizeLong() > maxSize)
    return size;
  model.SerializePartialToArray(data, int(maxSize));
  return model.GetCachedSize();
}
