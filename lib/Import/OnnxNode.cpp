//===- OnnxNode.cpp - A node that is being imported
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Import/OnnxNode.h"

#include "pipewright/Dialect/NN/HostTensor.h"
#include "pipewright/Import/OnnxFile.h"

#include "Proto/Onnx.pb.h"
#include "Tensors.h"
#include "WeightCopies.h"

using namespace mlir;
using namespace pipewright;
using namespace pipewright::onnx;

StringRef OnnxNode::getOpType() const { return proto.op_type(); }

std::string OnnxNode::describe() const {
  return ("node #" + Twine(index) + " (" + getOpType() + ")").str();
}

InFlightDiagnostic OnnxNode::emitError() const {
  return mlir::emitError(builder.getLoc()) << describe() << " ";
}

//===----------------------------------------------------------------------===//
// Operands and results
//===----------------------------------------------------------------------===//

int64_t OnnxNode::getNumResults() const { return proto.output_size(); }

bool OnnxNode::hasResult(unsigned i) const {
  return i < unsigned(proto.output_size()) && !proto.output(i).empty();
}

StringRef OnnxNode::getResultName(unsigned i) const {
  return hasResult(i) ? StringRef(proto.output(i)) : StringRef();
}

void OnnxNode::setResult(unsigned i, Value value) {
  if (results.size() <= i)
    results.resize(i + 1);
  results[i] = value;
}

unsigned OnnxNode::getUnsignedBits(unsigned i) const {
  if (auto it = resultBits.find(i); it != resultBits.end())
    return it->second;
  if (unsigned bits = context.getUnsignedBits(getResult(i)))
    return bits;
  Type element = pipewright::getElementType(getResult(i));
  for (Value operand : operands)
    if (operand && pipewright::getElementType(operand) == element)
      return context.getUnsignedBits(operand);
  return 0;
}

FailureOr<ArrayRef<Value>> OnnxNode::getSequence(unsigned i) const {
  ArrayRef<Value> elements = context.getSequence(operand(i));
  if (elements.empty())
    return emitError() << "needs operand " << i << " ('" << proto.input(i)
                       << "') to be a sequence";
  return elements;
}

//===----------------------------------------------------------------------===//
// Values that must be known
//===----------------------------------------------------------------------===//

LogicalResult OnnxNode::checkListed(int64_t count) const {
  constexpr int64_t limit = int64_t(1) << 24;
  if (count <= limit)
    return success();
  return emitError() << "needs a list of " << count << " numbers, over "
                     << limit;
}

FailureOr<SmallVector<int64_t>> OnnxNode::getIntegers(unsigned i) const {
  DenseElementsAttr elements = getConstant(operand(i));
  if (!elements || !isa<IntegerType>(elements.getElementType()))
    return emitError() << "needs operand " << i << " ('" << proto.input(i)
                       << "') to be integers known at compile time";
  if (failed(checkListed(elements.getNumElements())))
    return failure();
  SmallVector<int64_t> values;
  for (const APInt &value : elements.getValues<APInt>())
    values.push_back(value.getSExtValue());
  return values;
}

FailureOr<double> OnnxNode::getNumber(unsigned i) const {
  DenseElementsAttr elements = getConstant(operand(i));
  if (!elements || elements.getNumElements() != 1)
    return emitError() << "needs operand " << i << " ('" << proto.input(i)
                       << "') to be a number known at compile time";
  if (isa<FloatType>(elements.getElementType())) {
    APFloat value = *elements.value_begin<APFloat>();
    bool losesInfo;
    value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                  &losesInfo);
    return value.convertToDouble();
  }
  APInt value = *elements.value_begin<APInt>();
  return value.getBitWidth() == 1 ? double(value.getZExtValue())
                                  : double(value.getSExtValue());
}

FailureOr<std::optional<SmallVector<int64_t>>>
OnnxNode::getIntegers(StringRef name, unsigned i, int64_t since) const {
  if (opset < since)
    return getInts(name);
  if (!hasOperand(i))
    return std::optional<SmallVector<int64_t>>();
  FailureOr<SmallVector<int64_t>> values = getIntegers(i);
  if (failed(values))
    return failure();
  return std::optional<SmallVector<int64_t>>(*values);
}

