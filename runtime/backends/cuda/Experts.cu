//===- Experts.cu - Rows that each have one of several matrices -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The host does not know how many rows an expert has. One kernel lists the rows
// of each; in the others a block finds out there what is its to compute, and
// reads the rows where they are. There are as many blocks as any choice of
// experts may need; those left over have nothing to do.
//
// Sums are of f32 and in the order of the rows, whatever the device. Operands
// of 16 bits go through the matrix units.
//
//===----------------------------------------------------------------------===//

#include "ExpertTiles.h"

#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <type_traits>

using namespace pprt::cuda;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

namespace {
struct F32 {
  using Word = float;
  static __device__ float decode(float word) { return word; }
  static __device__ float encode(float value) { return value; }
};

struct BF16 {
  using Word = uint16_t;
  static __device__ float decode(uint16_t word) {
    return __bfloat162float(__ushort_as_bfloat16(word));
  }
  static __device__ uint16_t encode(float value) {
    return __bfloat16_as_ushort(__float2bfloat16_rn(value));
  }
};

struct F16 {
  using Word = uint16_t;
  static __device__ float decode(uint16_t word) {
    return __half2float(__ushort_as_half(word));
  }
  static __device__ uint16_t encode(float value) {
    return __half_as_ushort(__float2half_rn(value));
  }
};

/// 16 bytes.
template <typename WordTy>
struct alignas(16) Packet {
  static constexpr int size = 16 / sizeof(WordTy);
  WordTy words[size];
};
} // namespace

static __device__ int64_t smaller(int64_t a, int64_t b) {
  return a < b ? a : b;
}

//===----------------------------------------------------------------------===//
// Sorting
//===----------------------------------------------------------------------===//

/// The expert of a row; \p expertCount if its number names none.
static __device__ int getExpert(const int64_t *experts, int64_t row,
                                int expertCount) {
  int64_t number = experts[row];
  int64_t expert = number < 0 ? number + expertCount : number;
  return expert >= 0 && expert < expertCount ? static_cast<int>(expert)
                                             : expertCount;
}

/// Replaces the number of each thread by the sum of those of the threads before
/// it, and returns the sum of all.
static __device__ int sumBefore(int &number) {
  __shared__ int sums[sortThreads];
  __syncthreads();
  sums[threadIdx.x] = number;
  __syncthreads();
  for (int distance = 1; distance < sortThreads; distance *= 2) {
    int more = threadIdx.x >= distance ? sums[threadIdx.x - distance] : 0;
    __syncthreads();
    sums[threadIdx.x] += more;
    __syncthreads();
  }
  number = sums[threadIdx.x] - number;
  return sums[sortThreads - 1];
}

