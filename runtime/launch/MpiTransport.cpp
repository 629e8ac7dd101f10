//===- MpiTransport.cpp - Messages over MPI -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transport.h"

#define OMPI_SKIP_MPICXX
#define MPICH_SKIP_MPICXX
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mpi.h>
#include <mutex>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace pprt;

namespace {
/// MPI moves a large message only while its ends are in some call: the receiver
/// where it can fetch it, as on one machine, or else both. A rank computes most
/// of the time; so a thread looks after what is on its way.
class MpiTransport : public Transport {
public:
  /// \p threads: may another thread call MPI while no other does?
  explicit MpiTransport(bool threads);
  ~MpiTransport() override;

  uint32_t getRank() const override { return rank; }
  uint32_t getSize() const override { return size; }
  uint32_t getTagLimit() const override { return tagLimit; }
  std::string getHost() const override;

  Request startSend(uint32_t peer, uint32_t tag, const void *data,
                    uint64_t bytes) override;
  Request startRecv(uint32_t peer, uint32_t tag, void *data,
                    uint64_t bytes) override;
  bool test(Request request) override;

private:
  Request allocateRequest();
  bool testLocked(Request request);
  void lookAfterMessages();
  void lookAfter(Request request);

  int rank = 0;
  int size = 1;
  uint32_t tagLimit = 32767;
  /// Requests by number; the free ones are reused, so that a step, once it has
  /// run, allocates none.
  std::vector<MPI_Request> requests;
  std::vector<Request> freeRequests;

  std::mutex mutex; ///< held in each call of MPI
  std::thread helper;
  std::condition_variable wake; ///< when watched or stopping changes
  std::vector<Request> watched; ///< those that the helper looks after
  bool stopping = false;
};
} // namespace

MpiTransport::MpiTransport(bool threads) {
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  // A lost peer is found by the monitor, which can name it.
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int *limit = nullptr;
  int found = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &limit, &found);
  if (found)
    tagLimit = *limit;
  if (threads)
    helper = std::thread([this] { lookAfterMessages(); });
}

MpiTransport::~MpiTransport() {
  if (helper.joinable()) {
    {
      std::lock_guard<std::mutex> lock(mutex);
      stopping = true;
    }
    wake.notify_one();
    helper.join();
  }
  MPI_Finalize();
}

void MpiTransport::lookAfterMessages() {
  std::unique_lock<std::mutex> lock(mutex);
  while (true) {
    wake.wait(lock, [this] { return stopping || !watched.empty(); });
    if (stopping)
      return;
    // A complete request stays as MPI_REQUEST_NULL until it is asked for.
    watched.erase(std::remove_if(watched.begin(), watched.end(),
                                 [this](Request r) { return testLocked(r); }),
                  watched.end());
    lock.unlock();
    // Each look costs a few microseconds of a core that computes; ranks with
    // short tasks call MPI often enough by themselves.
    std::this_thread::sleep_for(std::chrono::microseconds(500));
    lock.lock();
  }
}

std::string MpiTransport::getHost() const {
  char name[MPI_MAX_PROCESSOR_NAME];
  int length = 0;
  MPI_Get_processor_name(name, &length);
  return std::string(name, length);
}

Transport::Request MpiTransport::allocateRequest() {
  if (freeRequests.empty()) {
    freeRequests.push_back(requests.size());
    requests.push_back(MPI_REQUEST_NULL);
  }
  Request request = freeRequests.back();
  freeRequests.pop_back();
  return request;
}

bool MpiTransport::testLocked(Request request) {
  int done = 0;
  if (MPI_Test(&requests[request], &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
    loseMessage();
  return done;
}

/// Has the helper look after \p request, unless it is complete: small messages
/// are on their way at once.
void MpiTransport::lookAfter(Request request) {
  if (testLocked(request) || !helper.joinable())
    return;
  watched.push_back(request);
  wake.notify_one();
}

Transport::Request MpiTransport::startSend(uint32_t peer, uint32_t tag,
                                           const void *data, uint64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  Request request = allocateRequest();
  if (MPI_Isend(data, bytes, MPI_BYTE, peer, tag, MPI_COMM_WORLD,
                &requests[request]) != MPI_SUCCESS)
    loseMessage();
  lookAfter(request);
  return request;
}

Transport::Request MpiTransport::startRecv(uint32_t peer, uint32_t tag,
                                           void *data, uint64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  Request request = allocateRequest();
  if (MPI_Irecv(data, bytes, MPI_BYTE, peer, tag, MPI_COMM_WORLD,
                &requests[request]) != MPI_SUCCESS)
    loseMessage();
  lookAfter(request);
  return request;
}

bool MpiTransport::test(Request request) {
  std::lock_guard<std::mutex> lock(mutex);
  if (!testLocked(request))
    return false;
  watched.erase(std::remove(watched.begin(), watched.end(), request),
                watched.end());
  freeRequests.push_back(request);
  return true;
}

Status pprt::createMpiTransport(std::unique_ptr<Transport> &result) {
  // Ranks may share cores: unless the user decided otherwise, OpenMPI yields
  // while it waits.
  setenv("OMPI_MCA_mpi_yield_when_idle", "1", /*overwrite=*/0);
  int provided = 0;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided) !=
      MPI_SUCCESS)
    return Status::error(ExitCode::Mismatch, "cannot initialize MPI");
  result = std::make_unique<MpiTransport>(provided >= MPI_THREAD_SERIALIZED);
  return Status();
}
