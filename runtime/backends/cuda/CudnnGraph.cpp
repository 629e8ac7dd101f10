//===- CudnnGraph.cpp - Operations that cuDNN computes as one -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudnnGraph.h"
#include "Stream.h"

#include <algorithm>

using namespace pprt;
using namespace pprt::cuda;

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

CudnnDescriptor::CudnnDescriptor(cudnnBackendDescriptorType_t type,
                                 cudnnStatus_t &status)
    : status(status) {
  if (status == CUDNN_STATUS_SUCCESS)
    status = getCudnn().cudnnBackendCreateDescriptor(type, &descriptor);
}

CudnnDescriptor::~CudnnDescriptor() {
  if (descriptor)
    getCudnn().cudnnBackendDestroyDescriptor(descriptor);
}

void CudnnDescriptor::set(cudnnBackendAttributeName_t name,
                          cudnnBackendAttributeType_t type, int64_t count,
                          const void *values) {
  if (status == CUDNN_STATUS_SUCCESS)
    status = getCudnn().cudnnBackendSetAttribute(descriptor, name, type, count,
                                                 values);
}

void CudnnDescriptor::finalize() {
  if (status == CUDNN_STATUS_SUCCESS)
    status = getCudnn().cudnnBackendFinalize(descriptor);
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

CudnnDescriptor &CudnnGraph::add(cudnnBackendDescriptorType_t type) {
  return descriptors.emplace_back(type, status);
}

CudnnDescriptor &CudnnGraph::addTensor(int64_t id, cudnnDataType_t type,
                                       const Sizes &sizes,
                                       const Sizes &strides) {
  CudnnDescriptor &tensor = add(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  tensor.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, id);
  tensor.set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, type);
  tensor.set(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, sizes.size(),
             sizes.data());
  tensor.set(CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, strides.size(),
             strides.data());
  constexpr int64_t alignment = 16;
  tensor.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, alignment);
  return tensor;
}

CudnnGraph::Tensor CudnnGraph::addBuffer(int64_t id, cudnnDataType_t type,
                                         const Sizes &sizes,
                                         const Sizes &strides) {
  CudnnDescriptor &tensor = addTensor(id, type, sizes, strides);
  tensor.finalize();
  return {type, sizes, strides, &tensor};
}

CudnnGraph::Tensor CudnnGraph::addNumber(int64_t id, cudnnDataType_t type) {
  Sizes ones = {1, 1, 1, 1};
  CudnnDescriptor &tensor = addTensor(id, type, ones, ones);
  tensor.set(CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, true);
  tensor.finalize();
  return {type, ones, ones, &tensor};
}

CudnnGraph::Tensor CudnnGraph::addValue(cudnnDataType_t type,
                                        const Sizes &sizes,
                                        const Sizes &strides) {
  // Their numbers are beyond those of who makes the graph.
  constexpr int64_t first = 1000;
  CudnnDescriptor &tensor =
      addTensor(first + valueCount++, type, sizes, strides);
  tensor.set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, true);
  tensor.finalize();
  return {type, sizes, strides, &tensor};
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

void CudnnGraph::addOperation(CudnnDescriptor &operation) {
  operation.finalize();
  operations.push_back(operation.get());
}

void CudnnGraph::multiply(const Tensor &a, const Tensor &b,
                          const Tensor &result) {
  CudnnDescriptor &how = add(CUDNN_BACKEND_MATMUL_DESCRIPTOR);
  how.set(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
  how.finalize();
  CudnnDescriptor &product = add(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
  product.set(CUDNN_ATTR_OPERATION_MATMUL_DESC, how);
  product.set(CUDNN_ATTR_OPERATION_MATMUL_ADESC, *a.descriptor);
  product.set(CUDNN_ATTR_OPERATION_MATMUL_BDESC, *b.descriptor);
  product.set(CUDNN_ATTR_OPERATION_MATMUL_CDESC, *result.descriptor);
  addOperation(product);
}

void CudnnGraph::apply(cudnnPointwiseMode_t mode, cudnnDataType_t compute,
                       const std::vector<Tensor> &operands,
                       const Tensor &result) {
  addPointwise(mode, compute, std::nullopt, operands, result);
}

void CudnnGraph::count(const Tensor &like, int64_t axis, const Tensor &result) {
  addPointwise(CUDNN_POINTWISE_GEN_INDEX, CUDNN_DATA_FLOAT, axis, {like},
               result);
}

void CudnnGraph::addPointwise(cudnnPointwiseMode_t mode,
                              cudnnDataType_t compute,
                              std::optional<int64_t> axis,
                              const std::vector<Tensor> &operands,
                              const Tensor &result) {
  CudnnDescriptor &how = add(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  how.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, mode);
  how.set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, compute);
  if (axis)
    how.set(CUDNN_ATTR_POINTWISE_AXIS, CUDNN_TYPE_INT64, *axis);
  how.finalize();
  CudnnDescriptor &step = add(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  step.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, how);
  const cudnnBackendAttributeName_t names[] = {
      CUDNN_ATTR_OPERATION_POINTWISE_XDESC,
      CUDNN_ATTR_OPERATION_POINTWISE_BDESC,
      CUDNN_ATTR_OPERATION_POINTWISE_TDESC};
  for (size_t i = 0; i < operands.size(); ++i)
    step.set(names[i], *operands[i].descriptor);
  step.set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, *result.descriptor);
  addOperation(step);
}

