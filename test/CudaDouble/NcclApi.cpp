//===- NcclApi.cpp - The functions of NCCL --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Communicators.h"

#include <cstring>
#include <nccl.h>
#include <utility>

using namespace cudadouble;

static Machine &machine() { return Machine::get(); }

static NcclWorld &world() {
  if (!machine().nccl)
    machine().nccl = std::make_shared<NcclWorld>();
  return *machine().nccl;
}

/// Above this, plans of NCCL differ between ranks.
static constexpr size_t mostPartsOfGroup = 256;

//===----------------------------------------------------------------------===//
// Communicators
//===----------------------------------------------------------------------===//

static Communicator *makeCommunicator(const ncclConfig_t *config) {
  auto made = std::make_unique<Communicator>();
  made->device = machine().getThread().device;
  // Undefined is INT_MIN.
  made->isBlocking = !config || config->blocking != 0;
  world().communicators.push_back(std::move(made));
  return world().communicators.back().get();
}

static Communicator *find(ncclComm_t comm, const char *what) {
  for (const auto &known : world().communicators)
    if (known.get() == reinterpret_cast<Communicator *>(comm))
      return known.get();
  machine().report(std::string(what) +
                   " is given a communicator that is not there");
  return nullptr;
}

static void addMember(const std::shared_ptr<Clique> &clique, int rank,
                      Communicator *member) {
  member->clique = clique;
  member->rank = rank;
  for (int device : clique->devices)
    if (device == member->device)
      clique->hasDuplicates = true;
  clique->devices[rank] = member->device;
  ++machine().progress;
}

/// The state of a communicator, as ncclCommGetAsyncError tells it.
static ncclResult_t getState(const Communicator &comm) {
  if (comm.isAborted)
    return ncclInvalidUsage;
  if (!comm.clique)
    return ncclInProgress;
  if (comm.clique->hasDuplicates)
    return ncclInvalidUsage;
  for (int device : comm.clique->devices)
    if (machine().failedDevices.count(device))
      return ncclRemoteError;
  return comm.clique->isComplete() ? ncclSuccess : ncclInProgress;
}

/// Waits for the other ranks, unless the communicator does not block.
static ncclResult_t settle(Machine::Lock &hold, const Communicator &comm) {
  if (!comm.isBlocking)
    return getState(comm);
  machine().wait(hold, [&] { return getState(comm) != ncclInProgress; });
  ncclResult_t state = getState(comm);
  return state == ncclInProgress ? ncclSystemError : state;
}

std::vector<std::string>
cudadouble::describeLeaks(const NcclWorld &everything) {
  std::vector<std::string> leaks;
  for (const auto &comm : everything.communicators)
    leaks.push_back(comm->describe() + " is not destroyed");
  return leaks;
}

/// Once all ranks have called the same split, makes the cliques.
static void completeSplit(Clique &parent, size_t index) {
  auto &calls = parent.splits[index];
  if (calls.size() < parent.devices.size())
    return;
  // By color, then key, then rank.
  std::map<int, std::map<std::pair<int, int>, Communicator *>> ordered;
  for (auto &[rank, call] : calls)
    if (call.made)
      ordered[call.color][{call.key, rank}] = call.made;
  for (auto &[color, members] : ordered) {
    auto clique = std::make_shared<Clique>(
        parent.name + "." + std::to_string(index) + "." + std::to_string(color),
        members.size());
    int rank = 0;
    for (auto &[key, member] : members)
      addMember(clique, rank++, member);
  }
  ++machine().progress;
}

