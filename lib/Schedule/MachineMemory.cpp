//===- MachineMemory.cpp - The memory of a rank that runs on numbers
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MachineMemory.h"

using namespace mlir;
using namespace pipewright;

/// What has one buffer for the whole run.
static bool isLasting(pp::BindingAttr binding) {
  switch (binding.getKind()) {
  case pp::BindingKind::Parameter:
  case pp::BindingKind::Gradient:
  case pp::BindingKind::State:
  case pp::BindingKind::LossScale:
    return true;
  default:
    return false;
  }
}

LogicalResult MachineMemory::readArena(pp::ArenaOp arena, int64_t microbatches,
                                       bool isEval) {
  if (end != 0)
    return arena.emitError(getName(Rule::S8))
           << ": rank " << arena.getRank() << " has two arenas";
  this->isEval = isEval;
  end = arena.getBytes();
  for (auto place : arena.getOps<pp::PlaceOp>()) {
    pp::BindingAttr binding = place.getBinding();
    if (!isLasting(binding)) {
      ArrayRef<int64_t> slots = place.getSlotOf().value_or(ArrayRef<int64_t>());
      if (static_cast<int64_t>(slots.size()) != microbatches)
        return place.emitError(getName(Rule::S8))
               << ": " << binding << " has slots of " << slots.size()
               << " micro-batches; there are " << microbatches;
    }
    planned[binding] = place;
    if (!isLasting(binding))
      continue;
    Place where = getPlace(binding, 0);
    if (const Cell *other = findIn(where))
      return place.emitError(getName(Rule::S8))
             << ": " << binding << " shares memory with "
             << other->place.binding << "; both last";
    cells[where.offset] = {where, /*number=*/-1, std::nullopt};
  }
  return success();
}

MachineMemory::Place MachineMemory::getPlace(pp::BindingAttr binding,
                                             int64_t microbatch) {
  if (isLasting(binding))
    microbatch = 0;
  if (pp::PlaceOp place = planned.lookup(binding))
    return {binding, microbatch, place.getOffset(microbatch, isEval),
            static_cast<int64_t>(place.getBytes())};
  auto [other, isNew] = others.try_emplace({binding, microbatch}, end);
  end += isNew;
  return {binding, microbatch, other->second, /*bytes=*/1};
}

const MachineMemory::Cell *MachineMemory::findIn(const Place &place) const {
  auto after = cells.lower_bound(place.offset + place.bytes);
  if (after == cells.begin())
    return nullptr;
  const Cell &before = std::prev(after)->second;
  return before.place.meets(place) ? &before : nullptr;
}

const MachineMemory::Cell *MachineMemory::find(const Place &place) const {
  auto found = cells.find(place.offset);
  if (found == cells.end() || !found->second.place.isSame(place))
    return nullptr;
  return &found->second;
}

LogicalResult MachineMemory::write(const Place &place, int64_t number,
                                   const ProgramAction &writer) {
  if (place.bytes == 0)
    return success();
  while (const Cell *cell = findIn(place)) {
    if (isLasting(cell->place.binding) && !cell->place.isSame(place))
      return writer.op->emitError(getName(Rule::S8))
             << ": writes " << place.binding << " of micro-batch "
             << place.microbatch << " over " << cell->place.binding;
    cells.erase(cell->place.offset);
  }
  cells[place.offset] = {place, number, writer};
  return success();
}
