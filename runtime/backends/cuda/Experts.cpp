//===- Experts.cpp - Rows that each have one of several matrices ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Nothing waits for the device to say how many rows an expert has, and no row
// is packed: Experts.cu reads them by a list, which is in the workspace of
// products.
//
//===----------------------------------------------------------------------===//

#include "EmbeddedKernels.h"
#include "ExpertTiles.h"
#include "Stream.h"

#include <algorithm>

using namespace pprt;
using namespace pprt::cuda;

namespace {
/// In the order of pprt/Cuda.h, as in CMakeLists.txt.
enum class Types : uint32_t { F32, BF16, BF16F32, F16, F16F32 };

enum ExpertKernel : uint32_t {
  SortRowsKernel = 0,
  MultiplyRowsKernel = 1,
  MultiplyRowsTransposedKernel = 2,
  SumOuterProductsKernel = 3,
  KernelsOfTypes = 3
};

/// What kernels read about the rows.
struct RowLists {
  int *begins; ///< of each expert's rows, of those without one, and the end
  int *order;
};
} // namespace

static int64_t divideUp(int64_t value, int64_t by) {
  return (value + by - 1) / by;
}

static uint32_t getKernel(ExpertKernel kernel, Types types) {
  return kernel + static_cast<uint32_t>(types) * KernelsOfTypes;
}

static void launch(uint32_t kernel, int64_t blocksX, int64_t blocksY,
                   uint32_t threads, void **arguments) {
  if (blocksX > 0 && blocksY > 0)
    pprtCudaLaunch(&expertKernels, kernel, static_cast<uint32_t>(blocksX),
                   static_cast<uint32_t>(blocksY), 1, threads, 1, 1, arguments);
}

static RowLists sortRows(const int64_t *experts, int64_t rows,
                         int64_t expertCount) {
  const ComputeStream &to = getComputeStream();
  uint64_t bytes = (expertCount + 2 + rows) * sizeof(int);
  if (bytes > to.workspaceBytes)
    fail(ExitCode::Data, "to list " + std::to_string(rows) + " rows of " +
                             std::to_string(expertCount) + " experts takes " +
                             std::to_string(bytes) +
                             " bytes of the workspace of products, which has " +
                             std::to_string(to.workspaceBytes));
  auto *begins = static_cast<int *>(to.workspace);
  RowLists lists = {begins, begins + expertCount + 2};
  int rowCount = static_cast<int>(rows), count = static_cast<int>(expertCount);
  void *arguments[] = {&experts, &rowCount, &count, &lists.begins,
                       &lists.order};
  launch(SortRowsKernel, expertCount + 1, 1, sortThreads, arguments);
  return lists;
}

static void multiplyRows(Types types, const void *a, const void *b,
                         const int64_t *experts, void *c, int64_t rows,
                         int64_t expertCount, int64_t m, int64_t n,
                         bool transposeB) {
  if (rows == 0)
    return;
  RowLists lists = sortRows(experts, rows, expertCount);
  int count = static_cast<int>(expertCount);
  void *arguments[] = {&a, &b, &c, &lists.begins, &lists.order, &count, &m, &n};
  // Each expert with rows, and what has none, may end in a part of a tile.
  int64_t tiles = rows / tileSize + std::min(rows, expertCount + 1);
  launch(
      getKernel(transposeB ? MultiplyRowsTransposedKernel : MultiplyRowsKernel,
                types),
      tiles, divideUp(n, tileSize), tileThreads, arguments);
}

static void sumOuterProducts(Types types, const void *a, const void *b,
                             const int64_t *experts, void *c, int64_t rows,
                             int64_t expertCount, int64_t m, int64_t n,
                             int32_t accumulate) {
  RowLists lists = sortRows(experts, rows, expertCount);
  void *arguments[] = {&a,           &b, &c, &lists.begins,
                       &lists.order, &m, &n, &accumulate};
  launch(getKernel(SumOuterProductsKernel, types),
         expertCount * divideUp(m, tileSize), divideUp(n, tileSize),
         tileThreads, arguments);
}

#define PPRT_DEFINE_EXPERTS(TYPES, OPERAND, RESULT)                            \
  void pprtCudaExpertMatmul##TYPES(                                            \
      const OPERAND *a, const OPERAND *b, const int64_t *experts, RESULT *c,   \
      OPERAND *, RESULT *, int64_t rows, int64_t expertCount, int64_t m,       \
      int64_t n, int32_t transposeB) {                                         \
    multiplyRows(Types::TYPES, a, b, experts, c, rows, expertCount, m, n,      \
                 transposeB != 0);                                             \
  }                                                                            \
  void pprtCudaExpertOuter##TYPES(                                             \
      const OPERAND *a, const OPERAND *b, const int64_t *experts, RESULT *c,   \
      OPERAND *, OPERAND *, int64_t rows, int64_t expertCount, int64_t m,      \
      int64_t n, int32_t accumulate) {                                         \
    sumOuterProducts(Types::TYPES, a, b, experts, c, rows, expertCount, m, n,  \
                     accumulate);                                              \
  }
PPRT_DEFINE_EXPERTS(F32, float, float)
PPRT_DEFINE_EXPERTS(BF16, uint16_t, uint16_t)
PPRT_DEFINE_EXPERTS(BF16F32, uint16_t, float)
PPRT_DEFINE_EXPERTS(F16, uint16_t, uint16_t)
PPRT_DEFINE_EXPERTS(F16F32, uint16_t, float)
#undef PPRT_DEFINE_EXPERTS