/// Block e lists the rows of expert e, in their order, in `order` from
/// begins[e] on; the last block lists those without one. begins[expertCount +
/// 1] is how many rows there are.
extern "C" __global__ void __launch_bounds__(sortThreads)
    sortRows(const int64_t *experts, int rows, int expertCount, int *begins,
             int *order) {
  int expert = static_cast<int>(blockIdx.x);
  int share = (rows + sortThreads - 1) / sortThreads;
  int begin = static_cast<int>(smaller(threadIdx.x * int64_t(share), rows));
  int end = static_cast<int>(smaller(int64_t(begin) + share, rows));
  int below = 0, mine = 0;
  for (int row = begin; row < end; ++row) {
    int found = getExpert(experts, row, expertCount);
    below += found < expert;
    mine += found == expert;
  }
  int first = sumBefore(below);
  sumBefore(mine);
  if (threadIdx.x == 0) {
    begins[expert] = first;
    if (expert == expertCount)
      begins[expert + 1] = rows;
  }
  int place = first + mine;
  for (int row = begin; row < end; ++row)
    if (getExpert(experts, row, expertCount) == expert)
      order[place++] = row;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

namespace {
/// A matrix of which each line is contiguous: a row, or a column if the operand
/// is transposed. Lines may be those that a list names.
template <typename WordTy>
struct Matrix {
  const WordTy *data;
  int64_t lineLength; ///< and the distance between lines
  int64_t lineCount;
  const int *list; ///< null: all lines

  __device__ const WordTy *getLine(int64_t line) const {
    return data + (list ? list[line] : line) * lineLength;
  }
  /// Whether packets can be loaded at multiples of their size.
  __device__ bool hasPackets() const {
    return reinterpret_cast<uintptr_t>(data) % 16 == 0 &&
           lineLength * sizeof(WordTy) % 16 == 0;
  }
};

/// The part of a matrix that a block has in shared memory: `lines` of
/// `length`, with room that spreads them over the banks. What is beyond the
/// matrix is zero.
template <typename WordTy, int lines, int length>
struct Panel {
  using PacketTy = Packet<WordTy>;
  static constexpr int stride = length + PacketTy::size;
  static constexpr int perLine = length / PacketTy::size;
  static constexpr int perThread = lines * perLine / tileThreads;

  alignas(16) WordTy words[lines * stride];

  /// What one thread carries from the one memory to the other.
  struct Load {
    PacketTy packets[perThread];
  };

  static __device__ PacketTy loadPacket(const Matrix<WordTy> &from,
                                        int64_t line, int64_t at,
                                        bool hasPackets) {
    PacketTy packet = {};
    if (line >= from.lineCount || at >= from.lineLength)
      return packet;
    const WordTy *words = from.getLine(line) + at;
    if (hasPackets)
      return *reinterpret_cast<const PacketTy *>(words);
#pragma unroll
    for (int i = 0; i < PacketTy::size; ++i)
      if (at + i < from.lineLength)
        packet.words[i] = words[i];
    return packet;
  }

  static __device__ Load load(const Matrix<WordTy> &from, int64_t line,
                              int64_t at, bool hasPackets) {
    Load load;
#pragma unroll
    for (int i = 0; i < perThread; ++i) {
      int index = static_cast<int>(threadIdx.x) + i * tileThreads;
      load.packets[i] =
          loadPacket(from, line + index / perLine,
                     at + index % perLine * PacketTy::size, hasPackets);
    }
    return load;
  }

  __device__ void store(const Load &load) {
#pragma unroll
    for (int i = 0; i < perThread; ++i) {
      int index = static_cast<int>(threadIdx.x) + i * tileThreads;
      WordTy *to =
          words + index / perLine * stride + index % perLine * PacketTy::size;
      *reinterpret_cast<PacketTy *>(to) = load.packets[i];
    }
  }
};

/// The panel of an operand: its lines go along the sum or across it.
template <typename WordTy, bool alongSum>
using OperandPanel = Panel<WordTy, alongSum ? tileSize : tileDepth,
                           alongSum ? tileDepth : tileSize>;
} // namespace

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

namespace {
/// What a thread adds up of a tile: numbers of f32, by multiplications.
template <typename TypeT, bool alongA, bool alongB>
class Sums {
public:
  static constexpr int count = tileSize * tileSize / tileThreads;

  __device__ void add(const OperandPanel<float, alongA> &a,
                      const OperandPanel<float, alongB> &b) {
#pragma unroll 4
    for (int k = 0; k < tileDepth; ++k) {
      float left[rows], right[columns];
#pragma unroll
      for (int i = 0; i < rows; ++i)
        left[i] = get<alongA>(a, getRow(i * columns), k);
#pragma unroll
      for (int j = 0; j < columns; ++j)
        right[j] = get<alongB>(b, getColumn(j), k);
#pragma unroll
      for (int i = 0; i < count; ++i)
        values[i] = __fmaf_rn(left[i / columns], right[i % columns], values[i]);
    }
  }

  __device__ float get(int i) const { return values[i]; }
  /// Where in the tile a number is.
  static __device__ int getRow(int i) {
    return threadIdx.x / 16 + i / columns * 8;
  }
  static __device__ int getColumn(int i) {
    return threadIdx.x % 16 + i % columns * 16;
  }

private:
  static constexpr int rows = 8, columns = 4;

  template <bool along, typename PanelT>
  static __device__ float get(const PanelT &panel, int across, int k) {
    return along ? panel.words[across * PanelT::stride + k]
                 : panel.words[k * PanelT::stride + across];
  }

  float values[count] = {};
};

/// Four warps have a quarter of the tile each, by matrix units that multiply
/// 16 x 16 with 16 x 8. Formulas: PTX manual, "Matrix Fragments for
/// mma.m16n8k16" and "ldmatrix".
template <typename TypeT, bool alongA, bool alongB>
class MatrixUnitSums {
public:
  static constexpr int count = tileSize * tileSize / tileThreads;

  __device__ void add(const OperandPanel<uint16_t, alongA> &a,
                      const OperandPanel<uint16_t, alongB> &b) {
    int lane = threadIdx.x % 32;
    // Which of the four 8 x 8 matrices of a load a lane has the address of.
    int low = lane % 8, second = lane / 8 % 2 * 8, third = lane / 16 * 8;
#pragma unroll
    for (int k = 0; k < tileDepth; k += 16) {
      uint32_t left[2][4], right[2][4];
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        int row = getWarpRow() + i * 16;
        if constexpr (alongA)
          load<false>(left[i], a, row + low + second, k + third);
        else
          load<true>(left[i], a, k + low + third, row + second);
        int column = getWarpColumn() + i * 16;
        if constexpr (alongB)
          load<false>(right[i], b, column + low + third, k + second);
        else
          load<true>(right[i], b, k + low + second, column + third);
      }
#pragma unroll
      for (int i = 0; i < 8; ++i)
        multiply(values[i], left[i / 4], right[i % 4 / 2] + i % 2 * 2);
    }
  }

  __device__ float get(int i) const { return values[i / 4][i % 4]; }
  static __device__ int getRow(int i) {
    return getWarpRow() + i / 16 * 16 + i / 2 % 2 * 8 + threadIdx.x % 32 / 4;
  }
  static __device__ int getColumn(int i) {
    return getWarpColumn() + i / 4 % 4 * 8 + threadIdx.x % 4 * 2 + i % 2;
  }

private:
  static __device__ int getWarpRow() { return threadIdx.x / 64 * 32; }
  static __device__ int getWarpColumn() { return threadIdx.x / 32 % 2 * 32; }

  template <bool transposes, typename PanelT>
  static __device__ void load(uint32_t (&to)[4], const PanelT &panel, int line,
                              int at) {
    auto address = static_cast<uint32_t>(
        __cvta_generic_to_shared(panel.words + line * PanelT::stride + at));
    if constexpr (transposes)
      asm volatile(
          "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
          : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
          : "r"(address)
          : "memory");
    else
      asm volatile(
          "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
          : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
          : "r"(address)
          : "memory");
  }

  static __device__ void multiply(float (&sums)[4], const uint32_t (&a)[4],
                                  const uint32_t *b) {
#define PPRT_MULTIPLY(TYPE)                                                    \
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." TYPE "." TYPE ".f32 "  \
               "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"         \
               : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])    \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]),        \
                 "r"(b[1]))
    if constexpr (std::is_same_v<TypeT, BF16>)
      PPRT_MULTIPLY("bf16");
    else
      PPRT_MULTIPLY("f16");
#undef PPRT_MULTIPLY
  }

  float values[8][4] = {};
};

template <typename TypeT, bool alongA, bool alongB>
using TileSums =
    std::conditional_t<std::is_same_v<TypeT, F32>, Sums<TypeT, alongA, alongB>,
                       MatrixUnitSums<TypeT, alongA, alongB>>;
} // namespace

