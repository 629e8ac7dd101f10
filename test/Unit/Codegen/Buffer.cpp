//===- Buffer.cpp - Memory that notices stray writes
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Buffer.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cstring>

using namespace mlir;
using namespace pipewright;

Buffer::Buffer(int64_t bytes) : bytes(bytes) {
  int64_t total = llvm::alignTo(bytes + 2 * guardBytes, guardBytes);
  memory.reset(
      static_cast<unsigned char *>(std::aligned_alloc(guardBytes, total)));
  std::fill_n(memory.get(), guardBytes, guardValue);
  std::fill_n(memory.get() + guardBytes, bytes, 0xFF);
  std::fill_n(memory.get() + guardBytes + bytes, guardBytes, guardValue);
}

bool Buffer::isIntact() const {
  auto isGuard = [](unsigned char byte) { return byte == guardValue; };
  const unsigned char *after = memory.get() + guardBytes + bytes;
  return std::all_of(memory.get(), memory.get() + guardBytes, isGuard) &&
         std::all_of(after, after + guardBytes, isGuard);
}

static uint64_t encode(FloatType type, double value) {
  llvm::APFloat number(value);
  bool losesInfo;
  number.convert(type.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven,
                 &losesInfo);
  return number.bitcastToAPInt().getZExtValue();
}

static double decode(FloatType type, uint64_t bits) {
  llvm::APFloat number(type.getFloatSemantics(),
                       llvm::APInt(type.getWidth(), bits));
  bool losesInfo;
  number.convert(llvm::APFloat::IEEEdouble(),
                 llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return number.convertToDouble();
}

void Buffer::write(Type element, const nn::HostTensor &tensor) {
  int64_t width = llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  auto *target = static_cast<unsigned char *>(getData());
  for (int64_t i = 0; i < tensor.getNumElements(); ++i) {
    uint64_t bits =
        tensor.isFloat()
            ? encode(cast<FloatType>(element), tensor.getFloats()[i])
            : static_cast<uint64_t>(tensor.getIntegers()[i]);
    std::memcpy(target + i * width, &bits, width);
  }
}

nn::HostTensor Buffer::read(RankedTensorType type) {
  Type element = type.getElementType();
  unsigned bitWidth = element.getIntOrFloatBitWidth();
  int64_t width = llvm::divideCeil(bitWidth, 8);
  nn::HostTensor tensor = nn::HostTensor::zeros(type);
  auto *source = static_cast<unsigned char *>(getData());
  for (int64_t i = 0; i < tensor.getNumElements(); ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, source + i * width, width);
    if (tensor.isFloat())
      tensor.getFloats()[i] = decode(cast<FloatType>(element), bits);
    else
      tensor.getIntegers()[i] =
          bitWidth == 1 ? bits : llvm::SignExtend64(bits, bitWidth);
  }
  return tensor;
}