extern "C" {

ncclResult_t ncclGetVersion(int *version) {
  *version = NCCL_VERSION_CODE;
  return ncclSuccess;
}

const char *ncclGetErrorString(ncclResult_t result) {
  switch (result) {
  case ncclSuccess:
    return "no error";
  case ncclInProgress:
    return "NCCL operation in progress";
  case ncclRemoteError:
    return "remote process exited or there was a network error";
  case ncclInvalidUsage:
    return "invalid usage";
  default:
    return "unhandled error";
  }
}

const char *ncclGetLastError(ncclComm_t) { return ""; }

ncclResult_t ncclGetUniqueId(ncclUniqueId *id) {
  Machine::Lock hold = machine().lock();
  memset(id, 0, sizeof *id);
  int number = ++world().ids;
  memcpy(id->internal, &number, sizeof number);
  return ncclSuccess;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t *comm, int ranks,
                                    ncclUniqueId id, int rank,
                                    ncclConfig_t *config) {
  Machine::Lock hold = machine().lock();
  machine().refuseInStep("ncclCommInitRankConfig");
  int number;
  memcpy(&number, id.internal, sizeof number);
  std::shared_ptr<Clique> &clique = world().cliques[number];
  if (!clique)
    clique = std::make_shared<Clique>(std::to_string(number), ranks);
  if (clique->devices.size() != size_t(ranks) || rank < 0 || rank >= ranks ||
      clique->devices[rank] >= 0) {
    machine().report("ranks do not agree on communicator " + clique->name);
    return ncclInvalidArgument;
  }
  Communicator *made = makeCommunicator(config);
  *comm = reinterpret_cast<ncclComm_t>(made);
  addMember(clique, rank, made);
  return settle(hold, *made);
}

ncclResult_t ncclCommInitRank(ncclComm_t *comm, int ranks, ncclUniqueId id,
                              int rank) {
  return ncclCommInitRankConfig(comm, ranks, id, rank, nullptr);
}

ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key,
                           ncclComm_t *made, ncclConfig_t *config) {
  Machine::Lock hold = machine().lock();
  machine().refuseInStep("ncclCommSplit");
  Communicator *parent = find(comm, "ncclCommSplit");
  if (!parent || getState(*parent) != ncclSuccess)
    return ncclInvalidArgument;
  Clique &clique = *parent->clique;
  size_t index = parent->splits++;
  if (clique.splits.size() <= index)
    clique.splits.resize(index + 1);
  Communicator *child =
      color == NCCL_SPLIT_NOCOLOR ? nullptr : makeCommunicator(config);
  clique.splits[index][parent->rank] = {color, key, child};
  completeSplit(clique, index);
  *made = reinterpret_cast<ncclComm_t>(child);
  return child ? settle(hold, *child) : ncclSuccess;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *error) {
  Machine::Lock hold = machine().lock();
  Communicator *found = find(comm, "ncclCommGetAsyncError");
  if (!found)
    return ncclInvalidArgument;
  *error = getState(*found);
  if (*error == ncclInProgress && !machine().poll())
    *error = ncclSystemError;
  return ncclSuccess;
}

ncclResult_t ncclCommCount(const ncclComm_t comm, int *count) {
  Machine::Lock hold = machine().lock();
  Communicator *found = find(comm, "ncclCommCount");
  if (!found || !found->clique)
    return ncclInvalidArgument;
  *count = static_cast<int>(found->clique->devices.size());
  return ncclSuccess;
}

ncclResult_t ncclCommUserRank(const ncclComm_t comm, int *rank) {
  Machine::Lock hold = machine().lock();
  Communicator *found = find(comm, "ncclCommUserRank");
  if (!found)
    return ncclInvalidArgument;
  *rank = found->rank;
  return ncclSuccess;
}

ncclResult_t ncclCommCuDevice(const ncclComm_t comm, int *device) {
  Machine::Lock hold = machine().lock();
  Communicator *found = find(comm, "ncclCommCuDevice");
  if (!found)
    return ncclInvalidArgument;
  *device = found->device;
  return ncclSuccess;
}

//===----------------------------------------------------------------------===//
// Their end
//===----------------------------------------------------------------------===//

static void erase(Communicator *comm) {
  if (comm->registrations != 0)
    machine().report(comm->describe() + " ends with " +
                     std::to_string(comm->registrations) +
                     " buffers registered");
  eraseIf(world().communicators,
          [=](const auto &known) { return known.get() == comm; });
}

ncclResult_t ncclCommFinalize(ncclComm_t comm) {
  Machine::Lock hold = machine().lock();
  Communicator *found = find(comm, "ncclCommFinalize");
  if (!found)
    return ncclInvalidArgument;
  OperationPtr last = found->last;
  if (last && !machine().wait(hold, [=] { return last->done; }))
    return ncclSystemError;
  return ncclSuccess;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  Machine::Lock hold = machine().lock();
  Communicator *found = find(comm, "ncclCommDestroy");
  if (!found)
    return ncclInvalidArgument;
  if (found->last && !found->last->done)
    machine().report(found->describe() +
                     " is destroyed while it has something to do");
  erase(found);
  return ncclSuccess;
}