void CudnnGraph::reduce(cudnnReduceTensorOp_t how, const Tensor &x,
                        const Tensor &result) {
  CudnnDescriptor &reduction = add(CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
  reduction.set(CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE,
                CUDNN_DATA_FLOAT);
  reduction.set(CUDNN_ATTR_REDUCTION_OPERATOR,
                CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, how);
  reduction.finalize();
  CudnnDescriptor &step = add(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);
  step.set(CUDNN_ATTR_OPERATION_REDUCTION_DESC, reduction);
  step.set(CUDNN_ATTR_OPERATION_REDUCTION_XDESC, *x.descriptor);
  step.set(CUDNN_ATTR_OPERATION_REDUCTION_YDESC, *result.descriptor);
  addOperation(step);
}

void CudnnGraph::view(const Tensor &x, const Tensor &result) {
  CudnnDescriptor &step = add(CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR);
  step.set(CUDNN_ATTR_OPERATION_RESHAPE_XDESC, *x.descriptor);
  step.set(CUDNN_ATTR_OPERATION_RESHAPE_YDESC, *result.descriptor);
  addOperation(step);
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

/// Of an engine's configuration.
static bool isDeterministic(const CudnnDescriptor &configuration) {
  const Cudnn &cudnn = getCudnn();
  cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
  CudnnDescriptor engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR, status);
  cudnnBackendDescriptor_t found = engine.get();
  int64_t count = 0;
  if (status == CUDNN_STATUS_SUCCESS)
    status = cudnn.cudnnBackendGetAttribute(
        configuration.get(), CUDNN_ATTR_ENGINECFG_ENGINE,
        CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count, &found);
  cudnnBackendNumericalNote_t notes[CUDNN_NUMERICAL_NOTE_TYPE_COUNT];
  if (status == CUDNN_STATUS_SUCCESS)
    status = cudnn.cudnnBackendGetAttribute(
        found, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE,
        CUDNN_NUMERICAL_NOTE_TYPE_COUNT, &count, notes);
  return status == CUDNN_STATUS_SUCCESS &&
         std::find(notes, notes + count,
                   CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC) == notes + count;
}

/// Why the library refuses what it was asked last. It tells at length, the
/// cause first: "Warning: STATUS; Reason: CAUSE at: CONDITION".
static std::string describeRefusal(cudnnStatus_t status) {
  char text[4096] = "";
  getCudnn().cudnnGetLastErrorString(text, sizeof text);
  std::string all = text;
  const std::string mark = "Reason: ";
  size_t begin = all.find(mark);
  if (begin != std::string::npos) {
    std::string line = all.substr(begin + mark.size());
    line = line.substr(0, line.find('\n'));
    return line.substr(0, line.find(" at: "));
  }
  return getCudnn().cudnnGetErrorString(status);
}

void CudnnGraph::tryPlan(const CudnnDescriptor &configuration,
                         const CudnnTarget &target) {
  planStatus = CUDNN_STATUS_SUCCESS;
  plan = std::make_unique<CudnnDescriptor>(
      CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, planStatus);
  plan->set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configuration);
  if (target.handle)
    plan->set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE,
              target.handle);
  plan->finalize();
  if (planStatus == CUDNN_STATUS_SUCCESS)
    return;
  plan = nullptr;
  if (refusal.empty())
    refusal = describeRefusal(planStatus);
}

