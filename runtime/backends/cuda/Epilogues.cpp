//===- Epilogues.cpp - What follows products ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A layer has two ways to compute a product and what follows it: one call of
// cuBLASLt, and a product and kernels. Which one is faster depends on the
// device, the shape and the versions of both, so it is measured before the
// first step. The bits of a result may depend on it.
//
//===----------------------------------------------------------------------===//

#include "Epilogues.h"
#include "Products.h"
#include "pprt/Cuda.h"

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>

using namespace pprt;
using namespace pprt::cuda;

namespace {
/// What was chosen for each shape, by all threads of the process.
struct Choices {
  std::mutex mutex;
  std::map<ProductKey, int32_t> ways;
};

/// How the calling thread tries the ways of one shape, pass by pass of the
/// layer's loop.
class Trial {
public:
  /// The way of the next pass, or PPRT_WAY_NONE.
  int32_t next(const ProductShape &shape);

  /// The library turns out not to compute the shape. False if that is too late.
  bool refuse() {
    refused = stage == Stage::LoadLibrary;
    return refused;
  }

private:
  enum class Stage { Closed, Chosen, LoadLibrary, LoadKernels, Measure };

  int32_t begin(const ProductShape &shape);
  int32_t load(Stage of);
  int32_t measure();
  int32_t choose(int32_t way);
  void close();
  float &getBest() { return best[sample % 2]; }

  Stage stage = Stage::Closed;
  std::unique_lock<std::mutex> lock;
  std::optional<ProductKey> key;
  bool refused = false;
  // Samples of both ways take turns; each is of several passes, so that the
  // device need not wait for the host in between.
  static constexpr int samples = 6, passes = 5;
  int sample = 0, pass = 0;
  cudaEvent_t before = nullptr, after = nullptr;
  float best[2] = {}; ///< of the library and of kernels, in milliseconds
};
} // namespace

static Choices &getChoices() {
  static Choices choices;
  return choices;
}

static Trial &getTrial() {
  static thread_local Trial trial;
  return trial;
}

void cuda::forgetEpilogues() {
  std::lock_guard<std::mutex> lock(getChoices().mutex);
  getChoices().ways.clear();
}

//===----------------------------------------------------------------------===//
// Trials
//===----------------------------------------------------------------------===//

int32_t Trial::next(const ProductShape &shape) {
  switch (stage) {
  case Stage::Closed:
    return begin(shape);
  case Stage::Chosen:
    close();
    return PPRT_WAY_NONE;
  case Stage::LoadLibrary:
    if (refused)
      return choose(PPRT_WAY_KERNELS);
    if (getComputeStream().epilogues == Epilogues::Library) {
      choose(PPRT_WAY_LIBRARY);
      close();
      return PPRT_WAY_NONE;
    }
    return load(Stage::LoadKernels);
  case Stage::LoadKernels:
    stage = Stage::Measure;
    getComputeStream().preparing = false;
    return measure();
  case Stage::Measure:
    return measure();
  }
  return PPRT_WAY_NONE;
}

/// What is chosen is looked up, and else is found out if there is time for it.
/// No other thread measures meanwhile: it would share the device.
int32_t Trial::begin(const ProductShape &shape) {
  retain();
  lock = std::unique_lock<std::mutex>(getChoices().mutex);
  key = makePlanKey(shape);
  auto known = getChoices().ways.find(*key);
  if (known != getChoices().ways.end()) {
    stage = Stage::Chosen;
    int32_t way = known->second;
    lock.unlock();
    return way;
  }
  const ComputeStream &to = getComputeStream();
  if (!to.preparing || to.epilogues == Epilogues::Kernels ||
      getProductPlan(shape).getStatus() != CUBLAS_STATUS_SUCCESS)
    return choose(PPRT_WAY_KERNELS);
  return load(Stage::LoadLibrary);
}

int32_t Trial::load(Stage of) {
  stage = of;
  return of == Stage::LoadLibrary ? PPRT_WAY_LIBRARY : PPRT_WAY_KERNELS;
}

/// Closes a sample that is complete, and begins the next one.
int32_t Trial::measure() {
  const ComputeStream &to = getComputeStream();
  if (!before) {
    for (cudaEvent_t *event : {&before, &after})
      check(cudaEventCreateWithFlags(event, cudaEventDefault),
            "cannot create an event");
    std::fill_n(best, 2, std::numeric_limits<float>::infinity());
  }
  if (pass == passes) {
    float milliseconds = 0;
    check(cudaEventRecord(after, to.stream), "cannot record an event");
    check(cudaEventSynchronize(after), "the device failed");
    check(cudaEventElapsedTime(&milliseconds, before, after),
          "cannot read a time");
    getBest() = std::min(getBest(), milliseconds);
    pass = 0;
    if (++sample == samples) {
      getComputeStream().preparing = true;
      choose(best[0] < best[1] ? PPRT_WAY_LIBRARY : PPRT_WAY_KERNELS);
      close();
      return PPRT_WAY_NONE;
    }
  }
  if (pass++ == 0)
    check(cudaEventRecord(before, to.stream), "cannot record an event");
  return sample % 2 == 0 ? PPRT_WAY_LIBRARY : PPRT_WAY_KERNELS;
}

