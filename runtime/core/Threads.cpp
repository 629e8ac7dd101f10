//===- Threads.cpp - All ranks in one process -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Threads.h"

#include <cstring>
#include <dlfcn.h>
#include <mutex>
#include <thread>
#include <unistd.h>

using namespace pprt;

std::string pprt::getProgramFolder() {
  char path[4096];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  std::string folder(path, length < 0 ? 0 : length);
  folder.resize(std::min(folder.rfind('/'), folder.size()));
  return folder;
}

/// The descriptor in the executable of \p rank, which stays loaded.
static Status loadRank(uint32_t rank, const PprtDescriptor *&descriptor) {
  std::string number = std::to_string(rank);
  number.insert(0, 3 - std::min<size_t>(number.size(), 3), '0');
  std::string path = getProgramFolder() + "/rank-" + number;
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return Status::dataError("cannot load rank " + std::to_string(rank) +
                             " into this process: " + dlerror());
  void *symbol = dlsym(library, "pprtDescriptor");
  if (!symbol)
    return Status::dataError("'" + path + "' is not the executable of a rank");
  descriptor = static_cast<const PprtDescriptor *>(symbol);
  return Status();
}

Status pprt::runThreads(const PprtDescriptor &own, const RankFunction &run,
                        ExitCode &result) {
  if (own.rank != 0)
    return Status::error(ExitCode::Usage,
                         "ranks that are threads are started by rank 0");
  std::vector<const PprtDescriptor *> ranks = {&own};
  for (uint32_t rank = 1; rank < own.ranks; ++rank) {
    ranks.emplace_back();
    if (Status status = loadRank(rank, ranks.back()); status.failed())
      return status;
  }
  // Those of the other pipelines share the executables.
  uint32_t count = own.ranks * own.dataParallel;
  std::vector<std::unique_ptr<Transport>> transports =
      createThreadTransports(count);
  std::mutex mutex;
  result = ExitCode::Done;
  auto runRank = [&](uint32_t rank) {
    ExitCode code = run(*ranks[rank % own.ranks], *transports[rank]);
    std::lock_guard<std::mutex> lock(mutex);
    if (result == ExitCode::Done)
      result = code;
  };
  std::vector<std::thread> threads;
  for (uint32_t rank = 0; rank < count; ++rank)
    threads.emplace_back(runRank, rank);
  for (std::thread &thread : threads)
    thread.join();
  return Status();
}
