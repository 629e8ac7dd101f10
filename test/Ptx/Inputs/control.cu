// Loops and branches that take lanes apart, calls, switches, local arrays.

// Steps that each number takes to reach 1.
extern "C" __global__ void collatz(const unsigned *x, int *steps, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  unsigned long long v = x[i];
  int count = 0;
  while (v != 1) {
    v = v % 2 ? 3 * v + 1 : v / 2;
    ++count;
  }
  steps[i] = count;
}

static __device__ __noinline__ float square_sum(float a, float b) {
  return a * a + b * b;
}

static __device__ __noinline__ float hypotenuse(float a, float b) {
  return sqrtf(square_sum(a, b));
}

extern "C" __global__ void call(const float *x, const float *y, float *z) {
  int i = threadIdx.x;
  z[i] = i % 3 == 0 ? square_sum(x[i], y[i]) : hypotenuse(x[i], y[i]);
}

extern "C" __global__ void choose(const int *which, const int *x, int *y) {
  int i = threadIdx.x, v = x[i], result;
  switch (which[i]) {
  case 0: result = v + 7; break;
  case 1: result = v * v * 3; break;
  case 2: result = v / 5; break;
  case 3: result = v ^ 0x55; break;
  case 4: result = __clz(v); break;
  case 5: result = __popc(v) << 4; break;
  case 6: result = v % 11 - 4; break;
  default: result = -1;
  }
  y[i] = result;
}

// Sorts 16 numbers of each thread in its local memory, where loops that are
// not unrolled keep them.
extern "C" __global__ void sort_local(const int *x, int *y) {
  int values[16];
#pragma unroll 1
  for (int i = 0; i < 16; ++i)
    values[i] = x[threadIdx.x * 16 + i];
#pragma unroll 1
  for (int i = 1; i < 16; ++i)
#pragma unroll 1
    for (int j = i; j > 0 && values[j - 1] > values[j]; --j) {
      int t = values[j];
      values[j] = values[j - 1];
      values[j - 1] = t;
    }
#pragma unroll 1
  for (int i = 0; i < 16; ++i)
    y[threadIdx.x * 16 + i] = values[i];
}

extern "C" __global__ void long_math(const long long *x, const long long *y,
                                     long long *high, long long *quotient,
                                     double *root) {
  int i = threadIdx.x;
  high[i] = __mul64hi(x[i], y[i]);
  quotient[i] = x[i] / y[i];
  root[i] = sqrt((double)x[i] * (double)x[i] + (double)y[i]);
}

struct Numbers {
  int values[8];
  float factor;
};

static __device__ __noinline__ Numbers replace(Numbers numbers, int i, int v) {
  numbers.values[i] = v;
  numbers.factor *= 2;
  return numbers;
}

// Structures as arguments and results, indexed by a number of the thread.
extern "C" __global__ void by_value(Numbers numbers, Numbers *out,
                                    float *products) {
  int i = threadIdx.x;
  out[i] = replace(numbers, i % 8, -i);
  products[i] = numbers.values[i % 8] * numbers.factor;
}

// Half of the block comes to a barrier that the other half passes by.
extern "C" __global__ void divergent_barrier(float *x) {
  if (threadIdx.x < 16)
    __syncthreads();
  x[threadIdx.x] = 1;
}