void OnnxNode::keepMadeUpFixed() const {
  for (auto [i, neutral] : {std::pair(1u, 1.0), std::pair(2u, 0.0)}) {
    if (!hasOperand(i) || !onnx::isExportersName(proto.input(i)))
      continue;
    DenseElementsAttr known = context.getKnown(operand(i));
    if (!known)
      continue;
    nn::HostTensor values = *nn::HostTensor::fromAttribute(known);
    if (llvm::all_of(values.getFloats(), [neutral = neutral](double value) {
          return value == neutral;
        }))
      context.keepFixed(operand(i));
  }
}

FailureOr<int64_t> OnnxNode::getAxis(int64_t axis, int64_t rank) const {
  if (axis < -rank || axis >= rank)
    return emitError() << "has axis " << axis << " of a tensor with " << rank
                       << " axes";
  return axis < 0 ? axis + rank : axis;
}

LogicalResult OnnxNode::normalizeAxes(MutableArrayRef<int64_t> axes,
                                      int64_t rank) const {
  SmallVector<bool> seen(rank, false);
  for (int64_t &axis : axes) {
    FailureOr<int64_t> normalized = getAxis(axis, rank);
    if (failed(normalized))
      return failure();
    axis = *normalized;
    if (seen[axis])
      return emitError() << "names axis " << axis << " twice";
    seen[axis] = true;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

const AttributeProto *OnnxNode::findAttribute(StringRef name) const {
  asked.insert(name);
  for (const AttributeProto &attribute : proto.attribute())
    if (attribute.name() == name)
      return &attribute;
  return nullptr;
}

void OnnxNode::leaveOut(ArrayRef<StringRef> names) const {
  asked.insert_range(names);
}

SmallVector<StringRef> OnnxNode::getUnusedAttributes() const {
  SmallVector<StringRef> names;
  for (const AttributeProto &attribute : proto.attribute())
    if (!attribute.has_g() && !asked.contains(attribute.name()))
      names.push_back(attribute.name());
  return names;
}

StringRef OnnxNode::getMetadata(StringRef key) const {
  for (const StringStringEntryProto &entry : proto.metadata_props())
    if (entry.key() == key)
      return entry.value();
  return "";
}

int64_t OnnxNode::getInt(StringRef name, int64_t otherwise) const {
  const AttributeProto *attribute = findAttribute(name);
  return attribute ? attribute->i() : otherwise;
}

double OnnxNode::getFloat(StringRef name, double otherwise) const {
  const AttributeProto *attribute = findAttribute(name);
  return attribute ? attribute->f() : otherwise;
}

StringRef OnnxNode::getString(StringRef name, StringRef otherwise) const {
  const AttributeProto *attribute = findAttribute(name);
  return attribute ? StringRef(attribute->s()) : otherwise;
}

std::optional<SmallVector<int64_t>> OnnxNode::getInts(StringRef name) const {
  const AttributeProto *attribute = findAttribute(name);
  if (!attribute)
    return std::nullopt;
  return SmallVector<int64_t>(attribute->ints().begin(),
                              attribute->ints().end());
}

SmallVector<double> OnnxNode::getFloats(StringRef name) const {
  const AttributeProto *attribute = findAttribute(name);
  if (!attribute)
    return {};
  return SmallVector<double>(attribute->floats().begin(),
                             attribute->floats().end());
}

SmallVector<StringRef> OnnxNode::getStrings(StringRef name) const {
  const AttributeProto *attribute = findAttribute(name);
  if (!attribute)
    return {};
  return SmallVector<StringRef>(attribute->strings().begin(),
                                attribute->strings().end());
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

FailureOr<Type> OnnxNode::getElementType(int64_t dataType) const {
  Type type = convertElementType(dataType, builder.getLoc().getContext());
  if (!type)
    return emitError() << "has elements of type " << getDataTypeName(dataType)
                       << ", which is not supported";
  return type;
}

FailureOr<Type> OnnxNode::getResultType(unsigned i, int64_t dataType) {
  setUnsignedBits(i, pipewright::getUnsignedBits(dataType));
  return getElementType(dataType);
}

LogicalResult OnnxNode::broadcastTogether(MutableArrayRef<Value> values) const {
  SmallVector<int64_t> shape;
  for (Value value : values) {
    if (pipewright::getElementType(value) !=
        pipewright::getElementType(values.front()))
      return emitError() << "combines " << values.front().getType() << " with "
                         << value.getType();
    std::optional<SmallVector<int64_t>> both =
        getBroadcastShape(shape, getShape(value));
    if (!both)
      return emitError() << "cannot broadcast " << values.front().getType()
                         << " with " << value.getType();
    shape = *both;
  }
  for (Value &value : values)
    value = builder.broadcast(value, shape);
  return success();
}
