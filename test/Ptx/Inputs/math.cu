// Functions of CUDA's library, each into an array of its own.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define UNARY(name)                                                            \
  extern "C" __global__ void f32_##name(const float *x, float *y) {            \
    y[threadIdx.x] = name##f(x[threadIdx.x]);                                  \
  }                                                                            \
  extern "C" __global__ void f64_##name(const double *x, double *y) {          \
    y[threadIdx.x] = name(x[threadIdx.x]);                                     \
  }

UNARY(sin)
UNARY(cos)
UNARY(exp)
UNARY(exp2)
UNARY(expm1)
UNARY(log)
UNARY(log1p)
UNARY(tanh)
UNARY(erf)
UNARY(erfc)
UNARY(atan)
UNARY(cbrt)
UNARY(sqrt)
UNARY(floor)
UNARY(ceil)
UNARY(trunc)
UNARY(round)
UNARY(rint)

extern "C" __global__ void f32_pow(const float *x, float *y) {
  y[threadIdx.x] = powf(fabsf(x[threadIdx.x]), 1.75f);
}

extern "C" __global__ void f64_pow(const double *x, double *y) {
  y[threadIdx.x] = pow(fabs(x[threadIdx.x]), 1.75);
}

extern "C" __global__ void f16_exp(const float *x, float *y) {
  y[threadIdx.x] = __half2float(hexp(__float2half(x[threadIdx.x])));
}

extern "C" __global__ void bf16_exp(const float *x, float *y) {
  y[threadIdx.x] = __bfloat162float(hexp(__float2bfloat16(x[threadIdx.x])));
}
