/*===- Cuda.h - What code for CUDA devices calls -----------------*- C -*-===*\
|*
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
|*===----------------------------------------------------------------------===*|
|*
|* The host code of a layer function gets addresses of device memory and puts
|* work onto the compute stream of the calling thread, one call after the other;
|* nothing waits. libpprt-cuda exports what it calls.
|*
|* Before the first step the runtime calls each task once while it prepares:
|* then these functions load and check what the step will need, and no memory
|* changes. Products and convolutions run even so, times zero, and so does
|* attention, whose results are cleared: their libraries load a kernel when it
|* first runs, which must not wait for messages that wait for this rank.
|* What can be computed in two ways runs as in a step, to be measured: what it
|* reads and writes is zero then.
|*
\*===----------------------------------------------------------------------===*/

#ifndef PPRT_CUDA_H
#define PPRT_CUDA_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One form of the code of a module's kernels. */
typedef struct PprtKernelImage {
  uint32_t chip;  /* 90: machine code for sm_90 */
  uint32_t isPtx; /* 1: PTX for that chip, which ends in a zero; the driver
                     compiles it for this one and later ones */
  const void *data;
  uint64_t bytes; /* without that zero */
} PprtKernelImage;

/* The kernels of a layer function. */
typedef struct PprtKernelModule {
  const char *name;
  uint32_t imageCount;
  uint32_t kernelCount;
  const PprtKernelImage *images;
  const char *const *kernels; /* names, by number */
  void **handles; /* the runtime's, one a kernel; null before it prepares */
} PprtKernelModule;

#pragma GCC visibility push(default)

/* Launches a kernel by its number; `arguments` has an address for each of its
 * parameters, as cudaLaunchKernel takes them. */
void pprtCudaLaunch(const PprtKernelModule *module, uint32_t kernel,
                    uint32_t blocksX, uint32_t blocksY, uint32_t blocksZ,
                    uint32_t threadsX, uint32_t threadsY, uint32_t threadsZ,
                    void **arguments);

void pprtCudaCopy(void *target, const void *source, uint64_t bytes);

/* As the products of the CPU backend in pprt/Descriptor.h, whose names and
 * operands they share. */
#define PPRT_DECLARE_MATMUL(TYPES, OPERAND, RESULT)                            \
  void pprtCudaMatmul##TYPES(                                                  \
      const OPERAND *a, const OPERAND *b, RESULT *c, int64_t batch, int64_t m, \
      int64_t n, int64_t k, int64_t strideA, int64_t strideB, int64_t strideC, \
      int32_t transposeA, int32_t transposeB, int32_t accumulate);
PPRT_DECLARE_MATMUL(F32, float, float)
PPRT_DECLARE_MATMUL(BF16, uint16_t, uint16_t)
PPRT_DECLARE_MATMUL(BF16F32, uint16_t, float)
PPRT_DECLARE_MATMUL(F16, uint16_t, uint16_t)
PPRT_DECLARE_MATMUL(F16F32, uint16_t, float)
#undef PPRT_DECLARE_MATMUL

/* What follows a product with n columns, in this order. */
enum {
  PPRT_EPILOGUE_BIAS = 1, /* plus bias[n] in each row */
  PPRT_EPILOGUE_KEEP = 2, /* what is there now goes to auxiliary, too */
  PPRT_EPILOGUE_RELU = 4,
  PPRT_EPILOGUE_GELU = 8,           /* by tanh */
  PPRT_EPILOGUE_GELU_GRADIENT = 16, /* times the derivative of that GELU at what
                                       is in auxiliary */
  /* Alone: the sums of the columns of the transposed a go to bias[m], or those
     of b to bias[n]. */
  PPRT_EPILOGUE_SUMS_A = 32,
  PPRT_EPILOGUE_SUMS_B = 64
};

/* How such a product is computed. */
enum {
  PPRT_WAY_NONE = 0,    /* it is done */
  PPRT_WAY_LIBRARY = 1, /* by pprtCudaEpilogue..., in one call */
  PPRT_WAY_KERNELS = 2  /* by pprtCudaMatmul... and kernels */
};

