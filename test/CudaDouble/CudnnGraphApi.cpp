//===- CudnnGraphApi.cpp - Descriptors of graphs of cuDNN -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each kind of descriptor has the attributes that are named here, of their
// types; what a finalized one lacks or cannot mean is refused. Of the ways to
// compute a graph that are found the first adds up in any order and the second
// has no plan, so that a program has to look at them.
//
//===----------------------------------------------------------------------===//

#include "CudnnContext.h"
#include "CudnnGraph.h"
#include "Machine.h"

#include <cstring>
#include <memory>

using namespace cudadouble;

static Machine &machine() { return Machine::get(); }

namespace {
struct Attribute {
  cudnnBackendDescriptorType_t owner;
  cudnnBackendAttributeName_t name;
  cudnnBackendAttributeType_t type;
  bool isRequired = true;
};

struct Descriptor {
  cudnnBackendDescriptorType_t kind;
  bool isFinalized = false;
  /// What was set, as bytes.
  std::map<cudnnBackendAttributeName_t, std::vector<char>> set = {};
  // What it means, of a kind that has it.
  GraphTensor tensor = {};
  GraphOperation operation = {};
  std::shared_ptr<OperationGraph> graph = nullptr;
  int64_t choice = 0; ///< of the ways to compute a graph

  template <typename T>
  std::vector<T> get(cudnnBackendAttributeName_t name) const {
    auto found = set.find(name);
    if (found == set.end())
      return {};
    std::vector<T> values(found->second.size() / sizeof(T));
    memcpy(values.data(), found->second.data(), values.size() * sizeof(T));
    return values;
  }
  template <typename T>
  T getOne(cudnnBackendAttributeName_t name, T otherwise = {}) const {
    std::vector<T> values = get<T>(name);
    return values.size() == 1 ? values[0] : otherwise;
  }
  /// The descriptor of \p wanted that was set, if it is finalized.
  const Descriptor *find(cudnnBackendAttributeName_t name,
                         cudnnBackendDescriptorType_t wanted) const;
};
} // namespace

