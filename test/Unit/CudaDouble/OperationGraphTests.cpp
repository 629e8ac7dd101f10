//===- OperationGraphTests.cpp - Graphs of the double of cuDNN ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The graph is exp(a) by b, of two rows of eight zeros and eight of 1/2.
//
//===----------------------------------------------------------------------===//

#include "Faults.h"
#include "StreamTest.h"

#include <cudnn.h>

using namespace cudadouble;

namespace {
class OperationGraphs : public StreamTest {
protected:
  OperationGraphs() {
    cudnnCreate(&handle);
    cudnnSetStream(handle, stream);
    a = upload(Numbers(16, 0));
    b = upload(Numbers(64, 0.5F));
    cudaMalloc(reinterpret_cast<void **>(&c), 16 * sizeof(float));
    cudaMalloc(&workspace, 256);
  }
  ~OperationGraphs() override {
    for (cudnnBackendDescriptor_t descriptor : made)
      cudnnBackendDestroyDescriptor(descriptor);
    cudnnDestroy(handle);
  }

  cudnnBackendDescriptor_t make(cudnnBackendDescriptorType_t type) {
    made.push_back(nullptr);
    cudnnBackendCreateDescriptor(type, &made.back());
    return made.back();
  }

  template <typename T>
  static cudnnStatus_t
  set(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
      cudnnBackendAttributeType_t type, const std::vector<T> &values) {
    return cudnnBackendSetAttribute(descriptor, name, type, values.size(),
                                    values.data());
  }
  static void refer(cudnnBackendDescriptor_t descriptor,
                    cudnnBackendAttributeName_t name,
                    cudnnBackendDescriptor_t other) {
    set<cudnnBackendDescriptor_t>(descriptor, name,
                                  CUDNN_TYPE_BACKEND_DESCRIPTOR, {other});
  }

  cudnnBackendDescriptor_t makeTensor(int64_t id, int64_t rows, int64_t columns,
                                      bool isVirtual = false);
  cudnnBackendDescriptor_t makeProduct(cudnnBackendDescriptor_t left,
                                       cudnnBackendDescriptor_t right,
                                       cudnnBackendDescriptor_t result);
  cudnnBackendDescriptor_t makePower(cudnnBackendDescriptor_t x,
                                     cudnnBackendDescriptor_t result);
  cudnnBackendDescriptor_t
  makeGraph(const std::vector<cudnnBackendDescriptor_t> &operations);
  cudnnBackendDescriptor_t makeGraph();
  /// The plan of the way \p number that is found; null if it is refused.
  cudnnBackendDescriptor_t makePlan(cudnnBackendDescriptor_t graph, int number);
  cudnnStatus_t run(cudnnBackendDescriptor_t plan,
                    const std::vector<int64_t> &ids,
                    const std::vector<void *> &addresses);

  cudnnHandle_t handle;
  float *a, *b, *c;
  void *workspace;
  cudnnStatus_t status = CUDNN_STATUS_SUCCESS; ///< of what was made last
  std::vector<cudnnBackendDescriptor_t> made;
};
} // namespace

