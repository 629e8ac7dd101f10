//===- SvgColors.cpp - The colours of a schedule's picture
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SvgColors.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cmath>

using namespace llvm;
using namespace pipewright;

/// How much white the palest shade has.
static constexpr double maxWhite = 0.55;

Color Color::lighten(int64_t index, int64_t count) const {
  if (count <= 1)
    return *this;
  double white = maxWhite * index / (count - 1);
  auto mix = [&](double part) { return part + white * (1 - part); };
  return {mix(red), mix(green), mix(blue)};
}

bool Color::isDark() const {
  auto linearize = [](double part) {
    return part <= 0.04045 ? part / 12.92
                           : std::pow((part + 0.055) / 1.055, 2.4);
  };
  double luminance = 0.2126 * linearize(red) + 0.7152 * linearize(green) +
                     0.0722 * linearize(blue);
  double onWhite = 1.05 / (luminance + 0.05);
  double onBlack = (luminance + 0.05) / 0.05;
  return onWhite > onBlack;
}

std::string Color::toString() const {
  std::string text;
  raw_string_ostream os(text);
  os << '#';
  for (double part : {red, green, blue})
    os << format("%02x", static_cast<unsigned>(std::lround(255 * part)));
  return text;
}

/// The parts of a colour in hexadecimal, as they are published.
static constexpr Color makeColor(uint32_t code) {
  return {(code >> 16) / 255.0, (code >> 8 & 255) / 255.0,
          (code & 255) / 255.0};
}

// The palette of Okabe and Ito, "Color Universal Design", 2008.
Color pipewright::getColor(ActionKind kind) {
  switch (kind) {
  case ActionKind::F:
    return makeColor(0x0072b2);
  case ActionKind::B:
    return makeColor(0xe69f00);
  case ActionKind::W:
    return makeColor(0x009e73);
  case ActionKind::BW:
    return makeColor(0xd55e00);
  default:
    return makeColor(0xcc79a7);
  }
}

StringRef pipewright::getMeaning(ActionKind kind) {
  switch (kind) {
  case ActionKind::F:
    return "forward";
  case ActionKind::B:
    return "input gradient";
  case ActionKind::W:
    return "weight gradient";
  case ActionKind::BW:
    return "backward";
  default:
    return "recompute";
  }
}