void CudnnGraph::tryEngine(const CudnnDescriptor &graph,
                           const CudnnTarget &target,
                           const CudnnEngine &known) {
  planStatus = CUDNN_STATUS_SUCCESS;
  auto make = [&](cudnnBackendDescriptorType_t type) -> CudnnDescriptor & {
    return descriptors.emplace_back(type, planStatus);
  };
  CudnnDescriptor &engine = make(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  engine.set(CUDNN_ATTR_ENGINE_OPERATION_GRAPH, graph);
  engine.set(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, known.index);
  if (target.properties)
    engine.set(CUDNN_ATTR_ENGINE_DEVICEPROP, CUDNN_TYPE_BACKEND_DESCRIPTOR,
               target.properties);
  engine.finalize();
  std::vector<cudnnBackendDescriptor_t> choices;
  for (const CudnnEngine::Choice &wanted : known.choices) {
    CudnnDescriptor &choice = make(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
    choice.set(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE,
               wanted.knob);
    choice.set(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64,
               wanted.value);
    choice.finalize();
    choices.push_back(choice.get());
  }
  CudnnDescriptor &configuration = make(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
  configuration.set(CUDNN_ATTR_ENGINECFG_ENGINE, engine);
  configuration.set(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
                    CUDNN_TYPE_BACKEND_DESCRIPTOR, choices.size(),
                    choices.data());
  configuration.finalize();
  if (planStatus == CUDNN_STATUS_SUCCESS)
    tryPlan(configuration, target);
}

void CudnnGraph::tryFound(const CudnnDescriptor &graph,
                          const CudnnTarget &target) {
  CudnnDescriptor &search = add(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  search.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
  search.set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE,
             CUDNN_HEUR_MODE_A);
  if (target.properties)
    search.set(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, CUDNN_TYPE_BACKEND_DESCRIPTOR,
               target.properties);
  search.finalize();
  constexpr int64_t most = 8;
  std::vector<const CudnnDescriptor *> configurations;
  std::vector<cudnnBackendDescriptor_t> found;
  for (int64_t i = 0; i < most; ++i) {
    configurations.push_back(&add(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR));
    found.push_back(configurations.back()->get());
  }
  int64_t count = 0;
  if (status == CUDNN_STATUS_SUCCESS)
    status = getCudnn().cudnnBackendGetAttribute(
        search.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS,
        CUDNN_TYPE_BACKEND_DESCRIPTOR, most, &count, found.data());
  if (count == 0)
    refusal = describeRefusal(
        status == CUDNN_STATUS_SUCCESS ? CUDNN_STATUS_NOT_SUPPORTED : status);
  for (int64_t i = 0; status == CUDNN_STATUS_SUCCESS && !plan && i < count; ++i)
    if (isDeterministic(*configurations[i]))
      tryPlan(*configurations[i], target);
}

Status CudnnGraph::choose(const CudnnTarget &target, const CudnnEngine *known) {
  CudnnDescriptor &graph = add(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  graph.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
            operations.size(), operations.data());
  if (target.handle)
    graph.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE,
              target.handle);
  graph.finalize();
  if (known && status == CUDNN_STATUS_SUCCESS)
    tryEngine(graph, target, *known);
  if (!plan)
    tryFound(graph, target);
  if (plan)
    return Status();
  if (status != CUDNN_STATUS_SUCCESS)
    refusal = describeRefusal(status);
  return Status::dataError(refusal.empty()
                               ? "it finds no way with the same bits each time"
                               : refusal);
}

int64_t CudnnGraph::getWorkspaceBytes() const {
  int64_t bytes = 0, count = 0;
  check(getCudnn().cudnnBackendGetAttribute(
            plan->get(), CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
            CUDNN_TYPE_INT64, 1, &count, &bytes),
        "cannot ask cuDNN for the size of a workspace");
  return bytes;
}

void CudnnGraph::run(cudnnHandle_t handle, const std::vector<int64_t> &ids,
                     const std::vector<void *> &addresses, void *workspace,
                     const char *failure) const {
  cudnnStatus_t runStatus = CUDNN_STATUS_SUCCESS;
  CudnnDescriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, runStatus);
  pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, ids.size(),
           ids.data());
  pack.set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR,
           addresses.size(), addresses.data());
  pack.set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, workspace);
  pack.finalize();
  if (runStatus == CUDNN_STATUS_SUCCESS)
    runStatus = getCudnn().cudnnBackendExecute(handle, plan->get(), pack.get());
  check(runStatus, failure);
}
