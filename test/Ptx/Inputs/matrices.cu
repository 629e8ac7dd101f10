// One warp multiplies 16x16 by 16x8 with the matrix units.

#include <cuda_bf16.h>

extern "C" __global__ void mma(const __nv_bfloat16 *a, const __nv_bfloat16 *b,
                               float *c) {
  __shared__ __align__(16) __nv_bfloat16 tileA[16 * 16], tileB[16 * 8];
  int lane = threadIdx.x;
  for (int i = lane; i < 16 * 16; i += 32)
    tileA[i] = a[i];
  for (int i = lane; i < 16 * 8; i += 32)
    tileB[i] = b[i];
  __syncthreads();

  unsigned fragA[4], fragB[2];
  unsigned rowA = (unsigned)__cvta_generic_to_shared(
      tileA + lane % 16 * 16 + lane / 16 * 8);
  unsigned rowB = (unsigned)__cvta_generic_to_shared(tileB + lane % 16 * 8);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(fragA[0]), "=r"(fragA[1]), "=r"(fragA[2]), "=r"(fragA[3])
               : "r"(rowA));
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
               : "=r"(fragB[0]), "=r"(fragB[1])
               : "r"(rowB));
  float d[4] = {0, 0, 0, 0};
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
               "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(fragA[0]), "r"(fragA[1]), "r"(fragA[2]), "r"(fragA[3]),
                 "r"(fragB[0]), "r"(fragB[1]));
  int row = lane / 4, column = lane % 4 * 2;
  c[row * 8 + column] = d[0];
  c[row * 8 + column + 1] = d[1];
  c[(row + 8) * 8 + column] = d[2];
  c[(row + 8) * 8 + column + 1] = d[3];
}