/// The tile whose rows begin at \p atA of one operand and whose columns begin
/// at \p atB of the other; the sum is over \p depth.
template <typename TypeT, bool alongA, bool alongB>
static __device__ TileSums<TypeT, alongA, alongB>
multiplyTile(const Matrix<typename TypeT::Word> &a, int64_t atA,
             const Matrix<typename TypeT::Word> &b, int64_t atB,
             int64_t depth) {
  using PanelA = OperandPanel<typename TypeT::Word, alongA>;
  using PanelB = OperandPanel<typename TypeT::Word, alongB>;
  __shared__ PanelA left;
  __shared__ PanelB right;
  bool packsA = a.hasPackets(), packsB = b.hasPackets();
  auto loadA = [&](int64_t k) {
    return PanelA::load(a, alongA ? atA : k, alongA ? k : atA, packsA);
  };
  auto loadB = [&](int64_t k) {
    return PanelB::load(b, alongB ? atB : k, alongB ? k : atB, packsB);
  };
  TileSums<TypeT, alongA, alongB> sums;
  if (depth == 0)
    return sums;
  typename PanelA::Load nextA = loadA(0);
  typename PanelB::Load nextB = loadB(0);
  for (int64_t k = 0; k < depth; k += tileDepth) {
    __syncthreads();
    left.store(nextA);
    right.store(nextB);
    __syncthreads();
    // On their way while the sums are made.
    if (k + tileDepth < depth) {
      nextA = loadA(k + tileDepth);
      nextB = loadB(k + tileDepth);
    }
    sums.add(left, right);
  }
  return sums;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// Rows of one expert, or of none, times its matrix.
template <typename TypeT, typename ResultT, bool transposeB>
static __device__ void
multiplyRows(const typename TypeT::Word *a, const typename TypeT::Word *b,
             typename ResultT::Word *c, const int *begins, const int *order,
             int expertCount, int64_t m, int64_t n) {
  int tile = static_cast<int>(blockIdx.x), expert = 0;
  for (; expert <= expertCount; ++expert) {
    int rows = begins[expert + 1] - begins[expert];
    int tiles = (rows + tileSize - 1) / tileSize;
    if (tile < tiles)
      break;
    tile -= tiles;
  }
  if (expert > expertCount)
    return;
  int first = begins[expert] + tile * tileSize;
  int64_t count = smaller(begins[expert + 1] - first, tileSize);
  int64_t firstColumn = int64_t(blockIdx.y) * tileSize;
  using Word = typename TypeT::Word;
  Matrix<Word> left = {a, m, count, order + first};
  Matrix<Word> right = {b + expert * m * n, transposeB ? m : n,
                        transposeB ? n : m, nullptr};
  auto sums = multiplyTile<TypeT, /*alongA=*/true, transposeB>(
      left, 0, right, firstColumn, expert < expertCount ? m : 0);
#pragma unroll
  for (int i = 0; i < sums.count; ++i) {
    int row = sums.getRow(i);
    int64_t column = firstColumn + sums.getColumn(i);
    if (row < count && column < n)
      c[order[first + row] * n + column] = ResultT::encode(sums.get(i));
  }
}

/// A tile of the sum of the outer products of one expert's rows.
template <typename TypeT, typename ResultT>
static __device__ void
sumOuterProducts(const typename TypeT::Word *a, const typename TypeT::Word *b,
                 typename ResultT::Word *c, const int *begins, const int *order,
                 int64_t m, int64_t n, int accumulate) {
  int64_t tiles = (m + tileSize - 1) / tileSize;
  int64_t expert = blockIdx.x / tiles;
  int64_t firstRow = blockIdx.x % tiles * tileSize;
  int64_t firstColumn = int64_t(blockIdx.y) * tileSize;
  int64_t count = begins[expert + 1] - begins[expert];
  if (count == 0 && accumulate)
    return;
  using Word = typename TypeT::Word;
  const int *list = order + begins[expert];
  Matrix<Word> left = {a, m, count, list}, right = {b, n, count, list};
  auto sums = multiplyTile<TypeT, /*alongA=*/false, /*alongB=*/false>(
      left, firstRow, right, firstColumn, count);
#pragma unroll
  for (int i = 0; i < sums.count; ++i) {
    int64_t row = firstRow + sums.getRow(i);
    int64_t column = firstColumn + sums.getColumn(i);
    if (row >= m || column >= n)
      continue;
    auto &result = c[(expert * m + row) * n + column];
    float before = accumulate ? ResultT::decode(result) : 0;
    result = ResultT::encode(before + sums.get(i));
  }
}

#define PPRT_KERNEL extern "C" __global__ void __launch_bounds__(tileThreads)

#define PPRT_DEFINE_EXPERTS(TYPES, OPERAND, RESULT)                            \
  PPRT_KERNEL multiplyRows##TYPES(const OPERAND::Word *a,                      \
                                  const OPERAND::Word *b, RESULT::Word *c,     \
                                  const int *begins, const int *order,         \
                                  int expertCount, int64_t m, int64_t n) {     \
    multiplyRows<OPERAND, RESULT, false>(a, b, c, begins, order, expertCount,  \
                                         m, n);                                \
  }                                                                            \
  PPRT_KERNEL multiplyRowsTransposed##TYPES(                                   \
      const OPERAND::Word *a, const OPERAND::Word *b, RESULT::Word *c,         \
      const int *begins, const int *order, int expertCount, int64_t m,         \
      int64_t n) {                                                             \
    multiplyRows<OPERAND, RESULT, true>(a, b, c, begins, order, expertCount,   \
                                        m, n);                                 \
  }                                                                            \
  PPRT_KERNEL sumOuterProducts##TYPES(const OPERAND::Word *a,                  \
                                      const OPERAND::Word *b, RESULT::Word *c, \
                                      const int *begins, const int *order,     \
                                      int64_t m, int64_t n, int accumulate) {  \
    sumOuterProducts<OPERAND, RESULT>(a, b, c, begins, order, m, n,            \
                                      accumulate);                             \
  }
PPRT_DEFINE_EXPERTS(F32, F32, F32)
PPRT_DEFINE_EXPERTS(BF16, BF16, BF16)
PPRT_DEFINE_EXPERTS(BF16F32, BF16, F32)
PPRT_DEFINE_EXPERTS(F16, F16, F16)
PPRT_DEFINE_EXPERTS(F16F32, F16, F32)