/* For batch = 1, contiguous. A layer has the code for both ways:
 *
 *   while ((way = pprtCudaChooseEpilogue...(...)) != PPRT_WAY_NONE)
 *     way == PPRT_WAY_LIBRARY ? pprtCudaEpilogue...(...) : the other way;
 *
 * Before the first step both ways are measured, once for all that have the same
 * epilogue, sizes and types, unless the environment says which it is to be. In
 * a step there is one pass of the loop. What an epilogue does without may be
 * any address; bias and auxiliary begin at multiples of 64. */
#define PPRT_DECLARE_EPILOGUES(TYPES, OPERAND, RESULT)                         \
  int32_t pprtCudaChooseEpilogue##TYPES(                                       \
      const OPERAND *a, const OPERAND *b, const RESULT *c, int64_t m,          \
      int64_t n, int64_t k, int64_t epilogue, int32_t transposeA,              \
      int32_t transposeB);                                                     \
  void pprtCudaEpilogue##TYPES(                                                \
      const OPERAND *a, const OPERAND *b, RESULT *c, RESULT *bias,             \
      RESULT *auxiliary, int64_t m, int64_t n, int64_t k, int64_t epilogue,    \
      int32_t transposeA, int32_t transposeB, int32_t accumulate);
PPRT_DECLARE_EPILOGUES(F32, float, float)
PPRT_DECLARE_EPILOGUES(BF16, uint16_t, uint16_t)
PPRT_DECLARE_EPILOGUES(BF16F32, uint16_t, float)
PPRT_DECLARE_EPILOGUES(F16, uint16_t, uint16_t)
PPRT_DECLARE_EPILOGUES(F16F32, uint16_t, float)
#undef PPRT_DECLARE_EPILOGUES

#define PPRT_DECLARE_EXPERTS(TYPES, OPERAND, RESULT)                           \
  void pprtCudaExpertMatmul##TYPES(                                            \
      const OPERAND *a, const OPERAND *b, const int64_t *experts, RESULT *c,   \
      OPERAND *packedA, RESULT *packedC, int64_t rows, int64_t expertCount,    \
      int64_t m, int64_t n, int32_t transposeB);                               \
  void pprtCudaExpertOuter##TYPES(                                             \
      const OPERAND *a, const OPERAND *b, const int64_t *experts, RESULT *c,   \
      OPERAND *packedA, OPERAND *packedB, int64_t rows, int64_t expertCount,   \
      int64_t m, int64_t n, int32_t accumulate);
PPRT_DECLARE_EXPERTS(F32, float, float)
PPRT_DECLARE_EXPERTS(BF16, uint16_t, uint16_t)
PPRT_DECLARE_EXPERTS(BF16F32, uint16_t, float)
PPRT_DECLARE_EXPERTS(F16, uint16_t, uint16_t)
PPRT_DECLARE_EXPERTS(F16F32, uint16_t, float)
#undef PPRT_DECLARE_EXPERTS

/* Convolutions, contiguous: images and outputs are [batch, channels, height,
 * width], weights [outputChannels, inputChannels / groups, kernelHeight,
 * kernelWidth]; `padding` zeros are on both sides. They are there if the
 * runtime was built with cuDNN's headers. */
#define PPRT_CONVOLUTION_SIZES                                                 \
  int64_t batch, int64_t groups, int64_t inputChannels,                        \
      int64_t outputChannels, int64_t inputHeight, int64_t inputWidth,         \
      int64_t kernelHeight, int64_t kernelWidth, int64_t outputHeight,         \
      int64_t outputWidth, int64_t paddingHeight, int64_t paddingWidth,        \
      int64_t strideHeight, int64_t strideWidth, int64_t dilationHeight,       \
      int64_t dilationWidth
#define PPRT_DECLARE_CONVOLUTIONS(TYPE, ELEMENT)                               \
  void pprtCudaConvolution##TYPE(const ELEMENT *image, const ELEMENT *weights, \
                                 ELEMENT *output, PPRT_CONVOLUTION_SIZES,      \
                                 int32_t accumulate);                          \
  void pprtCudaConvolutionInputGradient##TYPE(                                 \
      const ELEMENT *outputGradient, const ELEMENT *weights,                   \
      ELEMENT *imageGradient, PPRT_CONVOLUTION_SIZES, int32_t accumulate);     \
  void pprtCudaConvolutionWeightGradient##TYPE(                                \
      const ELEMENT *outputGradient, const ELEMENT *image,                     \
      ELEMENT *weightGradient, PPRT_CONVOLUTION_SIZES, int32_t accumulate);
