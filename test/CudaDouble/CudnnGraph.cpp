//===- CudnnGraph.cpp - The operation graphs of cuDNN ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudnnGraph.h"
#include "CudnnShapes.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace cudadouble;

using Index = std::vector<int64_t>;
using Kind = GraphOperation::Kind;
using Place = GraphTensor::Place;

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

std::optional<NumberType> GraphTensor::getNumberType() const {
  bool isWhole = type == CUDNN_DATA_INT32 ||
                 (type == CUDNN_DATA_BOOLEAN && place == Place::Value);
  return isWhole ? NumberType::I32 : cudadouble::getNumberType(type);
}

size_t GraphTensor::countPlaces() const {
  size_t last = 0;
  for (size_t axis = 0; axis < sizes.size(); ++axis)
    last += (sizes[axis] - 1) * strides[axis];
  return last + 1;
}

bool GraphTensor::operator==(const GraphTensor &other) const {
  return id == other.id && place == other.place && type == other.type &&
         sizes == other.sizes && strides == other.strides;
}

static size_t countElements(const Index &sizes) {
  size_t product = 1;
  for (int64_t size : sizes)
    product *= size;
  return product;
}

/// Moves on to the next index; false after the last one.
static bool advance(Index &index, const Index &sizes) {
  for (size_t axis = sizes.size(); axis-- > 0;) {
    if (++index[axis] < sizes[axis])
      return true;
    index[axis] = 0;
  }
  return false;
}

/// Where \p tensor has its element for an index of \p sizes, of which it has
/// each axis or an even part of it.
static size_t locate(const GraphTensor &tensor, const Index &index,
                     const Index &sizes) {
  size_t place = 0;
  for (size_t axis = 0; axis < sizes.size(); ++axis)
    place +=
        index[axis] * tensor.sizes[axis] / sizes[axis] * tensor.strides[axis];
  return place;
}

