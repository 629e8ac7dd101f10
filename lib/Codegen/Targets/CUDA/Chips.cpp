//===- Chips.cpp - Which devices code is made for
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Chips.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace pipewright;

static constexpr StringLiteral commonChips = "sm_80,sm_90,sm_100";

/// Those before lack instructions for bf16.
static constexpr unsigned oldestChip = 80;

/// Those with a letter at the end have code that runs on no later chip.
static constexpr unsigned knownChips[] = {80,  86,  87,  88,  89, 90,
                                          100, 103, 110, 120, 121};

unsigned cuda::getChipNumber(StringRef chip) {
  unsigned number = 0;
  bool isNone = !chip.consume_front("sm_") || chip.getAsInteger(10, number);
  return isNone ? 0 : number;
}

static Error checkChip(StringRef chip) {
  unsigned number = cuda::getChipNumber(chip);
  if (is_contained(knownChips, number))
    return Error::success();
  if (number != 0 && number < oldestChip)
    return createStringError("'" + chip + "' is too old: kernels need sm_" +
                             Twine(oldestChip) + " or later");
  return createStringError("there is no CUDA device '" + chip +
                           "'; name one or several such as " + commonChips);
}

Expected<SmallVector<std::string>> cuda::getChips(StringRef names) {
  if (names == "native")
    names = commonChips;
  SmallVector<StringRef> parts;
  names.split(parts, ',');
  SmallVector<std::string> chips;
  for (StringRef part : parts) {
    if (Error error = checkChip(part))
      return error;
    chips.push_back(part.str());
  }
  llvm::sort(chips, [](StringRef lhs, StringRef rhs) {
    return getChipNumber(lhs) < getChipNumber(rhs);
  });
  chips.erase(llvm::unique(chips), chips.end());
  return chips;
}

StringRef cuda::getDevice(StringRef names) {
  constexpr StringLiteral usual = "h100";
  Expected<SmallVector<std::string>> chips = getChips(names);
  if (!chips) {
    consumeError(chips.takeError());
    return usual;
  }
  if (getChipNumber(chips->back()) < 90)
    return "a100";
  return getChipNumber(chips->front()) < 100 ? usual : "b200";
}
