// Elementwise kernels: vector sums, GELU, AdamW.

extern "C" __global__ void add(const float *x, const float *y, float *z,
                               int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    z[i] = x[i] + y[i];
}

// Without the bound, for launches that cover the buffers exactly.
extern "C" __global__ void add_vec4(const float4 *x, const float4 *y,
                                    float4 *z) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 a = x[i], b = y[i];
  z[i] = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

extern "C" __global__ void gelu_tanh(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float v = x[i];
  float inner = 0.7978845608f * (v + 0.044715f * v * v * v);
  y[i] = 0.5f * v * (1.0f + tanhf(inner));
}

extern "C" __global__ void gelu_erf(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float v = x[i];
  y[i] = 0.5f * v * (1.0f + erff(v * 0.70710678f));
}

extern "C" __global__ void adamw(float *p, const float *g, float *m, float *v,
                                 int n, float rate, float beta1, float beta2,
                                 float epsilon, float decay, float correction1,
                                 float correction2) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float gradient = g[i];
  float mean = beta1 * m[i] + (1.0f - beta1) * gradient;
  float square = beta2 * v[i] + (1.0f - beta2) * gradient * gradient;
  m[i] = mean;
  v[i] = square;
  float step = (mean / correction1) / (sqrtf(square / correction2) + epsilon);
  p[i] = p[i] - rate * (step + decay * p[i]);
}
