//===- CsvFormat.cpp - PyTorch's pipelining format
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/Formats.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace pipewright;

static constexpr StringLiteral pairName = "OVERLAP_F_B";

//===----------------------------------------------------------------------===//
// Writer
//===----------------------------------------------------------------------===//

/// PyTorch's letters: its B is the full backward, its I the input gradient.
static StringRef getLetter(ActionKind kind) {
  if (kind == ActionKind::BW)
    return "B";
  if (kind == ActionKind::B)
    return "I";
  return getName(kind);
}

static void writeCell(const Action &action, raw_ostream &os) {
  os << action.stage << getLetter(action.kind) << action.microbatch;
}

static Error writeAction(const Action &action, raw_ostream &os) {
  switch (action.kind) {
  case ActionKind::R:
  case ActionKind::Step:
    return createStringError("PyTorch's format cannot express " +
                             describe(action));
  case ActionKind::FB:
    os << '(';
    writeCell(action.parts[0], os);
    os << ';';
    writeCell(action.parts[1], os);
    os << ')' << pairName;
    return Error::success();
  case ActionKind::Group:
    interleave(
        action.parts, os, [&](const Action &part) { writeCell(part, os); },
        ",");
    return Error::success();
  default:
    writeCell(action, os);
    return Error::success();
  }
}

Error pipewright::writeCsv(const Schedule &schedule, raw_ostream &os) {
  if (schedule.getDirections() != 1)
    return createStringError("PyTorch's format cannot express the " +
                             Twine(schedule.getDirections()) +
                             " directions of schedule '" + schedule.getName() +
                             "'; use JSON");
  for (int64_t rank = 0; rank < schedule.getRanks(); ++rank) {
    ListSeparator comma(",");
    for (const Action &action : schedule.getActions(rank)) {
      os << StringRef(comma);
      if (Error error = writeAction(action, os))
        return error;
    }
    os << '\n';
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Reader
//===----------------------------------------------------------------------===//

/// Numbers are plain digits, and far from overflowing anything made of them.
static bool parseNumber(StringRef &text, int64_t &number) {
  StringRef digits = text.take_while(isDigit);
  text = text.drop_front(digits.size());
  return !digits.getAsInteger(10, number) && number < (int64_t(1) << 20);
}

static std::optional<ActionKind> parseLetters(StringRef letters) {
  if (letters == "B")
    return ActionKind::BW;
  if (letters == "I")
    return ActionKind::B;
  std::optional<ActionKind> kind = parseActionKind(letters);
  bool isTransfer = kind && Action{*kind}.isTransfer();
  if (isTransfer || kind == ActionKind::F || kind == ActionKind::W)
    return kind;
  return std::nullopt;
}

/// A cell such as `0F12`.
static bool parseSimpleCell(StringRef cell, Action &action) {
  int64_t stage, microbatch;
  if (!parseNumber(cell, stage))
    return false;
  StringRef letters =
      cell.take_while([](char c) { return isAlpha(c) || c == '_'; });
  std::optional<ActionKind> kind = parseLetters(letters);
  cell = cell.drop_front(letters.size());
  if (!kind || !parseNumber(cell, microbatch))
    return false;
  action = {*kind, stage, microbatch};
  return cell.empty();
}

/// A cell such as `(0F12;3B4)OVERLAP_F_B`.
static bool parsePairCell(StringRef cell, Action &action) {
  if (!cell.consume_front("(") || !cell.consume_back(pairName) ||
      !cell.consume_back(")"))
    return false;
  auto [forward, backward] = cell.split(';');
  action.kind = ActionKind::FB;
  action.parts.resize(2);
  return parseSimpleCell(forward, action.parts[0]) &&
         parseSimpleCell(backward, action.parts[1]) &&
         action.parts[0].kind == ActionKind::F &&
         action.parts[1].isInputGradient();
}

static Error makeCellError(size_t row, size_t column, const Twine &message) {
  return createStringError("row " + Twine(row + 1) + ", column " +
                           Twine(column + 1) + ": " + message);
}

static Expected<Action> parseCell(StringRef cell, size_t row, size_t column) {
  Action action;
  if (parseSimpleCell(cell, action) || parsePairCell(cell, action))
    return action;
  for (StringRef unsupported : {"UNSHARD", "RESHARD", "REDUCE_GRAD"})
    if (cell.ends_with(unsupported))
      return makeCellError(row, column,
                           "'" + unsupported +
                               "' belongs to sharded data parallelism, which "
                               "this format is not read for; remove it");
  return makeCellError(row, column,
                       "'" + cell +
                           "' is not an action; expected stage, one of F B I W "
                           "SEND_F RECV_F SEND_B RECV_B, micro-batch, such as "
                           "0F3");
}

namespace {
/// The rows and what follows from them: who holds which stage.
struct Table {
  std::vector<std::vector<Action>> rows;
  std::vector<int64_t> rankOfStage;
  int64_t microbatches = 0;

  Error place(const Action &action, size_t row, size_t column);
  Error parseRow(StringRef line);
};
} // namespace

Error Table::place(const Action &action, size_t row, size_t column) {
  size_t stage = action.stage;
  if (stage >= rankOfStage.size())
    rankOfStage.resize(stage + 1, -1);
  int64_t &rank = rankOfStage[stage];
  if (rank >= 0 && rank != static_cast<int64_t>(row))
    return makeCellError(row, column,
                         "stage " + Twine(stage) + " is on rank " +
                             Twine(rank) + " already; a stage has one rank");
  rank = row;
  microbatches = std::max<int64_t>(microbatches, action.microbatch + 1);
  return Error::success();
}

Error Table::parseRow(StringRef line) {
  size_t row = rows.size();
  std::vector<Action> &actions = rows.emplace_back();
  SmallVector<StringRef> cells;
  line.split(cells, ',');
  for (auto [column, raw] : enumerate(cells)) {
    StringRef cell = raw.trim(" \t\"");
    if (cell.empty())
      continue;
    Expected<Action> action = parseCell(cell, row, column);
    if (!action)
      return action.takeError();
    Error error = Error::success();
    forEachPart(*action, [&, column = column](const Action &part) {
      error = joinErrors(std::move(error), place(part, row, column));
    });
    if (error)
      return error;
    actions.push_back(std::move(*action));
  }
  return Error::success();
}

Expected<Schedule> pipewright::parseScheduleCsv(StringRef text) {
  Table table;
  SmallVector<StringRef> lines;
  text.rtrim().split(lines, '\n');
  for (StringRef line : lines)
    if (Error error = table.parseRow(line.rtrim('\r')))
      return error;
  int64_t stages = table.rankOfStage.size();
  int64_t ranks = table.rows.size();
  if (stages == 0)
    return createStringError("the file has no action");
  for (auto [stage, rank] : enumerate(table.rankOfStage))
    if (rank < 0)
      return createStringError("stage " + Twine(stage) +
                               " has no action; stages go up to " +
                               Twine(stages - 1));
  if (!isTractable(stages, table.microbatches))
    return createStringError("the file has " + Twine(stages) + " stages and " +
                             Twine(table.microbatches) +
                             " micro-batches; their product may be " +
                             Twine(maxWork) + " at most");
  ScheduleShape shape = {ranks, table.microbatches,
                         std::max<int64_t>(1, (stages + ranks - 1) / ranks)};
  Schedule schedule(shape, {table.rankOfStage});
  schedule.setName("csv");
  for (auto [rank, actions] : enumerate(table.rows))
    schedule.setActions(rank, std::move(actions));
  return schedule;
}