PPRT_DECLARE_CONVOLUTIONS(F32, float)
PPRT_DECLARE_CONVOLUTIONS(BF16, uint16_t)
PPRT_DECLARE_CONVOLUTIONS(F16, uint16_t)
#undef PPRT_DECLARE_CONVOLUTIONS

/* Pooling of each channel, as convolutions. Padding is never the largest, and
 * zero in sums; averages are sums by kernelHeight * kernelWidth. Of equal
 * elements that are the largest, the first one has the gradient. */
#define PPRT_POOLING_SIZES                                                     \
  int64_t batch, int64_t channels, int64_t inputHeight, int64_t inputWidth,    \
      int64_t kernelHeight, int64_t kernelWidth, int64_t outputHeight,         \
      int64_t outputWidth, int64_t paddingHeight, int64_t paddingWidth,        \
      int64_t strideHeight, int64_t strideWidth
#define PPRT_DECLARE_POOLING(TYPE, ELEMENT)                                    \
  void pprtCudaPoolingMax##TYPE(const ELEMENT *image, ELEMENT *output,         \
                                PPRT_POOLING_SIZES);                           \
  void pprtCudaPoolingSum##TYPE(const ELEMENT *image, ELEMENT *output,         \
                                PPRT_POOLING_SIZES);                           \
  void pprtCudaPoolingAverage##TYPE(const ELEMENT *image, ELEMENT *output,     \
                                    PPRT_POOLING_SIZES);                       \
  void pprtCudaPoolingMaxGradient##TYPE(                                       \
      const ELEMENT *image, const ELEMENT *output,                             \
      const ELEMENT *outputGradient, ELEMENT *imageGradient,                   \
      PPRT_POOLING_SIZES);                                                     \
  void pprtCudaPoolingSumGradient##TYPE(const ELEMENT *outputGradient,         \
                                        ELEMENT *imageGradient,                \
                                        PPRT_POOLING_SIZES);                   \
  void pprtCudaPoolingAverageGradient##TYPE(const ELEMENT *outputGradient,     \
                                            ELEMENT *imageGradient,            \
                                            PPRT_POOLING_SIZES);
PPRT_DECLARE_POOLING(F32, float)
PPRT_DECLARE_POOLING(BF16, uint16_t)
PPRT_DECLARE_POOLING(F16, uint16_t)
#undef PPRT_DECLARE_POOLING

/* Attention, contiguous: queries are [batch, heads, queries, size], keys
 * [batch, groups, keys, size], values [batch, groups, keys, valueSize], and
 * results [batch, heads, queries, valueSize]. Each head has the keys of its
 * group. The weights of the keys are the softmax of scale times their product
 * with the query; `causal` lets the last query see all keys and each other one
 * a key less than the next. Statistics, for the gradient, are the logarithms of
 * the sums of the softmax, [batch, heads, queries]; null if they are not
 * wanted.
 *
 * The workspace has the sums of 4 bytes a query, rounded up to 256, then 2
 * bytes for each query and key of a head, whose numbers are rounded up to 64;
 * if heads share keys, 4 bytes for each number of their keys and values; and a
 * MiB. What a library needs beyond that is allocated before the first step.
 * They are there if the runtime was built with cuDNN's headers. */
#define PPRT_ATTENTION_SIZES                                                   \
  int64_t batch, int64_t heads, int64_t groups, int64_t queries, int64_t keys, \
      int64_t size, int64_t valueSize
#define PPRT_DECLARE_ATTENTION(TYPE)                                           \
  void pprtCudaAttention##TYPE(const uint16_t *query, const uint16_t *key,     \
                               const uint16_t *value, uint16_t *result,        \
                               float *statistics, PPRT_ATTENTION_SIZES,        \
                               double scale, int32_t causal);                  \
  void pprtCudaAttentionGradient##TYPE(                                        \
      const uint16_t *gradient, const uint16_t *query, const uint16_t *key,    \
      const uint16_t *value, const uint16_t *result, const float *statistics,  \
      uint16_t *queryGradient, uint16_t *keyGradient, uint16_t *valueGradient, \
      void *workspace, int64_t workspaceBytes, PPRT_ATTENTION_SIZES,           \
      double scale, int32_t causal);
PPRT_DECLARE_ATTENTION(BF16)
PPRT_DECLARE_ATTENTION(F16)
#undef PPRT_DECLARE_ATTENTION

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif /* PPRT_CUDA_H */
