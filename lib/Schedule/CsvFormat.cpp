//===- CsvFormat.cpp - PyTorch's pipelining format
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The format of torch.distributed.pipelining, _load_csv and _dump_csv, with
// the computing actions alone or with the transfers between them.
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/Formats.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace llvm;
using namespace pipewright;

static constexpr StringLiteral pairName = "OVERLAP_F_B";

//===----------------------------------------------------------------------===//
// Letters
//===----------------------------------------------------------------------===//

/// What \p letters stand for; nothing if they are no action of a rank.
static std::optional<ActionKind> getKind(StringRef name, CsvLetters letters) {
  bool areOld = letters == CsvLetters::Old;
  if (name == "B")
    return areOld ? ActionKind::B : ActionKind::BW;
  if (name == (areOld ? "BW" : "I"))
    return areOld ? ActionKind::BW : ActionKind::B;
  std::optional<ActionKind> kind = parseActionKind(name);
  bool isTransfer = kind && Action(*kind).isTransfer();
  if (isTransfer || kind == ActionKind::F || kind == ActionKind::W)
    return kind;
  return std::nullopt;
}

static StringRef getLetters(ActionKind kind) {
  if (kind == ActionKind::BW)
    return "B";
  if (kind == ActionKind::B)
    return "I";
  return getName(kind);
}

//===----------------------------------------------------------------------===//
// Writer
//===----------------------------------------------------------------------===//

static void writeCell(const Action &action, raw_ostream &os) {
  os << action.stage << getLetters(action.kind) << action.microbatch;
}

static Error checkExpressible(const Action &action) {
  switch (action.kind) {
  case ActionKind::R:
  case ActionKind::Step:
    return createStringError("PyTorch's format cannot express " +
                             describe(action) + "; use JSON");
  case ActionKind::Group:
    return createStringError("PyTorch's format cannot express that " +
                             describe(action) +
                             " are posted together; use JSON");
  default:
    return Error::success();
  }
}

static void writeAction(const Action &action, raw_ostream &os) {
  if (action.kind != ActionKind::FB)
    return writeCell(action, os);
  os << '(';
  writeCell(action.parts[0], os);
  os << ';';
  writeCell(action.parts[1], os);
  os << ')' << pairName;
}

