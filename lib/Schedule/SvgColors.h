//===- SvgColors.h - The colours of a schedule's picture --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_SCHEDULE_SVGCOLORS_H
#define PIPEWRIGHT_LIB_SCHEDULE_SVGCOLORS_H

#include "pipewright/Schedule/Schedule.h"

namespace pipewright {

/// A colour of the sRGB space, each part from 0 to 1.
struct Color {
  double red, green, blue;

  /// The shade \p index of \p count, from the colour itself to a pale one.
  Color lighten(int64_t index, int64_t count) const;
  /// Whether white text is easier to read on it than black text, by the
  /// contrast that the W3C's accessibility guidelines define.
  bool isDark() const;
  /// `#rrggbb`
  std::string toString() const;
};

/// The colour of an action; people who see few colours can tell them apart.
Color getColor(ActionKind kind);

/// What an action is called in the legend.
llvm::StringRef getMeaning(ActionKind kind);

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_SCHEDULE_SVGCOLORS_H