cudnnBackendDescriptor_t OperationGraphs::makeTensor(int64_t id, int64_t rows,
                                                     int64_t columns,
                                                     bool isVirtual) {
  cudnnBackendDescriptor_t tensor = make(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  set<int64_t>(tensor, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, {id});
  set<cudnnDataType_t>(tensor, CUDNN_ATTR_TENSOR_DATA_TYPE,
                       CUDNN_TYPE_DATA_TYPE, {CUDNN_DATA_FLOAT});
  set<int64_t>(tensor, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64,
               {1, rows, columns});
  set<int64_t>(tensor, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64,
               {rows * columns, columns, 1});
  set<int64_t>(tensor, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64,
               {16});
  cudnnBackendSetAttribute(tensor, CUDNN_ATTR_TENSOR_IS_VIRTUAL,
                           CUDNN_TYPE_BOOLEAN, 1, &isVirtual);
  status = cudnnBackendFinalize(tensor);
  return tensor;
}

cudnnBackendDescriptor_t
OperationGraphs::makeProduct(cudnnBackendDescriptor_t left,
                             cudnnBackendDescriptor_t right,
                             cudnnBackendDescriptor_t result) {
  cudnnBackendDescriptor_t how = make(CUDNN_BACKEND_MATMUL_DESCRIPTOR);
  set<cudnnDataType_t>(how, CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE,
                       {CUDNN_DATA_FLOAT});
  cudnnBackendFinalize(how);
  cudnnBackendDescriptor_t product =
      make(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
  refer(product, CUDNN_ATTR_OPERATION_MATMUL_DESC, how);
  refer(product, CUDNN_ATTR_OPERATION_MATMUL_ADESC, left);
  refer(product, CUDNN_ATTR_OPERATION_MATMUL_BDESC, right);
  refer(product, CUDNN_ATTR_OPERATION_MATMUL_CDESC, result);
  status = cudnnBackendFinalize(product);
  return product;
}

cudnnBackendDescriptor_t
OperationGraphs::makePower(cudnnBackendDescriptor_t x,
                           cudnnBackendDescriptor_t result) {
  cudnnBackendDescriptor_t how = make(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  set<cudnnPointwiseMode_t>(how, CUDNN_ATTR_POINTWISE_MODE,
                            CUDNN_TYPE_POINTWISE_MODE, {CUDNN_POINTWISE_EXP});
  set<cudnnDataType_t>(how, CUDNN_ATTR_POINTWISE_MATH_PREC,
                       CUDNN_TYPE_DATA_TYPE, {CUDNN_DATA_FLOAT});
  cudnnBackendFinalize(how);
  cudnnBackendDescriptor_t power =
      make(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  refer(power, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, how);
  refer(power, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x);
  refer(power, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, result);
  status = cudnnBackendFinalize(power);
  return power;
}

cudnnBackendDescriptor_t OperationGraphs::makeGraph(
    const std::vector<cudnnBackendDescriptor_t> &operations) {
  cudnnBackendDescriptor_t graph =
      make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  set(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
      operations);
  set<cudnnHandle_t>(graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE,
                     {handle});
  status = cudnnBackendFinalize(graph);
  return graph;
}

cudnnBackendDescriptor_t OperationGraphs::makeGraph() {
  cudnnBackendDescriptor_t power = makeTensor(4, 2, 8, /*isVirtual=*/true);
  return makeGraph(
      {makePower(makeTensor(1, 2, 8), power),
       makeProduct(power, makeTensor(2, 8, 8), makeTensor(3, 2, 8))});
}

cudnnBackendDescriptor_t
OperationGraphs::makePlan(cudnnBackendDescriptor_t graph, int number) {
  cudnnBackendDescriptor_t search = make(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  refer(search, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
  set<cudnnBackendHeurMode_t>(search, CUDNN_ATTR_ENGINEHEUR_MODE,
                              CUDNN_TYPE_HEUR_MODE, {CUDNN_HEUR_MODE_A});
  cudnnBackendFinalize(search);
  std::vector<cudnnBackendDescriptor_t> found;
  for (int i = 0; i < 4; ++i)
    found.push_back(make(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR));
  int64_t count = 0;
  cudnnBackendGetAttribute(search, CUDNN_ATTR_ENGINEHEUR_RESULTS,
                           CUDNN_TYPE_BACKEND_DESCRIPTOR, 4, &count,
                           found.data());
  EXPECT_EQ(count, 3);
  cudnnBackendDescriptor_t plan = make(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  refer(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, found[number]);
  set<cudnnHandle_t>(plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE,
                     {handle});
  status = cudnnBackendFinalize(plan);
  return plan;
}

cudnnStatus_t OperationGraphs::run(cudnnBackendDescriptor_t plan,
                                   const std::vector<int64_t> &ids,
                                   const std::vector<void *> &addresses) {
  cudnnBackendDescriptor_t pack = make(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  set(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, ids);
  set(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR,
      addresses);
  set<void *>(pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR,
              {workspace});
  EXPECT_EQ(cudnnBackendFinalize(pack), CUDNN_STATUS_SUCCESS);
  return cudnnBackendExecute(handle, plan, pack);
}

TEST_F(OperationGraphs, ComputeOneOperationAfterTheOther) {
  cudnnBackendDescriptor_t plan = makePlan(makeGraph(), 2);
  ASSERT_EQ(status, CUDNN_STATUS_SUCCESS);
  EXPECT_EQ(run(plan, {1, 2, 3}, {a, b, c}), CUDNN_STATUS_SUCCESS);
  EXPECT_EQ(download(c, 16), Numbers(16, 4));
  EXPECT_EQ(getFaults(), Faults());
}

TEST_F(OperationGraphs, FindWaysThatAProgramHasToLookAt) {
  cudnnBackendDescriptor_t graph = makeGraph();
  makePlan(graph, 1);
  EXPECT_EQ(status, CUDNN_STATUS_NOT_SUPPORTED);
  cudnnBackendDescriptor_t plan = makePlan(graph, 0);
  EXPECT_EQ(run(plan, {1, 2, 3}, {a, b, c}), CUDNN_STATUS_SUCCESS);
  EXPECT_TRUE(has(getFaults(), "a graph is computed in any order"));
}

TEST_F(OperationGraphs, HaveTheAttributesOfTheirKind) {
  cudnnBackendDescriptor_t tensor = make(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  EXPECT_EQ(
      set<int32_t>(tensor, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT32, {1}),
      CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(
      set<int64_t>(tensor, CUDNN_ATTR_POINTWISE_AXIS, CUDNN_TYPE_INT64, {1}),
      CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(cudnnBackendFinalize(tensor), CUDNN_STATUS_BAD_PARAM);
}

TEST_F(OperationGraphs, RefuseWhatDoesNotFit) {
  makeProduct(makeTensor(1, 2, 8), makeTensor(2, 7, 8), makeTensor(3, 2, 8));
  EXPECT_EQ(status, CUDNN_STATUS_BAD_PARAM);
  makePower(makeTensor(1, 2, 8), makeTensor(2, 8, 2));
  EXPECT_EQ(status, CUDNN_STATUS_BAD_PARAM);
}

TEST_F(OperationGraphs, UseNothingBeforeItIsComputed) {
  cudnnBackendDescriptor_t power = makeTensor(4, 2, 8, /*isVirtual=*/true);
  cudnnBackendDescriptor_t product =
      makeProduct(power, makeTensor(2, 8, 8), makeTensor(3, 2, 8));
  makeGraph({product, makePower(makeTensor(1, 2, 8), power)});
  EXPECT_EQ(status, CUDNN_STATUS_BAD_PARAM);
}

TEST_F(OperationGraphs, RunWithAllTheirAddressesAndNoOthers) {
  cudnnBackendDescriptor_t plan = makePlan(makeGraph(), 2);
  EXPECT_EQ(run(plan, {1, 2}, {a, b}), CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(run(plan, {1, 2, 5}, {a, b, c}), CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(run(plan, {1, 2, 3}, {a, b, c + 1}), CUDNN_STATUS_BAD_PARAM);
}

TEST_F(OperationGraphs, ArePlannedBeforeSteps) {
  cudnnBackendDescriptor_t graph = makeGraph();
  beginSteadyState();
  makePlan(graph, 2);
  endSteadyState();
  EXPECT_TRUE(has(getFaults(), "is called in a step"));
}

// Its workspace, too.
TEST_F(OperationGraphs, RaceWithOtherStreams) {
  cudnnBackendDescriptor_t plan = makePlan(makeGraph(), 2);
  cudaStream_t other;
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  cudaStreamSynchronize(stream);
  cudaMemsetAsync(workspace, 0, 256, other);
  EXPECT_EQ(run(plan, {1, 2, 3}, {a, b, c}), CUDNN_STATUS_SUCCESS);
  cudaDeviceSynchronize();
  EXPECT_TRUE(has(getFaults(), "cuDNN graph on stream"));
}