Error pipewright::writeCsv(const Schedule &schedule, raw_ostream &os) {
  if (schedule.getDirections() != 1)
    return createStringError("PyTorch's format cannot express the " +
                             Twine(schedule.getDirections()) +
                             " directions of schedule '" + schedule.getName() +
                             "'; use JSON");
  // Nothing is written of what is refused.
  for (int64_t rank = 0; rank < schedule.getRanks(); ++rank)
    for (const Action &action : schedule.getActions(rank))
      if (Error error = checkExpressible(action))
        return error;
  for (int64_t rank = 0; rank < schedule.getRanks(); ++rank) {
    ListSeparator comma(",");
    for (const Action &action : schedule.getActions(rank)) {
      os << StringRef(comma);
      writeAction(action, os);
    }
    os << '\n';
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Cells
//===----------------------------------------------------------------------===//

namespace {
/// A cell and where it stands, both counted from 0. A row is a rank.
struct Cell {
  StringRef text;
  size_t row = 0;
  size_t column = 0;

  Error makeError(const Twine &message) const {
    return createStringError("row " + Twine(row + 1) + ", column " +
                             Twine(column + 1) + ": " + message);
  }
};

/// A stage, letters and a micro-batch, such as `0F12`, or `0UNSHARD` without
/// the last.
struct Token {
  int64_t stage = 0;
  StringRef letters;
  std::optional<int64_t> microbatch;
};
} // namespace

/// Splits off the empty cells, which are idle time, and quotes.
static std::vector<Cell> getCells(StringRef text, size_t &rows) {
  std::vector<Cell> cells;
  rows = 0;
  for (StringRef line : split(text.rtrim(), '\n')) {
    size_t column = 0;
    for (StringRef entry : split(line.rtrim('\r'), ',')) {
      StringRef cell = entry.trim(" \t");
      if (cell.size() >= 2 && cell.front() == '"' && cell.back() == '"')
        cell = cell.drop_front().drop_back().trim(" \t");
      if (!cell.empty())
        cells.push_back({cell, rows, column});
      ++column;
    }
    ++rows;
  }
  return cells;
}

/// Numbers are plain digits, and far from overflowing anything made of them.
static bool parseNumber(StringRef &text, int64_t &number) {
  StringRef digits = text.take_while(isDigit);
  text = text.drop_front(digits.size());
  return !digits.getAsInteger(10, number) && number < (int64_t(1) << 20);
}

static std::optional<Token> parseToken(StringRef text) {
  Token token;
  if (!parseNumber(text, token.stage))
    return std::nullopt;
  token.letters =
      text.take_while([](char c) { return isAlpha(c) || c == '_'; });
  text = text.drop_front(token.letters.size());
  if (text.empty())
    return token;
  int64_t microbatch;
  if (!parseNumber(text, microbatch) || !text.empty())
    return std::nullopt;
  token.microbatch = microbatch;
  return token;
}

/// Splits a cell such as `(0F12;3B4)OVERLAP_F_B` into its two sides.
static std::optional<std::pair<StringRef, StringRef>>
splitPair(StringRef text) {
  if (!text.consume_front("(") || !text.consume_back(pairName) ||
      !text.consume_back(")"))
    return std::nullopt;
  auto [forward, backward] = text.split(';');
  return std::pair(forward.trim(), backward.trim());
}

//===----------------------------------------------------------------------===//
// Dialects
//===----------------------------------------------------------------------===//

/// The letters that the actions of \p cells are made of, each with the first
/// cell that has them.
static StringMap<const Cell *> getUsedLetters(ArrayRef<Cell> cells) {
  StringMap<const Cell *> used;
  auto use = [&](StringRef text, const Cell &cell) {
    if (std::optional<Token> token = parseToken(text))
      used.try_emplace(token->letters, &cell);
  };
  for (const Cell &cell : cells) {
    if (auto pair = splitPair(cell.text)) {
      use(pair->first, cell);
      use(pair->second, cell);
    } else {
      use(cell.text, cell);
    }
  }
  return used;
}

/// Finds out by the letters that only one of both versions has. Without them a
/// full backward in every B is the only sound reading, unless there is W.
static Expected<CsvLetters> findLetters(ArrayRef<Cell> cells) {
  StringMap<const Cell *> used = getUsedLetters(cells);
  const Cell *input = used.lookup("I"), *full = used.lookup("BW");
  if (input && full)
    return std::max(input, full)
        ->makeError("the file has both I, which is new, and BW, which is old; "
                    "letters cannot be mixed");
  if (input || full)
    return input ? CsvLetters::New : CsvLetters::Old;
  const Cell *weight = used.lookup("W");
  if (!weight || !used.contains("B"))
    return CsvLetters::New;
  return weight->makeError(
      "the file has B and W, but neither I nor BW, so that B may be the full "
      "backward (new letters) or the input gradient (old ones); say which with "
      "'pipewright schedule --csv-letters new|old'");
}

//===----------------------------------------------------------------------===//
// Reader
//===----------------------------------------------------------------------===//

namespace {
/// The ranks' actions and what follows from them: who holds which stage.
class CsvReader {
public:
  CsvReader(CsvLetters letters, size_t rows) : letters(letters), rows(rows) {}

  Error read(const Cell &cell);
  Expected<Schedule> finish();

private:
  std::optional<Action> parseSimple(StringRef text) const;
  std::optional<Action> parsePair(StringRef text) const;
  Error place(int64_t stage, const Cell &cell);
  Error explain(const Cell &cell) const;

  CsvLetters letters;
  std::vector<std::vector<Action>> rows;
  std::vector<int64_t> rankOfStage;
  int64_t microbatches = 0;
};
} // namespace

std::optional<Action> CsvReader::parseSimple(StringRef text) const {
  std::optional<Token> token = parseToken(text);
  if (!token || !token->microbatch)
    return std::nullopt;
  std::optional<ActionKind> kind = getKind(token->letters, letters);
  if (!kind)
    return std::nullopt;
  return Action(*kind, token->stage, *token->microbatch);
}

std::optional<Action> CsvReader::parsePair(StringRef text) const {
  auto sides = splitPair(text);
  if (!sides)
    return std::nullopt;
  std::optional<Action> forward = parseSimple(sides->first);
  std::optional<Action> backward = parseSimple(sides->second);
  if (!forward || forward->kind != ActionKind::F || !backward ||
      !backward->isInputGradient())
    return std::nullopt;
  Action pair(ActionKind::FB);
  pair.parts = {*forward, *backward};
  return pair;
}

/// True for what sharded data parallelism does between the actions of a
/// pipeline, per stage: it gathers and drops parameters, and adds gradients up.
static bool isSharding(const Token &token) {
  return !token.microbatch &&
         (token.letters == "UNSHARD" || token.letters == "RESHARD" ||
          token.letters == "REDUCE_GRAD");
}

Error CsvReader::read(const Cell &cell) {
  std::optional<Token> token = parseToken(cell.text);
  if (token && isSharding(*token))
    return place(token->stage, cell);
  std::optional<Action> action = parseSimple(cell.text);
  if (!action)
    action = parsePair(cell.text);
  if (!action)
    return explain(cell);
  Error error = Error::success();
  forEachPart(*action, [&](const Action &part) {
    error = joinErrors(std::move(error), place(part.stage, cell));
    microbatches = std::max<int64_t>(microbatches, part.microbatch + 1);
  });
  rows[cell.row].push_back(std::move(*action));
  return error;
}

Error CsvReader::place(int64_t stage, const Cell &cell) {
  if (stage >= static_cast<int64_t>(rankOfStage.size()))
    rankOfStage.resize(stage + 1, -1);
  int64_t &rank = rankOfStage[stage];
  int64_t row = cell.row;
  if (rank >= 0 && rank != row)
    return cell.makeError("stage " + Twine(stage) + " is on rank " +
                          Twine(rank) + " already; a stage has one rank");
  rank = row;
  return Error::success();
}

/// Why \p cell is not an action.
Error CsvReader::explain(const Cell &cell) const {
  std::string shown;
  raw_string_ostream(shown).write_escaped(cell.text);
  bool areOld = letters == CsvLetters::Old;
  CsvReader other(areOld ? CsvLetters::New : CsvLetters::Old, rows.size());
  if (other.parseSimple(cell.text) || other.parsePair(cell.text))
    return cell.makeError("'" + Twine(shown) + "' is an action only with the " +
                          (areOld ? "new" : "old") +
                          " letters; this file is read with the " +
                          (areOld ? "old" : "new") + " ones");
  return cell.makeError("'" + Twine(shown) +
                        "' is not an action; expected stage, one of F B " +
                        (areOld ? "BW" : "I") +
                        " W SEND_F RECV_F SEND_B RECV_B, micro-batch, such as "
                        "0F3");
}

Expected<Schedule> CsvReader::finish() {
  int64_t stages = rankOfStage.size();
  int64_t ranks = rows.size();
  if (microbatches == 0)
    return createStringError("the file has no action");
  for (auto [stage, rank] : enumerate(rankOfStage))
    if (rank < 0)
      return createStringError("stage " + Twine(stage) +
                               " has no action; stages go up to " +
                               Twine(stages - 1));
  if (!isTractable(stages, microbatches))
    return createStringError(
        "the file has " + Twine(stages) + " stages and " + Twine(microbatches) +
        " micro-batches; their product may be " + Twine(maxWork) + " at most");
  ScheduleShape shape = {ranks, microbatches,
                         std::max<int64_t>(1, (stages + ranks - 1) / ranks)};
  Schedule schedule(shape, {rankOfStage});
  schedule.setName("csv");
  for (auto [rank, actions] : enumerate(rows))
    schedule.setActions(rank, std::move(actions));
  return schedule;
}

Expected<Schedule> pipewright::parseScheduleCsv(StringRef text,
                                                CsvLetters letters) {
  // Spreadsheets put a byte order mark first.
  text.consume_front("\xEF\xBB\xBF");
  size_t rows;
  std::vector<Cell> cells = getCells(text, rows);
  if (letters == CsvLetters::Auto) {
    Expected<CsvLetters> found = findLetters(cells);
    if (!found)
      return found.takeError();
    letters = *found;
  }
  CsvReader reader(letters, rows);
  for (const Cell &cell : cells)
    if (Error error = reader.read(cell))
      return error;
  return reader.finish();
}