ncclResult_t ncclCommAbort(ncclComm_t comm) {
  Machine::Lock hold = machine().lock();
  Communicator *found = find(comm, "ncclCommAbort");
  if (!found)
    return ncclInvalidArgument;
  found->isAborted = true;
  if (found->clique)
    found->clique->cancel(found->rank);
  found->registrations = 0;
  erase(found);
  ++machine().progress;
  return ncclSuccess;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

ncclResult_t ncclMemAlloc(void **data, size_t bytes) {
  Machine::Lock hold = machine().lock();
  machine().refuseInStep("ncclMemAlloc");
  *data = machine().memory->allocate(MemoryKind::Communication,
                                     machine().getThread().device, bytes);
  return ncclSuccess;
}

ncclResult_t ncclMemFree(void *data) {
  Machine::Lock hold = machine().lock();
  machine().refuseInStep("ncclMemFree");
  if (machine().memory->free(MemoryKind::Communication, data))
    return ncclSuccess;
  machine().report("ncclMemFree is given what ncclMemAlloc has not allocated");
  return ncclInvalidArgument;
}

ncclResult_t ncclCommRegister(const ncclComm_t comm, void *data, size_t bytes,
                              void **handle) {
  Machine::Lock hold = machine().lock();
  Communicator *found = find(comm, "ncclCommRegister");
  if (!found || !machine().memory->contains(data, bytes))
    return ncclInvalidArgument;
  ++found->registrations;
  *handle = data;
  return ncclSuccess;
}

ncclResult_t ncclCommDeregister(const ncclComm_t comm, void *) {
  Machine::Lock hold = machine().lock();
  Communicator *found = find(comm, "ncclCommDeregister");
  if (!found)
    return ncclInvalidArgument;
  --found->registrations;
  return ncclSuccess;
}

} // extern "C"

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

namespace {
/// What a thread has called since it began a group.
struct GroupCall {
  Communicator *comm;
  Stream *stream;
  Part part;
};
} // namespace

static thread_local int groupDepth = 0;
static thread_local std::vector<GroupCall> groupCalls;

static const char *getName(Part::Kind kind) {
  static constexpr const char *names[] = {"send",       "receive",
                                          "all-reduce", "broadcast",
                                          "all-gather", "reduce-scatter"};
  return names[kind];
}

/// The operation of what a group has for one communicator.
static OperationPtr makeOperation(Communicator &comm,
                                  const std::vector<GroupCall> &calls) {
  auto operation = std::make_shared<Operation>();
  const GroupCall &first = calls.front();
  operation->text = std::string(getName(first.part.kind)) +
                    (calls.size() > 1 ? " and others" : "") + " of " +
                    comm.describe() + " on " + first.stream->describe();
  operation->onEnqueue = [&comm](const OperationPtr &self) {
    if (comm.last)
      self->after.push_back(comm.last);
    comm.last = self;
  };
  std::vector<Part> parts;
  for (const GroupCall &call : calls)
    parts.push_back(call.part);
  std::shared_ptr<Clique> clique = comm.clique;
  operation->start = [clique, rank = comm.rank,
                      parts](const OperationPtr &self) {
    // One more, so that it is not done before all have started.
    auto remaining = std::make_shared<size_t>(parts.size() + 1);
    for (const Part &part : parts)
      clique->start(rank, {part, self, remaining});
    return --*remaining == 0;
  };
  return operation;
}

/// The bytes that \p part uses of a rank of \p ranks, perhaps none.
static std::vector<Access> getAccesses(const Part &part, size_t ranks) {
  auto [given, gotten] = getCounts(part, ranks);
  size_t bytes = getBytes(part.type);
  std::vector<Access> accesses;
  if (part.source)
    accesses.push_back({part.source, given * bytes, /*isWrite=*/false});
  if (part.target)
    accesses.push_back({part.target, gotten * bytes, /*isWrite=*/true});
  return accesses;
}

static bool areInConflict(const Access &a, const Access &b) {
  auto *first = static_cast<const char *>(a.data);
  auto *second = static_cast<const char *>(b.data);
  return (a.isWrite || b.isWrite) && first < second + b.bytes &&
         second < first + a.bytes;
}

/// The calls of a group run beside each other.
static void checkOverlaps(const std::vector<GroupCall> &calls) {
  std::vector<Access> earlier;
  for (const GroupCall &call : calls) {
    std::vector<Access> mine =
        getAccesses(call.part, call.comm->clique->devices.size());
    for (const Access &access : mine)
      for (const Access &other : earlier)
        if (areInConflict(access, other))
          machine().report(std::string("a group with a ") +
                           getName(call.part.kind) + " of " +
                           call.comm->describe() +
                           " writes bytes that it uses twice");
    earlier.insert(earlier.end(), mine.begin(), mine.end());
  }
}