/// Can elements of \p tensor stand for those of \p sizes?
static bool divides(const Index &part, const Index &sizes) {
  if (part.size() != sizes.size())
    return false;
  for (size_t axis = 0; axis < sizes.size(); ++axis)
    if (sizes[axis] % part[axis] != 0)
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// What fits
//===----------------------------------------------------------------------===//

/// How many operands a mode has; none: it is not known here.
static size_t countOperands(cudnnPointwiseMode_t mode) {
  switch (mode) {
  case CUDNN_POINTWISE_EXP:
  case CUDNN_POINTWISE_LOG:
  case CUDNN_POINTWISE_GEN_INDEX:
    return 1;
  case CUDNN_POINTWISE_ADD:
  case CUDNN_POINTWISE_SUB:
  case CUDNN_POINTWISE_MUL:
  case CUDNN_POINTWISE_DIV:
  case CUDNN_POINTWISE_CMP_GE:
    return 2;
  case CUDNN_POINTWISE_BINARY_SELECT:
    return 3;
  default:
    return 0;
  }
}

/// Batches by the last two axes.
static bool fitsProduct(const Index &a, const Index &b, const Index &c) {
  size_t axes = c.size();
  if (axes < 3 || a.size() != axes || b.size() != axes)
    return false;
  for (size_t axis = 0; axis < axes - 2; ++axis)
    if (c[axis] % a[axis] != 0 || c[axis] % b[axis] != 0)
      return false;
  return a[axes - 2] == c[axes - 2] && a[axes - 1] == b[axes - 2] &&
         b[axes - 1] == c[axes - 1];
}

static bool isRepeated(const Index &part, const Index &sizes) {
  if (part.size() != sizes.size())
    return false;
  for (size_t axis = 0; axis < sizes.size(); ++axis)
    if (part[axis] != sizes[axis] && part[axis] != 1)
      return false;
  return true;
}

static bool fitsPointwise(const GraphOperation &operation) {
  const Index &sizes = operation.result.sizes;
  if (countOperands(operation.mode) != operation.operands.size())
    return false;
  if (operation.mode == CUDNN_POINTWISE_GEN_INDEX &&
      (operation.axis < 0 || operation.axis >= int64_t(sizes.size())))
    return false;
  return std::all_of(operation.operands.begin(), operation.operands.end(),
                     [&](const GraphTensor &operand) {
                       return isRepeated(operand.sizes, sizes);
                     });
}

std::string GraphOperation::check() const {
  for (const GraphTensor &operand : operands)
    if (!operand.getNumberType())
      return "an operand has a type that is not known";
  if (!result.getNumberType() || result.place == Place::Number)
    return "a result has a type that is not known, or is a number";
  switch (kind) {
  case Kind::Product:
    return fitsProduct(operands[0].sizes, operands[1].sizes, result.sizes)
               ? ""
               : "the sizes of a product do not fit";
  case Kind::Pointwise:
    return fitsPointwise(*this) ? ""
                                : "the sizes of operands do not fit each other";
  case Kind::Reduction:
    return divides(result.sizes, operands[0].sizes)
               ? ""
               : "the sizes of a reduction do not fit";
  case Kind::View:
    return operands[0].countPlaces() == result.countPlaces() &&
                   countElements(operands[0].sizes) ==
                       countElements(result.sizes)
               ? ""
               : "a view has other elements";
  }
  return "";
}

std::string OperationGraph::add(const GraphOperation &operation) {
  for (const GraphTensor &operand : operation.operands) {
    auto &known = operand.place == Place::Value ? values : outside;
    auto found = known.find(operand.id);
    if (operand.place == Place::Value && found == known.end())
      return "a value is used before it is computed";
    if (found == known.end())
      known.emplace(operand.id, operand);
    else if (!(found->second == operand))
      return "two tensors have one number";
    if (operand.place == Place::Buffer)
      isWrittenFirst.emplace(operand.id, false);
  }
  const GraphTensor &result = operation.result;
  auto &known = result.place == Place::Value ? values : outside;
  if (!known.emplace(result.id, result).second)
    return "a tensor is computed twice, or after it is used";
  if (result.place == Place::Buffer)
    isWrittenFirst[result.id] = true;
  operations.push_back(operation);
  return "";
}

std::string OperationGraph::findObstacle() const {
  for (const auto &[id, tensor] : outside) {
    if (tensor.place != Place::Buffer || tensor.type == CUDNN_DATA_FLOAT)
      continue;
    for (size_t axis = 0; axis < tensor.sizes.size(); ++axis)
      if (tensor.strides[axis] == 1 && tensor.sizes[axis] % 8 != 0)
        return "CUDNN_STATUS_NOT_SUPPORTED_SHAPE; Reason: Embedding dim per "
               "head is not a multiple of 8 at: d % 8 != 0";
  }
  return "";
}

size_t OperationGraph::getWorkspaceBytes() const {
  size_t most = 0;
  for (const GraphOperation &operation : operations)
    if (operation.kind == Kind::View &&
        operation.operands[0].place == Place::Value)
      most = std::max(most, operation.result.countPlaces() *
                                getBytes(*operation.result.getNumberType()));
  return 256 + most;
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

namespace {
class Run {
public:
  explicit Run(const OperationGraph::Bindings &bindings) : bindings(bindings) {}

  void compute(const GraphOperation &operation);

private:
  void multiply(const GraphOperation &operation);
  void apply(const GraphOperation &operation);
  void reduce(const GraphOperation &operation);
  void view(const GraphOperation &operation);

  double read(const GraphTensor &tensor, size_t place) const;
  void write(const GraphTensor &tensor, size_t place, double number);

  const OperationGraph::Bindings &bindings;
  std::map<int64_t, std::vector<char>> values;
};
} // namespace

double Run::read(const GraphTensor &tensor, size_t place) const {
  if (tensor.place == Place::Number)
    return bindings.at(tensor.id).number;
  const char *data = tensor.place == Place::Buffer
                         ? bindings.at(tensor.id).address
                         : values.at(tensor.id).data();
  return readNumber(data, place, *tensor.getNumberType());
}

void Run::write(const GraphTensor &tensor, size_t place, double number) {
  NumberType type = *tensor.getNumberType();
  if (tensor.place == Place::Buffer)
    return writeNumber(bindings.at(tensor.id).address, place, type, number);
  std::vector<char> &data = values[tensor.id];
  data.resize(tensor.countPlaces() * getBytes(type));
  writeNumber(data.data(), place, type, number);
}

void Run::multiply(const GraphOperation &operation) {
  const GraphTensor &a = operation.operands[0], &b = operation.operands[1];
  const GraphTensor &c = operation.result;
  size_t axes = c.sizes.size();
  int64_t depth = a.sizes[axes - 1];
  Index index(axes, 0), sizesA = c.sizes, sizesB = c.sizes;
  sizesA[axes - 1] = sizesB[axes - 2] = depth;
  do {
    Index left = index, right = index;
    double sum = 0;
    for (int64_t k = 0; k < depth; ++k) {
      left[axes - 1] = right[axes - 2] = k;
      sum +=
          read(a, locate(a, left, sizesA)) * read(b, locate(b, right, sizesB));
    }
    write(c, locate(c, index, c.sizes), sum);
  } while (advance(index, c.sizes));
}

static double computeElement(cudnnPointwiseMode_t mode, const double *x) {
  switch (mode) {
  case CUDNN_POINTWISE_EXP:
    return std::exp(x[0]);
  case CUDNN_POINTWISE_LOG:
    return std::log(x[0]);
  case CUDNN_POINTWISE_ADD:
    return x[0] + x[1];
  case CUDNN_POINTWISE_SUB:
    return x[0] - x[1];
  case CUDNN_POINTWISE_MUL:
    return x[0] * x[1];
  case CUDNN_POINTWISE_DIV:
    return x[0] / x[1];
  case CUDNN_POINTWISE_CMP_GE:
    return x[0] >= x[1];
  default: // CUDNN_POINTWISE_BINARY_SELECT
    return x[2] != 0 ? x[0] : x[1];
  }
}

void Run::apply(const GraphOperation &operation) {
  const GraphTensor &result = operation.result;
  Index index(result.sizes.size(), 0);
  do {
    double number = 0, operands[3];
    for (size_t i = 0; i < operation.operands.size(); ++i)
      operands[i] = read(operation.operands[i],
                         locate(operation.operands[i], index, result.sizes));
    number = operation.mode == CUDNN_POINTWISE_GEN_INDEX
                 ? index[operation.axis]
                 : computeElement(operation.mode, operands);
    write(result, locate(result, index, result.sizes), number);
  } while (advance(index, result.sizes));
}

void Run::reduce(const GraphOperation &operation) {
  const GraphTensor &x = operation.operands[0], &result = operation.result;
  bool isSum = operation.reduction == CUDNN_REDUCE_TENSOR_ADD;
  std::map<size_t, double> sums; // by their places
  Index index(x.sizes.size(), 0);
  do {
    double number = read(x, locate(x, index, x.sizes));
    auto [sum, isFirst] = sums.emplace(locate(result, index, x.sizes), number);
    if (!isFirst)
      sum->second =
          isSum ? sum->second + number : std::max(sum->second, number);
  } while (advance(index, x.sizes));
  for (auto [place, sum] : sums)
    write(result, place, sum);
}

void Run::view(const GraphOperation &operation) {
  const GraphTensor &x = operation.operands[0], &result = operation.result;
  for (size_t place = 0; place < result.countPlaces(); ++place)
    write(result, place, read(x, place));
}

void Run::compute(const GraphOperation &operation) {
  switch (operation.kind) {
  case Kind::Product:
    return multiply(operation);
  case Kind::Pointwise:
    return apply(operation);
  case Kind::Reduction:
    return reduce(operation);
  case Kind::View:
    return view(operation);
  }
}

Effects OperationGraph::run(const Bindings &bindings, void *workspace) const {
  Effects effects;
  for (const auto &[id, isWritten] : isWrittenFirst) {
    const GraphTensor &tensor = outside.at(id);
    effects.accesses.push_back(
        {bindings.at(id).address,
         tensor.countPlaces() * getBytes(*tensor.getNumberType()), isWritten});
  }
  effects.accesses.push_back({workspace, getWorkspaceBytes(), true});
  Run run(bindings);
  for (const GraphOperation &operation : operations)
    run.compute(operation);
  return effects;
}
