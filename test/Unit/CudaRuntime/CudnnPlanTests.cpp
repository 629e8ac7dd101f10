//===- CudnnPlanTests.cpp - Plans of the real cuDNN -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The library finds plans for devices that it has a description of, without
// one. So these tests see that it knows the graphs, which shapes it refuses,
// and that the workspace of a program is enough.
//
//===----------------------------------------------------------------------===//

#include "AttentionGraph.h"
#include "AttentionWorkspace.h"

#include "gtest/gtest.h"
#include <cstdlib>
#include <dlfcn.h>

using namespace pprt;
using namespace pprt::cuda;

namespace {
struct Device {
  const char *name;
  int chip, processors, sharedBytes;
};

class CudnnPlan : public testing::TestWithParam<Device> {
protected:
  CudnnPlan();
  ~CudnnPlan() override {
    getCudnn().cudnnBackendDestroyDescriptor(properties);
  }

  /// The bytes that the library wants, or why there is no plan.
  std::string choose(const AttentionShape &shape, int64_t &bytes) const;
  int64_t measure(const AttentionShape &shape) const;

  cudnnBackendDescriptor_t properties;
};
} // namespace

static const Device devices[] = {{"A100", 80, 108, 166912},
                                 {"H200", 90, 132, 232448},
                                 {"B200", 100, 148, 232448}};

/// As the library describes a device.
static std::string describe(const Device &device) {
  return R"({"cudaDeviceId": 0, "deviceVer": )" +
         std::to_string(10 * device.chip) +
         R"(, "driverVer": 13000, "multiProcessorCount": )" +
         std::to_string(device.processors) +
         R"(, "maxSharedMemoryPerBlockOptin": )" +
         std::to_string(device.sharedBytes) + R"(, "deviceName": ")" +
         device.name + R"(", "maxGridSize": [2147483647, 65535, 65535],
    "maxBlockSize": [1024, 1024, 64], "regsPerBlock": 65536, "warpSize": 32,
    "maxSharedMemoryPerBlock": 49152, "reservedSharedMemoryPerBlock": 1024,
    "maxRegistersPerSM": 65536, "maxCtasPerSM": 32, "maxThreadsPerBlock": 1024,
    "maxThreadsPerSM": 2048, "pciDeviceId": 0, "isTccDriver": 0,
    "supportCoopLaunch": 1, "totalGlobalMem": 80000000000,
    "smClockRateKHz": 1410000, "memClockRateKHz": 1593000,
    "l2CacheSize": 41943040})";
}

CudnnPlan::CudnnPlan() {
  // Whoever looks for the driver later finds this one, which is of its name.
  EXPECT_NE(dlopen(PPRT_NO_DRIVER, RTLD_NOW | RTLD_GLOBAL), nullptr)
      << dlerror();
  setenv("PIPEWRIGHT_CUDNN", PPRT_REAL_CUDNN, /*overwrite=*/1);
  const Cudnn &cudnn = getCudnn();
  std::string description = describe(GetParam());
  EXPECT_EQ(cudnn.cudnnBackendCreateDescriptor(
                CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR, &properties),
            CUDNN_STATUS_SUCCESS);
  EXPECT_EQ(cudnn.cudnnBackendSetAttribute(
                properties, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION,
                CUDNN_TYPE_CHAR, description.size(), description.data()),
            CUDNN_STATUS_SUCCESS);
  EXPECT_EQ(cudnn.cudnnBackendFinalize(properties), CUDNN_STATUS_SUCCESS);
}

std::string CudnnPlan::choose(const AttentionShape &shape,
                              int64_t &bytes) const {
  CudnnGraph graph;
  addAttention(shape, graph);
  std::optional<CudnnEngine> known =
      findAttentionEngine(shape, GetParam().chip);
  Status status =
      graph.choose({nullptr, properties}, known ? &*known : nullptr);
  if (!status.failed())
    bytes = graph.getWorkspaceBytes();
  return status.getMessage();
}

int64_t CudnnPlan::measure(const AttentionShape &shape) const {
  int64_t bytes = -1;
  EXPECT_EQ(choose(shape, bytes), "") << shape.describe();
  return bytes;
}

static AttentionShape makeShape(bool isGradient, bool isCausal, int64_t batch,
                                int64_t heads, int64_t groups, int64_t queries,
                                int64_t keys, int64_t size, int64_t valueSize) {
  AttentionShape shape;
  shape.isGradient = isGradient;
  shape.type = CUDNN_DATA_BFLOAT16;
  shape.keepsStatistics = true;
  shape.isCausal = isCausal;
  shape.batch = batch;
  shape.heads = heads;
  shape.groups = groups;
  shape.queries = queries;
  shape.keys = keys;
  shape.size = size;
  shape.valueSize = valueSize;
  return shape;
}

static std::vector<AttentionShape> makeShapes(bool isGradient) {
  return {makeShape(isGradient, true, 4, 32, 32, 4096, 4096, 128, 128),
          makeShape(isGradient, true, 1, 16, 4, 8192, 8192, 128, 128),
          makeShape(isGradient, true, 2, 6, 2, 17, 33, 40, 24)};
}

TEST_P(CudnnPlan, IsThereForAttention) {
  std::vector<AttentionShape> shapes = makeShapes(/*isGradient=*/false);
  shapes[1].type = CUDNN_DATA_HALF;
  shapes[1].keepsStatistics = false;
  // It has the stream's workspace, which is larger.
  for (const AttentionShape &shape : shapes)
    EXPECT_LE(measure(shape), 1 << 20) << shape.describe();
}

TEST_P(CudnnPlan, FindsItsWorkspaceInTheProgramsOne) {
  for (const AttentionShape &shape : makeShapes(/*isGradient=*/true)) {
    int64_t sums = shape.countQueries() * 4;
    int64_t alignment = 2 * 256; // of the sums, and of what follows
    int64_t bytes = measure(shape);
    EXPECT_LE(bytes + sums + alignment, getAttentionWorkspace(shape))
        << shape.describe();
    // What the library proposes there has a number for each query and key.
    if (GetParam().chip == 100 && shape.queries > 1000)
      EXPECT_LT(bytes, shape.countQueries() * shape.keys) << shape.describe();
  }
}

TEST_P(CudnnPlan, IsNotThereForRowsOfOtherSizes) {
  for (bool isGradient : {false, true}) {
    AttentionShape shape = makeShape(isGradient, true, 1, 2, 2, 64, 128, 12, 8);
    int64_t bytes = 0;
    EXPECT_NE(choose(shape, bytes).find("Embedding dim per head"),
              std::string::npos);
  }
}

INSTANTIATE_TEST_SUITE_P(On, CudnnPlan, testing::ValuesIn(devices),
                         [](const testing::TestParamInfo<Device> &device) {
                           return device.param.name;
                         });
