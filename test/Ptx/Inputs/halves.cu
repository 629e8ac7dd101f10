// Conversions of the 16-bit formats.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void from_f16(const __half *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = __half2float(x[i]);
}

extern "C" __global__ void from_bf16(const __nv_bfloat16 *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = __bfloat162float(x[i]);
}

// Each way to round, one after the other.
extern "C" __global__ void to_f16(const float *x, __half *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = __float2half_rn(x[i]);
  y[n + i] = __float2half_rz(x[i]);
  y[2 * n + i] = __float2half_rd(x[i]);
  y[3 * n + i] = __float2half_ru(x[i]);
}

extern "C" __global__ void to_bf16(const float *x, __nv_bfloat16 *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = __float2bfloat16_rn(x[i]);
  y[n + i] = __float2bfloat16_rz(x[i]);
}

extern "C" __global__ void fma_f16x2(const __half2 *x, const __half2 *y,
                                     const __half2 *z, __half2 *r) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  r[i] = __hfma2(x[i], y[i], z[i]);
}

extern "C" __global__ void fma_bf16x2(const __nv_bfloat162 *x,
                                      const __nv_bfloat162 *y,
                                      const __nv_bfloat162 *z,
                                      __nv_bfloat162 *r) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  r[i] = __hfma2(x[i], y[i], z[i]);
}