static const Attribute attributes[] = {
    {CUDNN_BACKEND_TENSOR_DESCRIPTOR, CUDNN_ATTR_TENSOR_UNIQUE_ID,
     CUDNN_TYPE_INT64},
    {CUDNN_BACKEND_TENSOR_DESCRIPTOR, CUDNN_ATTR_TENSOR_DATA_TYPE,
     CUDNN_TYPE_DATA_TYPE},
    {CUDNN_BACKEND_TENSOR_DESCRIPTOR, CUDNN_ATTR_TENSOR_DIMENSIONS,
     CUDNN_TYPE_INT64},
    {CUDNN_BACKEND_TENSOR_DESCRIPTOR, CUDNN_ATTR_TENSOR_STRIDES,
     CUDNN_TYPE_INT64},
    {CUDNN_BACKEND_TENSOR_DESCRIPTOR, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT,
     CUDNN_TYPE_INT64},
    {CUDNN_BACKEND_TENSOR_DESCRIPTOR, CUDNN_ATTR_TENSOR_IS_VIRTUAL,
     CUDNN_TYPE_BOOLEAN, false},
    {CUDNN_BACKEND_TENSOR_DESCRIPTOR, CUDNN_ATTR_TENSOR_IS_BY_VALUE,
     CUDNN_TYPE_BOOLEAN, false},
    {CUDNN_BACKEND_MATMUL_DESCRIPTOR, CUDNN_ATTR_MATMUL_COMP_TYPE,
     CUDNN_TYPE_DATA_TYPE},
    {CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR,
     CUDNN_ATTR_OPERATION_MATMUL_DESC, CUDNN_TYPE_BACKEND_DESCRIPTOR},
    {CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR,
     CUDNN_ATTR_OPERATION_MATMUL_ADESC, CUDNN_TYPE_BACKEND_DESCRIPTOR},
    {CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR,
     CUDNN_ATTR_OPERATION_MATMUL_BDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR},
    {CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR,
     CUDNN_ATTR_OPERATION_MATMUL_CDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR},
    {CUDNN_BACKEND_POINTWISE_DESCRIPTOR, CUDNN_ATTR_POINTWISE_MODE,
     CUDNN_TYPE_POINTWISE_MODE},
    {CUDNN_BACKEND_POINTWISE_DESCRIPTOR, CUDNN_ATTR_POINTWISE_MATH_PREC,
     CUDNN_TYPE_DATA_TYPE},
    {CUDNN_BACKEND_POINTWISE_DESCRIPTOR, CUDNN_ATTR_POINTWISE_AXIS,
     CUDNN_TYPE_INT64, false},
    {CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR,
     CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR,
     CUDNN_TYPE_BACKEND_DESCRIPTOR},
    {CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR,
     CUDNN_ATTR_OPERATION_POINTWISE_XDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR},
    {CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR,
     CUDNN_ATTR_OPERATION_POINTWISE_BDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR,
     false},
    {CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR,
     CUDNN_ATTR_OPERATION_POINTWISE_TDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR,
     false},
    {CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR,
     CUDNN_ATTR_OPERATION_POINTWISE_YDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR},
    {CUDNN_BACKEND_REDUCTION_DESCRIPTOR, CUDNN_ATTR_REDUCTION_OPERATOR,
     CUDNN_TYPE_REDUCTION_OPERATOR_TYPE},
    {CUDNN_BACKEND_REDUCTION_DESCRIPTOR, CUDNN_ATTR_REDUCTION_COMP_TYPE,
     CUDNN_TYPE_DATA_TYPE},
    {CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR,
     CUDNN_ATTR_OPERATION_REDUCTION_DESC, CUDNN_TYPE_BACKEND_DESCRIPTOR},
    {CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR,
     CUDNN_ATTR_OPERATION_REDUCTION_XDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR},
    {CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR,
     CUDNN_ATTR_OPERATION_REDUCTION_YDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR},
    {CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR,
     CUDNN_ATTR_OPERATION_RESHAPE_XDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR},
    {CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR,
     CUDNN_ATTR_OPERATION_RESHAPE_YDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR},
    {CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, CUDNN_ATTR_OPERATIONGRAPH_OPS,
     CUDNN_TYPE_BACKEND_DESCRIPTOR},
    {CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, CUDNN_ATTR_OPERATIONGRAPH_HANDLE,
     CUDNN_TYPE_HANDLE},
    {CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH,
     CUDNN_TYPE_BACKEND_DESCRIPTOR},
    {CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, CUDNN_ATTR_ENGINEHEUR_MODE,
     CUDNN_TYPE_HEUR_MODE},
    {CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR,
     CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, CUDNN_TYPE_BACKEND_DESCRIPTOR},
    {CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, CUDNN_ATTR_EXECUTION_PLAN_HANDLE,
     CUDNN_TYPE_HANDLE},
    {CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS,
     CUDNN_TYPE_INT64},
    {CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR,
     CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR},
    {CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, CUDNN_ATTR_VARIANT_PACK_WORKSPACE,
     CUDNN_TYPE_VOID_PTR},
};

/// What the last refusal was for, as the library tells it.
static thread_local std::string lastError;

static cudnnStatus_t refuse(const std::string &reason,
                            cudnnStatus_t status = CUDNN_STATUS_BAD_PARAM) {
  lastError = "Warning: " + reason + "\n";
  return status;
}

const Descriptor *Descriptor::find(cudnnBackendAttributeName_t name,
                                   cudnnBackendDescriptorType_t wanted) const {
  auto *found =
      static_cast<const Descriptor *>(getOne<cudnnBackendDescriptor_t>(name));
  return found && found->isFinalized && found->kind == wanted ? found : nullptr;
}

//===----------------------------------------------------------------------===//
// What descriptors mean
//===----------------------------------------------------------------------===//

static bool readTensor(Descriptor &d) {
  GraphTensor &tensor = d.tensor;
  tensor.id = d.getOne<int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID);
  tensor.type = d.getOne<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE);
  tensor.sizes = d.get<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS);
  tensor.strides = d.get<int64_t>(CUDNN_ATTR_TENSOR_STRIDES);
  bool isVirtual = d.getOne<char>(CUDNN_ATTR_TENSOR_IS_VIRTUAL) != 0;
  bool isByValue = d.getOne<char>(CUDNN_ATTR_TENSOR_IS_BY_VALUE) != 0;
  tensor.place = isVirtual   ? GraphTensor::Place::Value
                 : isByValue ? GraphTensor::Place::Number
                             : GraphTensor::Place::Buffer;
  auto isPositive = [](int64_t number) { return number > 0; };
  return tensor.sizes.size() == tensor.strides.size() &&
         !(isVirtual && isByValue) &&
         std::all_of(tensor.sizes.begin(), tensor.sizes.end(), isPositive) &&
         std::all_of(tensor.strides.begin(), tensor.strides.end(),
                     isPositive) &&
         (!isByValue || tensor.countPlaces() == 1);
}