/// One operation for each communicator, in the order of the first calls. It is
/// on all streams that it was called with, each of which waits for it.
static void launch(const std::vector<GroupCall> &calls) {
  if (calls.size() > mostPartsOfGroup)
    machine().report("a group has " + std::to_string(calls.size()) +
                     " operations");
  checkOverlaps(calls);
  std::vector<Communicator *> order;
  for (const GroupCall &call : calls)
    if (std::find(order.begin(), order.end(), call.comm) == order.end())
      order.push_back(call.comm);
  for (Communicator *comm : order) {
    std::vector<GroupCall> mine;
    std::vector<Stream *> streams;
    for (const GroupCall &call : calls) {
      if (call.comm != comm)
        continue;
      mine.push_back(call);
      if (std::find(streams.begin(), streams.end(), call.stream) ==
          streams.end())
        streams.push_back(call.stream);
    }
    machine().enqueue(makeOperation(*comm, mine), streams);
  }
}

/// Another communicator of the same ranks, the same if there is none.
static Communicator *findOther(const Communicator &comm) {
  for (const auto &other : world().communicators)
    if (other.get() != &comm && other->device == comm.device &&
        other->clique->devices == comm.clique->devices)
      return other.get();
  return const_cast<Communicator *>(&comm);
}

static ncclResult_t addCall(ncclComm_t comm, cudaStream_t stream, Part part) {
  Machine::Lock hold = machine().lock();
  Communicator *found = find(comm, getName(part.kind));
  Stream *on = machine().find(stream, getName(part.kind));
  if (!found || !on)
    return ncclInvalidArgument;
  if (ncclResult_t state = getState(*found); state != ncclSuccess)
    return state == ncclInProgress ? ncclInvalidUsage : state;
  if (on->device != found->device)
    machine().report(found->describe() + " is used with " + on->describe());
  ++machine().counters.messages;
  if (machine().goesWrong(FaultKind::WrongCommunicator, found->device))
    found = findOther(*found);
  if (machine().goesWrong(FaultKind::LostDevice, found->device))
    machine().failedDevices.insert(found->device);
  if (part.kind == Part::Recv &&
      machine().goesWrong(FaultKind::HalfReceive, found->device))
    part.count /= 2;
  if (part.peer < 0 || size_t(part.peer) >= found->clique->devices.size())
    return ncclInvalidArgument;
  if (groupDepth > 0)
    groupCalls.push_back({found, on, part});
  else
    launch({{found, on, part}});
  return ncclSuccess;
}

extern "C" {

ncclResult_t ncclGroupStart() {
  ++groupDepth;
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  if (groupDepth == 0)
    return ncclInvalidUsage;
  if (--groupDepth > 0)
    return ncclSuccess;
  Machine::Lock hold = machine().lock();
  launch(std::exchange(groupCalls, {}));
  return ncclSuccess;
}

ncclResult_t ncclSend(const void *data, size_t count, ncclDataType_t type,
                      int peer, ncclComm_t comm, cudaStream_t stream) {
  return addCall(comm, stream,
                 {Part::Send, data, nullptr, count, type, ncclSum, peer});
}

ncclResult_t ncclRecv(void *data, size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, cudaStream_t stream) {
  return addCall(comm, stream,
                 {Part::Recv, nullptr, data, count, type, ncclSum, peer});
}

ncclResult_t ncclAllReduce(const void *source, void *target, size_t count,
                           ncclDataType_t type, ncclRedOp_t reduction,
                           ncclComm_t comm, cudaStream_t stream) {
  return addCall(comm, stream,
                 {Part::AllReduce, source, target, count, type, reduction, 0});
}

ncclResult_t ncclBroadcast(const void *source, void *target, size_t count,
                           ncclDataType_t type, int root, ncclComm_t comm,
                           cudaStream_t stream) {
  return addCall(comm, stream,
                 {Part::Broadcast, source, target, count, type, ncclSum, root});
}

ncclResult_t ncclAllGather(const void *source, void *target, size_t count,
                           ncclDataType_t type, ncclComm_t comm,
                           cudaStream_t stream) {
  return addCall(comm, stream,
                 {Part::AllGather, source, target, count, type, ncclSum, 0});
}

ncclResult_t ncclReduceScatter(const void *source, void *target, size_t count,
                               ncclDataType_t type, ncclRedOp_t reduction,
                               ncclComm_t comm, cudaStream_t stream) {
  return addCall(
      comm, stream,
      {Part::ReduceScatter, source, target, count, type, reduction, 0});
}

} // extern "C"
