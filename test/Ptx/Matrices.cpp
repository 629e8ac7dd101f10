//===- Matrices.cpp - The matrix units
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A warp's matrices are spread over the registers of its lanes; the formulas
// are those of the PTX manual, "Matrix Fragments for mma.m16n8k16" and
// "ldmatrix". Sums are made in double and rounded to float once, so they are
// closer to the exact ones than the GPU's.
//
//===----------------------------------------------------------------------===//

#include "Ptx/Lanes.h"
#include "Ptx/Warp.h"

using namespace pipewright::ptx;

static constexpr unsigned rows = 16, columns = 8;

static double getHalf(Type type, Word pair, unsigned half) {
  return loadFloat(type, pair >> (16 * half) & 0xFFFF);
}

/// A and B of one mma, gathered from all lanes; k is 8 or 16.
struct Factors {
  double a[rows][16];
  double b[16][columns];
};

/// Lane l has pairs of neighbouring elements of k: rows l / 4 and l / 4 + 8 of
/// A, column l / 4 of B, and of k those at l % 4 * 2 and, for 16, 8 further.
static Factors gatherFactors(Warp &warp, const Instruction &instruction,
                             unsigned k) {
  Factors factors;
  Type type = instruction.sourceType;
  unsigned aRegisters = k / 4, bRegisters = k / 8;
  forEachLane(allLanes, [&](unsigned lane) {
    unsigned group = lane / 4, first = lane % 4 * 2;
    for (unsigned i = 0; i < aRegisters; ++i) {
      Word pair = warp.read(instruction.sources[i], lane);
      for (unsigned half = 0; half < 2; ++half)
        factors.a[group + i % 2 * 8][first + i / 2 * 8 + half] =
            getHalf(type, pair, half);
    }
    for (unsigned i = 0; i < bRegisters; ++i) {
      Word pair = warp.read(instruction.sources[aRegisters + i], lane);
      for (unsigned half = 0; half < 2; ++half)
        factors.b[first + i * 8 + half][group] = getHalf(type, pair, half);
    }
  });
  return factors;
}

/// Lane l has elements (l / 4 + i / 2 * 8, l % 4 * 2 + i % 2) of C and D.
static void runMultiply(Warp &warp, const Instruction &instruction,
                        LaneMask active) {
  if (active != allLanes) {
    warp.fault(FaultKind::Undefined, getFirstLane(active),
               "is executed by " + std::to_string(countLanes(active)) +
                   " lanes of the warp");
    return;
  }
  for (const Operand &source : instruction.sources)
    warp.checkWritten(source, active);
  unsigned k = instruction.variant;
  Factors factors = gatherFactors(warp, instruction, k);
  unsigned firstC = k / 4 + k / 8;
  forEachLane(active, [&](unsigned lane) {
    double sums[4];
    for (unsigned i = 0; i < 4; ++i) {
      unsigned row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
      sums[i] = loadFloat(Type::F32,
                          warp.read(instruction.sources[firstC + i], lane));
      for (unsigned j = 0; j < k; ++j)
        sums[i] += factors.a[row][j] * factors.b[j][column];
    }
    for (unsigned i = 0; i < 4; ++i)
      warp.write(instruction.results[i], lane,
                 storeFloat(Type::F32, sums[i], instruction));
  });
}

static bool decodeMultiply(Modifiers &modifiers, Instruction &instruction) {
  bool isForm = modifiers.take("sync") && modifiers.take("aligned") &&
                modifiers.take("row") && modifiers.take("col");
  int shape = modifiers.takeOneOf({"m16n8k8", "m16n8k16"});
  unsigned k = shape == 0 ? 8 : 16;
  Type result = modifiers.takeType();
  instruction.sourceType = modifiers.takeType();
  bool isSame = modifiers.takeType() == instruction.sourceType;
  bool isFloatSum = result == Type::F32 && modifiers.takeType() == Type::F32;
  instruction.variant = static_cast<uint8_t>(k);
  instruction.run = runMultiply;
  modifiers.results = 4;
  modifiers.sources = static_cast<int>(k / 4 + k / 8 + 4);
  return isForm && shape >= 0 && isSame && isFloatSum &&
         getBits(instruction.sourceType) == 16 &&
         isFloat(instruction.sourceType);
}

/// Each of 8 rows of 16 bytes comes from the address of one lane: matrix i's
/// from those of lanes 8 * i on. Lane l gets elements l % 4 * 2 and the next of
/// row l / 4, or of column l / 4 if transposed.
static void runLoadMatrix(Warp &warp, const Instruction &instruction,
                          LaneMask active) {
  warp.checkWritten(instruction.addresses[0], active);
  if (active != allLanes) {
    warp.fault(FaultKind::Undefined, getFirstLane(active),
               "is executed by " + std::to_string(countLanes(active)) +
                   " lanes of the warp");
    return;
  }
  uint16_t elements[4][8][8] = {};
  for (unsigned owner = 0; owner < instruction.elements * 8u; ++owner) {
    MemoryAccess access;
    access.space = Space::Shared;
    access.address = warp.getAddress(instruction.addresses[0], owner);
    access.bytes = 16;
    access.isRead = true;
    if (const uint8_t *from = warp.access(owner, access))
      std::memcpy(elements[owner / 8][owner % 8], from, access.bytes);
  }
  bool isTransposed = instruction.variant;
  forEachLane(active, [&](unsigned lane) {
    unsigned row = lane / 4, first = lane % 4 * 2;
    for (unsigned i = 0; i < instruction.elements; ++i) {
      const auto &matrix = elements[i];
      Word low = isTransposed ? matrix[first][row] : matrix[row][first];
      Word high =
          isTransposed ? matrix[first + 1][row] : matrix[row][first + 1];
      warp.write(instruction.results[i], lane, high << 16 | low);
    }
  });
}

static bool decodeLoadMatrix(Modifiers &modifiers, Instruction &instruction) {
  static constexpr uint8_t counts[] = {1, 2, 4};
  bool isForm = modifiers.take("sync") && modifiers.take("aligned") &&
                modifiers.take("m8n8");
  int count = modifiers.takeOneOf({"x1", "x2", "x4"});
  instruction.elements = count < 0 ? 1 : counts[count];
  instruction.variant = modifiers.take("trans");
  instruction.run = runLoadMatrix;
  modifiers.results = instruction.elements;
  bool isShared = modifiers.take("shared") || modifiers.take("shared::cta");
  return isForm && count >= 0 && isShared && modifiers.takeType() == Type::B16;
}

void pipewright::ptx::addMatrices(OpcodeTable &table) {
  table["mma"] = {decodeMultiply, "rsss"};
  table["ldmatrix"] = {decodeLoadMatrix, "ra"};
}