/// The tensors of an operation, the result last. An operand may be missing if
/// all after it are.
static bool readTensors(Descriptor &d,
                        const std::vector<cudnnBackendAttributeName_t> &names) {
  std::vector<GraphTensor> tensors;
  bool isComplete = true;
  for (cudnnBackendAttributeName_t name : names) {
    const Descriptor *tensor = d.find(name, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    if (d.set.count(name) && (!tensor || (!isComplete && name != names.back())))
      return false;
    isComplete &= d.set.count(name) != 0;
    if (tensor)
      tensors.push_back(tensor->tensor);
  }
  d.operation.result = tensors.back();
  tensors.pop_back();
  d.operation.operands = tensors;
  return true;
}

static bool readProduct(Descriptor &d) {
  const Descriptor *how =
      d.find(CUDNN_ATTR_OPERATION_MATMUL_DESC, CUDNN_BACKEND_MATMUL_DESCRIPTOR);
  d.operation.kind = GraphOperation::Kind::Product;
  return how &&
         how->getOne<cudnnDataType_t>(CUDNN_ATTR_MATMUL_COMP_TYPE,
                                      CUDNN_DATA_DOUBLE) == CUDNN_DATA_FLOAT &&
         readTensors(d, {CUDNN_ATTR_OPERATION_MATMUL_ADESC,
                         CUDNN_ATTR_OPERATION_MATMUL_BDESC,
                         CUDNN_ATTR_OPERATION_MATMUL_CDESC});
}

static bool readPointwise(Descriptor &d) {
  const Descriptor *how = d.find(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR,
                                 CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  if (!how)
    return false;
  d.operation.kind = GraphOperation::Kind::Pointwise;
  d.operation.mode =
      how->getOne<cudnnPointwiseMode_t>(CUDNN_ATTR_POINTWISE_MODE);
  d.operation.axis = how->getOne<int64_t>(CUDNN_ATTR_POINTWISE_AXIS, -1);
  return readTensors(d, {CUDNN_ATTR_OPERATION_POINTWISE_XDESC,
                         CUDNN_ATTR_OPERATION_POINTWISE_BDESC,
                         CUDNN_ATTR_OPERATION_POINTWISE_TDESC,
                         CUDNN_ATTR_OPERATION_POINTWISE_YDESC});
}

static bool readReduction(Descriptor &d) {
  const Descriptor *how = d.find(CUDNN_ATTR_OPERATION_REDUCTION_DESC,
                                 CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
  if (!how)
    return false;
  GraphOperation &operation = d.operation;
  operation.kind = GraphOperation::Kind::Reduction;
  operation.reduction =
      how->getOne<cudnnReduceTensorOp_t>(CUDNN_ATTR_REDUCTION_OPERATOR);
  return (operation.reduction == CUDNN_REDUCE_TENSOR_ADD ||
          operation.reduction == CUDNN_REDUCE_TENSOR_MAX) &&
         readTensors(d, {CUDNN_ATTR_OPERATION_REDUCTION_XDESC,
                         CUDNN_ATTR_OPERATION_REDUCTION_YDESC});
}

static bool readView(Descriptor &d) {
  d.operation.kind = GraphOperation::Kind::View;
  return readTensors(d, {CUDNN_ATTR_OPERATION_RESHAPE_XDESC,
                         CUDNN_ATTR_OPERATION_RESHAPE_YDESC});
}

static cudnnStatus_t readGraph(Descriptor &d) {
  d.graph = std::make_shared<OperationGraph>();
  for (cudnnBackendDescriptor_t operation :
       d.get<cudnnBackendDescriptor_t>(CUDNN_ATTR_OPERATIONGRAPH_OPS)) {
    auto *made = static_cast<Descriptor *>(operation);
    if (!made || !made->isFinalized)
      return refuse("an operation is not finalized");
    if (std::string wrong = d.graph->add(made->operation); !wrong.empty())
      return refuse(wrong);
  }
  return d.graph->isEmpty() ? refuse("a graph has no operations")
                            : CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t readSearch(Descriptor &d) {
  const Descriptor *graph = d.find(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH,
                                   CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  if (!graph)
    return refuse("a search has no graph");
  d.graph = graph->graph;
  return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t readPlan(Descriptor &d) {
  machine().refuseInStep("cudnnBackendFinalize of a plan");
  const Descriptor *configuration =
      d.find(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG,
             CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
  if (!configuration)
    return refuse("a plan has no configuration");
  d.graph = configuration->graph;
  d.choice = configuration->choice;
  std::string obstacle = d.graph->findObstacle();
  if (!obstacle.empty())
    return refuse(obstacle, CUDNN_STATUS_NOT_SUPPORTED_SHAPE);
  return d.choice == 1
             ? refuse("CUDNN_STATUS_NOT_SUPPORTED; Reason: it is the second",
                      CUDNN_STATUS_NOT_SUPPORTED)
             : CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t getStatus(bool isRight, const char *otherwise) {
  return isRight ? CUDNN_STATUS_SUCCESS : refuse(otherwise);
}

static cudnnStatus_t readOperation(bool isRight, const Descriptor &d) {
  if (!isRight)
    return refuse("an operation is not complete");
  std::string wrong = d.operation.check();
  return getStatus(wrong.empty(), wrong.c_str());
}

static cudnnStatus_t read(Descriptor &d) {
  switch (d.kind) {
  case CUDNN_BACKEND_TENSOR_DESCRIPTOR:
    return getStatus(readTensor(d), "the sizes of a tensor do not fit");
  case CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR:
    return readOperation(readProduct(d), d);
  case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR:
    return readOperation(readPointwise(d), d);
  case CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR:
    return readOperation(readReduction(d), d);
  case CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR:
    return readOperation(readView(d), d);
  case CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR:
    return readGraph(d);
  case CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR:
    return readSearch(d);
  case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR:
    return readPlan(d);
  default:
    return CUDNN_STATUS_SUCCESS;
  }
}

//===----------------------------------------------------------------------===//
// What is asked of them
//===----------------------------------------------------------------------===//

static cudnnStatus_t find(const Descriptor &search, int64_t wanted,
                          int64_t *got, void *const *results) {
  machine().refuseInStep("CUDNN_ATTR_ENGINEHEUR_RESULTS");
  constexpr int64_t ways = 3;
  *got = std::min(wanted, ways);
  for (int64_t i = 0; i < *got; ++i) {
    auto *found = static_cast<Descriptor *>(results[i]);
    if (!found || found->kind != CUDNN_BACKEND_ENGINECFG_DESCRIPTOR)
      return refuse("a result is to be a configuration");
    found->graph = search.graph;
    found->choice = i;
    found->isFinalized = true;
  }
  return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t getEngine(const Descriptor &configuration,
                               void *const *result) {
  auto *engine = static_cast<Descriptor *>(result[0]);
  if (!engine || engine->kind != CUDNN_BACKEND_ENGINE_DESCRIPTOR)
    return refuse("a result is to be an engine");
  engine->choice = configuration.choice;
  engine->isFinalized = true;
  return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t getNotes(const Descriptor &engine, int64_t *got,
                              void *notes) {
  cudnnBackendNumericalNote_t note = engine.choice == 0
                                         ? CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC
                                         : CUDNN_NUMERICAL_NOTE_TENSOR_CORE;
  memcpy(notes, &note, sizeof note);
  *got = 1;
  return CUDNN_STATUS_SUCCESS;
}

/// The numbers and addresses of a run; false if some are missing or there are
/// others.
static bool bindAll(const OperationGraph &graph, const Descriptor &pack,
                    OperationGraph::Bindings &bindings) {
  auto ids = pack.get<int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  auto addresses = pack.get<char *>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
  if (ids.size() != addresses.size() || ids.size() != graph.getOutside().size())
    return false;
  for (size_t i = 0; i < ids.size(); ++i) {
    auto tensor = graph.getOutside().find(ids[i]);
    if (tensor == graph.getOutside().end() || !addresses[i])
      return false;
    OperationGraph::Binding &binding = bindings[ids[i]];
    if (tensor->second.place == GraphTensor::Place::Number)
      binding.number =
          readNumber(addresses[i], 0, *tensor->second.getNumberType());
    else if (reinterpret_cast<uintptr_t>(addresses[i]) % 16 == 0)
      binding.address = addresses[i];
    else
      return false;
  }
  return bindings.size() == ids.size();
}

static cudnnStatus_t execute(cudnnHandle_t handle, const Descriptor &plan,
                             const Descriptor &pack) {
  ++machine().counters.attentions;
  if (plan.kind != CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR ||
      pack.kind != CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR || !plan.isFinalized ||
      !pack.isFinalized)
    return refuse("what is executed is not finalized");
  OperationGraph::Bindings bindings;
  void *workspace = pack.getOne<void *>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE);
  if (!workspace || !bindAll(*plan.graph, pack, bindings))
    return refuse("a run has other addresses than its graph needs");
  if (plan.choice == 0)
    machine().report("a graph is computed in any order");
  Stream *on = machine().find(handle->stream, "cudnnBackendExecute");
  if (!on)
    return CUDNN_STATUS_BAD_PARAM;
  auto operation = std::make_shared<Operation>();
  operation->text = "cuDNN graph on " + on->describe();
  operation->run = [graph = plan.graph, bindings, workspace] {
    return graph->run(bindings, workspace);
  };
  machine().enqueue(operation, {on});
  return CUDNN_STATUS_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

static size_t getBytes(cudnnBackendAttributeType_t type) {
  switch (type) {
  case CUDNN_TYPE_INT64:
    return sizeof(int64_t);
  case CUDNN_TYPE_BOOLEAN:
    return sizeof(bool);
  case CUDNN_TYPE_HANDLE:
  case CUDNN_TYPE_VOID_PTR:
  case CUDNN_TYPE_BACKEND_DESCRIPTOR:
    return sizeof(void *);
  default: // an enumeration
    return sizeof(int);
  }
}

extern "C" {

/// What the tests were written with.
size_t cudnnGetVersion() { return CUDNN_VERSION; }

void cudnnGetLastErrorString(char *message, size_t most) {
  snprintf(message, most, "%s", lastError.c_str());
}

cudnnStatus_t
cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type,
                             cudnnBackendDescriptor_t *descriptor) {
  *descriptor = new Descriptor{type};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t
cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor) {
  delete static_cast<Descriptor *>(descriptor);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type,
                                       int64_t count, const void *values) {
  auto &d = *static_cast<Descriptor *>(descriptor);
  bool isKnown = std::any_of(
      std::begin(attributes), std::end(attributes), [&](const Attribute &one) {
        return one.owner == d.kind && one.name == name && one.type == type;
      });
  if (!isKnown || d.isFinalized)
    return refuse("an attribute is not known, or too late");
  auto *begin = static_cast<const char *>(values);
  d.set[name].assign(begin, begin + count * getBytes(type));
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor) {
  Machine::Lock hold = machine().lock();
  auto &d = *static_cast<Descriptor *>(descriptor);
  for (const Attribute &one : attributes)
    if (one.owner == d.kind && one.isRequired && !d.set.count(one.name))
      return refuse("an attribute is missing");
  cudnnStatus_t status = read(d);
  d.isFinalized = status == CUDNN_STATUS_SUCCESS;
  return status;
}

cudnnStatus_t cudnnBackendGetAttribute(
    const cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
    cudnnBackendAttributeType_t, int64_t wanted, int64_t *got, void *values) {
  Machine::Lock hold = machine().lock();
  auto &d = *static_cast<const Descriptor *>(descriptor);
  if (!d.isFinalized)
    return refuse("what is asked is not finalized");
  if (name == CUDNN_ATTR_ENGINEHEUR_RESULTS)
    return find(d, wanted, got, static_cast<void **>(values));
  *got = 1;
  if (name == CUDNN_ATTR_ENGINECFG_ENGINE)
    return getEngine(d, static_cast<void **>(values));
  if (name == CUDNN_ATTR_ENGINE_NUMERICAL_NOTE)
    return getNotes(d, got, values);
  if (name != CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE)
    return refuse("an attribute is not known");
  auto bytes = static_cast<int64_t>(d.graph->getWorkspaceBytes());
  memcpy(values, &bytes, sizeof bytes);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle,
                                  cudnnBackendDescriptor_t plan,
                                  cudnnBackendDescriptor_t pack) {
  Machine::Lock hold = machine().lock();
  return execute(handle, *static_cast<Descriptor *>(plan),
                 *static_cast<Descriptor *>(pack));
}

} // extern "C"
