// Gathers, scatters, tiles, reductions, asynchronous copies.

extern "C" __global__ void gather(const float *table, const int *ids, float *y,
                                  int columns) {
  int id = ids[blockIdx.x];
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    y[(size_t)blockIdx.x * columns + i] = table[(size_t)id * columns + i];
}

extern "C" __global__ void scatter_add(const float *dy, const int *ids,
                                       float *table, int columns) {
  int id = ids[blockIdx.x];
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    atomicAdd(table + (size_t)id * columns + i,
              dy[(size_t)blockIdx.x * columns + i]);
}

// The same without atomics: blocks with equal ids race.
extern "C" __global__ void scatter_add_racy(const float *dy, const int *ids,
                                            float *table, int columns) {
  int id = ids[blockIdx.x];
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    table[(size_t)id * columns + i] += dy[(size_t)blockIdx.x * columns + i];
}

extern "C" __global__ void matmul(const float *a, const float *b, float *c,
                                  int m, int n, int k) {
  __shared__ float tileA[16][16], tileB[16][16];
  int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  float sum = 0;
  for (int tile = 0; tile < k; tile += 16) {
    tileA[threadIdx.y][threadIdx.x] = a[row * k + tile + threadIdx.x];
    tileB[threadIdx.y][threadIdx.x] = b[(tile + threadIdx.y) * n + column];
    __syncthreads();
    for (int i = 0; i < 16; ++i)
      sum += tileA[threadIdx.y][i] * tileB[i][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

extern "C" __global__ void sum_down(const float *x, float *y, int n) {
  extern __shared__ float partial[];
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += gridDim.x * blockDim.x)
    sum += x[i];
  for (int offset = 16; offset > 0; offset /= 2)
    sum += __shfl_down_sync(0xffffffffu, sum, offset);
  if (threadIdx.x % 32 == 0)
    partial[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = threadIdx.x < blockDim.x / 32 ? partial[threadIdx.x] : 0.0f;
    for (int offset = 16; offset > 0; offset /= 2)
      sum += __shfl_down_sync(0xffffffffu, sum, offset);
    if (threadIdx.x == 0)
      atomicAdd(y, sum);
  }
}

// Reverses blocks of 256 numbers through shared memory, 16 bytes a thread.
extern "C" __global__ void reverse_async(const float *x, float *y) {
  __shared__ __align__(16) float tile[256];
  if (threadIdx.x < 64) {
    unsigned to = (unsigned)__cvta_generic_to_shared(tile + threadIdx.x * 4);
    const float *from = x + blockIdx.x * 256 + threadIdx.x * 4;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to),
                 "l"(from));
  }
  asm volatile("cp.async.commit_group;");
  asm volatile("cp.async.wait_group 0;");
  __syncthreads();
  y[blockIdx.x * 256 + threadIdx.x] = tile[255 - threadIdx.x];
}
