//===- Communicators.cpp - Ranks that send to each other ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Communicators.h"
#include "Numbers.h"

#include <cstring>

using namespace cudadouble;

std::string Communicator::describe() const {
  return "rank " + std::to_string(rank) + " of communicator " +
         (clique ? clique->name : "?");
}

static Machine &machine() { return Machine::get(); }

/// One part less of its group.
static void complete(const StartedPart &started) {
  if (--*started.remaining == 0)
    machine().finish(*started.operation);
}

/// What one of the operations has done comes before the end of the others.
static void meet(const std::vector<StartedPart> &parts) {
  VectorClock all;
  for (const StartedPart &started : parts)
    all.join(started.operation->clock);
  for (const StartedPart &started : parts)
    started.operation->clock.join(all);
}

static void read(const StartedPart &started, const void *data, size_t bytes) {
  machine().access(*started.operation, {data, bytes, /*isWrite=*/false});
}

static void write(const StartedPart &started, void *data, size_t bytes) {
  machine().access(*started.operation, {data, bytes, /*isWrite=*/true});
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

void Clique::match(std::pair<int, int> pair) {
  std::deque<StartedPart> &from = sends[pair], &to = receives[pair];
  while (!from.empty() && !to.empty()) {
    StartedPart send = from.front(), receive = to.front();
    from.pop_front();
    to.pop_front();
    size_t sent = send.part.count * getBytes(send.part.type);
    size_t wanted = receive.part.count * getBytes(receive.part.type);
    if (sent != wanted)
      machine().report(receive.operation->text + " receives " +
                       std::to_string(wanted) + " bytes where rank " +
                       std::to_string(pair.first) + " sends " +
                       std::to_string(sent));
    meet({send, receive});
    size_t bytes = std::min(sent, wanted);
    memcpy(receive.part.target, send.part.source, bytes);
    read(send, send.part.source, sent);
    write(receive, receive.part.target, wanted);
    complete(send);
    complete(receive);
  }
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

size_t cudadouble::getBytes(ncclDataType_t type) {
  switch (type) {
  case ncclInt8:
  case ncclUint8:
  case ncclFloat8e4m3:
  case ncclFloat8e5m2:
    return 1;
  case ncclFloat16:
  case ncclBfloat16:
    return 2;
  case ncclInt32:
  case ncclUint32:
  case ncclFloat32:
    return 4;
  default:
    return 8;
  }
}

/// Of the elements of a reduction.
static NumberType getNumberType(ncclDataType_t type) {
  switch (type) {
  case ncclFloat16:
    return NumberType::F16;
  case ncclBfloat16:
    return NumberType::BF16;
  case ncclFloat32:
    return NumberType::F32;
  case ncclFloat64:
    return NumberType::F64;
  case ncclInt32:
    return NumberType::I32;
  case ncclInt64:
    return NumberType::I64;
  default:
    machine().report("a reduction of a type that the double does not know");
    return NumberType::F32;
  }
}

/// result[i] becomes the reduction of all sources' elements i.
static void reduce(void *result, const std::vector<const void *> &sources,
                   size_t count, NumberType type, ncclRedOp_t reduction) {
  for (size_t i = 0; i < count; ++i) {
    double value = readNumber(sources.front(), i, type);
    for (size_t rank = 1; rank < sources.size(); ++rank) {
      double next = readNumber(sources[rank], i, type);
      if (reduction == ncclMax)
        value = std::max(value, next);
      else if (reduction == ncclMin)
        value = std::min(value, next);
      else
        value = reduction == ncclProd ? value * next : value + next;
    }
    if (reduction == ncclAvg)
      value /= static_cast<double>(sources.size());
    writeNumber(result, i, type, value);
  }
}

static bool areAlike(const Part &a, const Part &b) {
  return a.kind == b.kind && a.count == b.count && a.type == b.type &&
         a.reduction == b.reduction && a.peer == b.peer;
}

std::pair<size_t, size_t> cudadouble::getCounts(const Part &part,
                                                size_t ranks) {
  if (part.kind == Part::AllGather)
    return {part.count, part.count * ranks};
  if (part.kind == Part::ReduceScatter)
    return {part.count * ranks, part.count};
  return {part.count, part.count};
}

/// Computes what each of \p parts, by rank, gets. All of a rank's own may be in
/// place, so results come last.
static void compute(const std::vector<StartedPart> &parts) {
  const Part &first = parts.front().part;
  size_t bytes = getBytes(first.type), ranks = parts.size();
  auto [given, gotten] = getCounts(first, ranks);
  std::vector<char> whole(std::max(given, gotten) * bytes);
  std::vector<const void *> sources;
  for (const StartedPart &started : parts)
    sources.push_back(started.part.source);
  if (first.kind == Part::AllGather)
    for (size_t rank = 0; rank < ranks; ++rank)
      memcpy(whole.data() + rank * given * bytes, sources[rank], given * bytes);
  else if (first.kind == Part::Broadcast)
    memcpy(whole.data(), sources[first.peer], given * bytes);
  else
    reduce(whole.data(), sources, given, getNumberType(first.type),
           first.reduction);
  for (size_t rank = 0; rank < ranks; ++rank) {
    size_t begin = first.kind == Part::ReduceScatter ? rank * gotten : 0;
    memcpy(parts[rank].part.target, whole.data() + begin * bytes,
           gotten * bytes);
  }
}

void Clique::matchCollectives() {
  auto hasStarted = [](const auto &queue) { return !queue.empty(); };
  while (std::all_of(collectives.begin(), collectives.end(), hasStarted)) {
    std::vector<StartedPart> parts;
    for (std::deque<StartedPart> &queue : collectives) {
      parts.push_back(queue.front());
      queue.pop_front();
    }
    bool isOne = std::all_of(parts.begin(), parts.end(), [&](const auto &part) {
      return areAlike(part.part, parts.front().part);
    });
    if (!isOne)
      machine().report("ranks of communicator " + name +
                       " call different collectives, or of different sizes");
    meet(parts);
    if (isOne)
      compute(parts);
    for (const StartedPart &started : parts) {
      auto [given, gotten] = getCounts(started.part, parts.size());
      size_t bytes = getBytes(started.part.type);
      bool gives = started.part.kind != Part::Broadcast ||
                   &started - parts.data() == started.part.peer;
      if (gives)
        read(started, started.part.source, given * bytes);
      write(started, started.part.target, gotten * bytes);
      complete(started);
    }
  }
}

//===----------------------------------------------------------------------===//
// Both
//===----------------------------------------------------------------------===//

void Clique::start(int rank, const StartedPart &started) {
  switch (started.part.kind) {
  case Part::Send:
    sends[{rank, started.part.peer}].push_back(started);
    return match({rank, started.part.peer});
  case Part::Recv:
    receives[{started.part.peer, rank}].push_back(started);
    return match({started.part.peer, rank});
  default:
    collectives[rank].push_back(started);
    return matchCollectives();
  }
}

void Clique::cancel(int rank) {
  auto cancelAll = [](std::deque<StartedPart> &parts) {
    for (const StartedPart &started : parts)
      complete(started);
    parts.clear();
  };
  for (auto &[pair, parts] : sends)
    if (pair.first == rank)
      cancelAll(parts);
  for (auto &[pair, parts] : receives)
    if (pair.second == rank)
      cancelAll(parts);
  cancelAll(collectives[rank]);
}
