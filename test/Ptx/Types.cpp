//===- Types.cpp - The types of PTX
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Ptx/Types.h"

using namespace pipewright::ptx;

namespace {
enum class Class { Bits, Unsigned, Signed, Float };

struct TypeInfo {
  std::string_view name;
  Type type;
  unsigned bits;
  Class kind;
};

constexpr TypeInfo types[] = {
    {"pred", Type::Pred, 1, Class::Bits},
    {"b8", Type::B8, 8, Class::Bits},
    {"b16", Type::B16, 16, Class::Bits},
    {"b32", Type::B32, 32, Class::Bits},
    {"b64", Type::B64, 64, Class::Bits},
    {"u8", Type::U8, 8, Class::Unsigned},
    {"u16", Type::U16, 16, Class::Unsigned},
    {"u32", Type::U32, 32, Class::Unsigned},
    {"u64", Type::U64, 64, Class::Unsigned},
    {"s8", Type::S8, 8, Class::Signed},
    {"s16", Type::S16, 16, Class::Signed},
    {"s32", Type::S32, 32, Class::Signed},
    {"s64", Type::S64, 64, Class::Signed},
    {"f16", Type::F16, 16, Class::Float},
    {"f16x2", Type::F16x2, 32, Class::Float},
    {"bf16", Type::BF16, 16, Class::Float},
    {"bf16x2", Type::BF16x2, 32, Class::Float},
    {"tf32", Type::TF32, 32, Class::Float},
    {"f32", Type::F32, 32, Class::Float},
    {"f64", Type::F64, 64, Class::Float},
    {"e4m3x2", Type::E4M3x2, 16, Class::Float},
    {"e5m2x2", Type::E5M2x2, 16, Class::Float},
};

/// The types are in the order of the enumeration, whose first is None.
const TypeInfo &getInfo(Type type) { return types[unsigned(type) - 1]; }
} // namespace

Type pipewright::ptx::parseType(std::string_view word) {
  for (const TypeInfo &info : types)
    if (info.name == word)
      return info.type;
  return Type::None;
}

unsigned pipewright::ptx::getBits(Type type) {
  return type == Type::None ? 0 : getInfo(type).bits;
}

bool pipewright::ptx::isSigned(Type type) {
  return type != Type::None && getInfo(type).kind == Class::Signed;
}

bool pipewright::ptx::isInteger(Type type) {
  return isSigned(type) ||
         (type != Type::None && getInfo(type).kind == Class::Unsigned);
}

bool pipewright::ptx::isBits(Type type) {
  return type != Type::None && getInfo(type).kind == Class::Bits;
}

bool pipewright::ptx::isFloat(Type type) {
  return type != Type::None && getInfo(type).kind == Class::Float;
}

bool pipewright::ptx::isPair(Type type) {
  return type == Type::F16x2 || type == Type::BF16x2;
}

Type pipewright::ptx::getElement(Type type) {
  if (type == Type::F16x2)
    return Type::F16;
  return type == Type::BF16x2 ? Type::BF16 : type;
}
