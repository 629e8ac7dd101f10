// Kernels with one block for each row: softmax, layer norm, cross-entropy.

#include <cuda_bf16.h>

static __device__ float warp_sum(float v) {
  for (int offset = 16; offset > 0; offset /= 2)
    v += __shfl_xor_sync(0xffffffffu, v, offset);
  return v;
}

static __device__ float warp_max(float v) {
  for (int offset = 16; offset > 0; offset /= 2)
    v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, offset));
  return v;
}

static __device__ float block_sum(float v, float *partial) {
  v = warp_sum(v);
  if (threadIdx.x % 32 == 0)
    partial[threadIdx.x / 32] = v;
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < blockDim.x / 32; ++i)
    sum += partial[i];
  __syncthreads();
  return sum;
}

static __device__ float block_max(float v, float *partial) {
  v = warp_max(v);
  if (threadIdx.x % 32 == 0)
    partial[threadIdx.x / 32] = v;
  __syncthreads();
  float largest = partial[0];
  for (int i = 1; i < blockDim.x / 32; ++i)
    largest = fmaxf(largest, partial[i]);
  __syncthreads();
  return largest;
}

extern "C" __global__ void softmax(const float *x, float *y, int columns) {
  __shared__ float partial[32];
  const float *row = x + (size_t)blockIdx.x * columns;
  float largest = -INFINITY;
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    largest = fmaxf(largest, row[i]);
  largest = block_max(largest, partial);
  float sum = 0;
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    sum += __expf(row[i] - largest);
  sum = block_sum(sum, partial);
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    y[(size_t)blockIdx.x * columns + i] = __expf(row[i] - largest) / sum;
}

static __device__ float load(const float *x) { return *x; }
static __device__ float load(const __nv_bfloat16 *x) {
  return __bfloat162float(*x);
}
static __device__ void store(float *x, float v) { *x = v; }
static __device__ void store(__nv_bfloat16 *x, float v) {
  *x = __float2bfloat16(v);
}

template <typename T>
static __device__ void layer_norm(const T *x, const T *scale, const T *bias,
                                  T *y, int columns) {
  __shared__ float partial[32];
  size_t first = (size_t)blockIdx.x * columns;
  float sum = 0;
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    sum += load(x + first + i);
  float mean = block_sum(sum, partial) / columns;
  float squares = 0;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) {
    float d = load(x + first + i) - mean;
    squares += d * d;
  }
  float deviation = rsqrtf(block_sum(squares, partial) / columns + 1e-5f);
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    store(y + first + i, (load(x + first + i) - mean) * deviation *
                                 load(scale + i) +
                             load(bias + i));
}

extern "C" __global__ void layer_norm_f32(const float *x, const float *scale,
                                          const float *bias, float *y,
                                          int columns) {
  layer_norm(x, scale, bias, y, columns);
}

extern "C" __global__ void layer_norm_bf16(const __nv_bfloat16 *x,
                                           const __nv_bfloat16 *scale,
                                           const __nv_bfloat16 *bias,
                                           __nv_bfloat16 *y, int columns) {
  layer_norm(x, scale, bias, y, columns);
}

extern "C" __global__ void cross_entropy(const float *logits, const int *labels,
                                         float *losses, float *gradient,
                                         int columns) {
  __shared__ float partial[32];
  const float *row = logits + (size_t)blockIdx.x * columns;
  float *out = gradient + (size_t)blockIdx.x * columns;
  int label = labels[blockIdx.x];
  float largest = -INFINITY;
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    largest = fmaxf(largest, row[i]);
  largest = block_max(largest, partial);
  float sum = 0;
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    sum += expf(row[i] - largest);
  sum = block_sum(sum, partial);
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    out[i] = expf(row[i] - largest) / sum - (i == label ? 1.0f : 0.0f);
  if (threadIdx.x == 0)
    losses[blockIdx.x] = logf(sum) + largest - row[label];
}