int32_t Trial::choose(int32_t way) {
  getChoices().ways[*key] = way;
  stage = Stage::Chosen;
  lock.unlock();
  return way;
}

void Trial::close() {
  for (cudaEvent_t event : {before, after})
    if (event)
      check(cudaEventDestroy(event), "cannot destroy an event");
  *this = Trial();
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

static cublasLtEpilogue_t getEpilogue(int64_t parts) {
  // Its left operand is our right one.
  if (parts & PPRT_EPILOGUE_SUMS_A)
    return CUBLASLT_EPILOGUE_BGRADB;
  if (parts & PPRT_EPILOGUE_SUMS_B)
    return CUBLASLT_EPILOGUE_BGRADA;
  uint32_t bits = 0;
  if (parts & PPRT_EPILOGUE_BIAS)
    bits |= CUBLASLT_EPILOGUE_BIAS;
  if (parts & PPRT_EPILOGUE_RELU)
    bits |= CUBLASLT_EPILOGUE_RELU;
  if (parts & PPRT_EPILOGUE_GELU)
    bits |= parts & PPRT_EPILOGUE_KEEP ? CUBLASLT_EPILOGUE_GELU_AUX
                                       : CUBLASLT_EPILOGUE_GELU;
  if (parts & PPRT_EPILOGUE_GELU_GRADIENT)
    bits |= CUBLASLT_EPILOGUE_DGELU;
  return static_cast<cublasLtEpilogue_t>(bits);
}

static ProductShape makeShape(cudaDataType operand, cudaDataType result,
                              int64_t m, int64_t n, int64_t k, bool transposeA,
                              bool transposeB, int64_t epilogue) {
  return {operand,    result, /*batch=*/1, m, n,
          k,          0,      0,           0, transposeA,
          transposeB, 0,      0,           0, getEpilogue(epilogue)};
}

static int32_t choose(ProductShape shape, const void *a, const void *b,
                      const void *c) {
  shape.setAlignments(a, b, c);
  return getTrial().next(shape);
}

static void compute(ProductShape shape, ProductBuffers buffers,
                    bool accumulate) {
  shape.setAlignments(buffers.a, buffers.b, buffers.c);
  if (!shape.hasBias())
    buffers.bias = nullptr;
  if (!shape.hasAuxiliary())
    buffers.auxiliary = nullptr;
  cublasStatus_t status = getProductPlan(shape).run(
      /*alpha=*/1, /*beta=*/accumulate ? 1 : 0, buffers);
  if (status != CUBLAS_STATUS_SUCCESS && !getTrial().refuse())
    check(status, "cannot compute a matrix product with an epilogue");
}

#define PPRT_DEFINE_EPILOGUES(TYPES, OPERAND, RESULT, OPERAND_TYPE,            \
                              RESULT_TYPE)                                     \
  int32_t pprtCudaChooseEpilogue##TYPES(                                       \
      const OPERAND *a, const OPERAND *b, const RESULT *c, int64_t m,          \
      int64_t n, int64_t k, int64_t epilogue, int32_t transposeA,              \
      int32_t transposeB) {                                                    \
    return choose(makeShape(OPERAND_TYPE, RESULT_TYPE, m, n, k,                \
                            transposeA != 0, transposeB != 0, epilogue),       \
                  a, b, c);                                                    \
  }                                                                            \
  void pprtCudaEpilogue##TYPES(                                                \
      const OPERAND *a, const OPERAND *b, RESULT *c, RESULT *bias,             \
      RESULT *auxiliary, int64_t m, int64_t n, int64_t k, int64_t epilogue,    \
      int32_t transposeA, int32_t transposeB, int32_t accumulate) {            \
    compute(makeShape(OPERAND_TYPE, RESULT_TYPE, m, n, k, transposeA != 0,     \
                      transposeB != 0, epilogue),                              \
            {a, b, c, bias, auxiliary}, accumulate != 0);                      \
  }
PPRT_DEFINE_EPILOGUES(F32, float, float, CUDA_R_32F, CUDA_R_32F)
PPRT_DEFINE_EPILOGUES(BF16, uint16_t, uint16_t, CUDA_R_16BF, CUDA_R_16BF)
PPRT_DEFINE_EPILOGUES(BF16F32, uint16_t, float, CUDA_R_16BF, CUDA_R_32F)
PPRT_DEFINE_EPILOGUES(F16, uint16_t, uint16_t, CUDA_R_16F, CUDA_R_16F)
PPRT_DEFINE_EPILOGUES(F16F32, uint16_t, float, CUDA_R_16F, CUDA_R_32F)
#undef PPRT_DEFINE_EPILOGUES
