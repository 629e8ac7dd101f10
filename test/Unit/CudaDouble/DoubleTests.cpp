//===- DoubleTests.cpp - What the double of CUDA and NCCL finds -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Small programs of one or two ranks: correct ones, which must pass, and the
// same with one fault each. Every program runs with many seeds, which draw the
// order of what may happen in any: the verdict has to be the same.
//
//===----------------------------------------------------------------------===//

#include "Faults.h"

#include "CudaDouble/Double.h"

#include <cstring>
#include <cuda_runtime_api.h>
#include <nccl.h>
#include <thread>

using namespace cudadouble;

static constexpr size_t count = 16;
static constexpr size_t bytes = count * sizeof(float);
static constexpr uint64_t seeds = 30;

namespace {
/// What a rank has in these programs.
struct Rank {
  int rank = 0;
  cudaStream_t compute, down, up;
  cudaEvent_t event, second;
  ncclComm_t comm, other;
  float *value, *received;

  void create(int number, ncclUniqueId first, ncclUniqueId next) {
    rank = number;
    cudaSetDevice(rank);
    for (cudaStream_t *stream : {&compute, &down, &up})
      cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking);
    for (cudaEvent_t *made : {&event, &second})
      cudaEventCreateWithFlags(made, cudaEventDisableTiming);
    ncclCommInitRank(&comm, 2, first, rank);
    ncclCommInitRank(&other, 2, next, rank);
    cudaMalloc(reinterpret_cast<void **>(&value), bytes);
    cudaMalloc(reinterpret_cast<void **>(&received), bytes);
  }

  void destroy() {
    cudaFree(value);
    cudaFree(received);
    ncclCommDestroy(comm);
    ncclCommDestroy(other);
    for (cudaEvent_t made : {event, second})
      cudaEventDestroy(made);
    for (cudaStream_t stream : {compute, down, up})
      cudaStreamDestroy(stream);
  }

  int getPeer() const { return 1 - rank; }
  void fill() { cudaMemsetAsync(value, rank + 1, bytes, compute); }
  /// Has \p later go on after what is on \p earlier.
  void order(cudaStream_t earlier, cudaStream_t later) {
    cudaEventRecord(event, earlier);
    cudaStreamWaitEvent(later, event, 0);
  }
  /// Computes the value, and has \p stream go on after that.
  void make(cudaStream_t stream) {
    fill();
    order(compute, stream);
  }
  void send(cudaStream_t stream, ncclComm_t on, size_t elements = count) {
    ncclSend(value, elements, ncclFloat32, getPeer(), on, stream);
  }
  ncclResult_t receive(cudaStream_t stream, ncclComm_t on,
                       size_t elements = count) {
    return ncclRecv(received, elements, ncclFloat32, getPeer(), on, stream);
  }
  void synchronize() {
    for (cudaStream_t stream : {compute, down, up})
      cudaStreamSynchronize(stream);
  }
};
} // namespace

/// Runs \p program on two ranks with a seed; returns the faults, and in \p
/// leaks what is left.
static std::vector<std::string> run(uint64_t seed, void (*program)(Rank &),
                                    std::vector<std::string> *leaks = nullptr) {
  reset({/*hostThreads=*/2, /*devices=*/2, seed});
  ncclUniqueId first, next;
  ncclGetUniqueId(&first);
  ncclGetUniqueId(&next);
  // This thread has spoken to CUDA as well, but waits for nothing.
  std::vector<std::thread> threads;
  for (int number = 0; number < 2; ++number)
    threads.emplace_back([=] {
      Rank rank;
      rank.create(number, first, next);
      program(rank);
      rank.synchronize();
      rank.destroy();
      endHostThread();
    });
  for (std::thread &thread : threads)
    thread.join();
  if (leaks)
    *leaks = getLeaks();
  return getFaults();
}

static void expectClean(void (*program)(Rank &)) {
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    std::vector<std::string> leaks;
    EXPECT_EQ(run(seed, program, &leaks), Faults());
    EXPECT_EQ(leaks, Faults());
  }
}

static void expectFault(const char *text, void (*program)(Rank &)) {
  for (uint64_t seed = 0; seed < seeds; ++seed)
    EXPECT_TRUE(has(run(seed, program), text));
}

//===----------------------------------------------------------------------===//
// Order of streams
//===----------------------------------------------------------------------===//

TEST(Streams, PassAValueToTheNextRank) {
  expectClean([](Rank &rank) {
    if (rank.rank == 0) {
      rank.make(rank.down);
      rank.send(rank.down, rank.comm);
    } else {
      rank.receive(rank.down, rank.comm);
      rank.order(rank.down, rank.compute);
      cudaMemcpyAsync(rank.value, rank.received, bytes,
                      cudaMemcpyDeviceToDevice, rank.compute);
    }
  });
}

TEST(Streams, MustNotSendBeforeTheValueIsThere) {
  expectFault("race", [](Rank &rank) {
    if (rank.rank == 0) {
      rank.fill();
      rank.send(rank.down, rank.comm); // no event
    } else {
      rank.receive(rank.down, rank.comm);
    }
  });
}

TEST(Streams, MustNotReuseWhatIsBeingSent) {
  expectFault("race", [](Rank &rank) {
    if (rank.rank == 0) {
      rank.make(rank.down);
      rank.send(rank.down, rank.comm);
      rank.fill(); // while it may still be sent
    } else {
      rank.receive(rank.down, rank.comm);
    }
  });
}

TEST(Streams, MayReuseWhatHasBeenSent) {
  expectClean([](Rank &rank) {
    if (rank.rank == 0) {
      rank.make(rank.down);
      rank.send(rank.down, rank.comm);
      rank.order(rank.down, rank.compute);
      rank.fill();
    } else {
      rank.receive(rank.down, rank.comm);
    }
  });
}

TEST(Streams, MustNotUseWhatIsStillArriving) {
  expectFault("race", [](Rank &rank) {
    if (rank.rank == 0) {
      rank.make(rank.down);
      rank.send(rank.down, rank.comm);
    } else {
      rank.receive(rank.down, rank.comm);
      cudaMemsetAsync(rank.received, 0, bytes, rank.compute); // no event
    }
  });
}

TEST(Streams, MustNotWaitForAnEventThatIsRecordedLater) {
  expectFault("never recorded", [](Rank &rank) {
    cudaStreamWaitEvent(rank.down, rank.second, 0);
    cudaEventRecord(rank.second, rank.compute);
  });
}

TEST(Streams, MustNotBeTheDefaultOne) {
  expectFault("default stream", [](Rank &rank) {
    cudaMemsetAsync(rank.value, 0, bytes, nullptr);
  });
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

TEST(Messages, CarryTheirBytes) {
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    EXPECT_EQ(run(seed,
                  [](Rank &rank) {
                    rank.make(rank.down);
                    ncclGroupStart();
                    rank.send(rank.down, rank.comm);
                    rank.receive(rank.down, rank.comm);
                    ncclGroupEnd();
                    void *pinned;
                    cudaMallocHost(&pinned, bytes);
                    cudaMemcpyAsync(pinned, rank.received, bytes,
                                    cudaMemcpyDeviceToHost, rank.down);
                    cudaStreamSynchronize(rank.down);
                    EXPECT_EQ(static_cast<char *>(pinned)[bytes - 1],
                              rank.getPeer() + 1);
                    cudaFreeHost(pinned);
                  }),
              Faults());
  }
}

TEST(Messages, OfAGroupMustNotUseWhatOneReceives) {
  expectFault("writes bytes that it uses twice", [](Rank &rank) {
    rank.make(rank.down);
    ncclGroupStart();
    rank.send(rank.down, rank.comm, count / 2);
    ncclRecv(rank.value + count / 2 - 1, count / 2, ncclFloat32, rank.getPeer(),
             rank.comm, rank.down);
    ncclGroupEnd();
  });
}

TEST(Messages, DeadlockIfBothSendFirst) {
  expectFault("deadlock", [](Rank &rank) {
    rank.make(rank.down);
    rank.send(rank.down, rank.comm);
    rank.receive(rank.down, rank.comm);
  });
}

// Streams do not help: a communicator has one order.
TEST(Messages, DeadlockIfBothSendFirstOnTwoStreams) {
  expectFault("deadlock", [](Rank &rank) {
    rank.make(rank.down);
    rank.send(rank.down, rank.comm);
    rank.receive(rank.up, rank.comm);
  });
}

TEST(Messages, MeetOnTwoCommunicators) {
  expectClean([](Rank &rank) {
    rank.make(rank.down);
    bool isFirst = rank.rank == 0;
    rank.send(rank.down, isFirst ? rank.comm : rank.other);
    rank.receive(rank.up, isFirst ? rank.other : rank.comm);
  });
}

TEST(Messages, DeadlockIfCommunicatorsAreCrossedOnOneStream) {
  expectFault("deadlock", [](Rank &rank) {
    rank.make(rank.down);
    if (rank.rank == 0) {
      rank.send(rank.down, rank.comm);
      rank.send(rank.down, rank.other);
    } else {
      rank.receive(rank.down, rank.other);
      rank.receive(rank.down, rank.comm);
    }
  });
}

TEST(Messages, HaveOneSize) {
  expectFault("receives 32 bytes where rank 0 sends 64", [](Rank &rank) {
    if (rank.rank == 0) {
      rank.make(rank.down);
      rank.send(rank.down, rank.comm);
    } else {
      rank.receive(rank.down, rank.comm, count / 2);
    }
  });
}

TEST(Messages, DeadlockWithoutASender) {
  expectFault("deadlock", [](Rank &rank) {
    if (rank.rank == 1)
      rank.receive(rank.down, rank.comm);
  });
}

// Who polls waits, too.
TEST(Messages, DeadlockWithoutASenderForOneThatPolls) {
  expectFault("deadlock", [](Rank &rank) {
    if (rank.rank == 0)
      return;
    rank.receive(rank.down, rank.comm);
    while (cudaStreamQuery(rank.down) == cudaErrorNotReady)
      ;
  });
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

TEST(Collectives, AddUp) {
  for (uint64_t seed = 0; seed < seeds; ++seed)
    EXPECT_EQ(run(seed,
                  [](Rank &rank) {
                    float *pinned;
                    cudaMallocHost(reinterpret_cast<void **>(&pinned), bytes);
                    for (size_t i = 0; i < count; ++i)
                      pinned[i] = static_cast<float>(rank.rank + i);
                    cudaMemcpyAsync(rank.value, pinned, bytes,
                                    cudaMemcpyHostToDevice, rank.down);
                    ncclAllReduce(rank.value, rank.value, count, ncclFloat32,
                                  ncclSum, rank.comm, rank.down);
                    cudaMemcpyAsync(pinned, rank.value, bytes,
                                    cudaMemcpyDeviceToHost, rank.down);
                    cudaStreamSynchronize(rank.down);
                    for (size_t i = 0; i < count; ++i)
                      EXPECT_EQ(pinned[i], 2 * i + 1);
                    cudaFreeHost(pinned);
                  }),
              Faults());
}

TEST(Collectives, AreTheSameOnAllRanks) {
  expectFault("different collectives", [](Rank &rank) {
    rank.make(rank.down);
    ncclAllReduce(rank.value, rank.value, rank.rank == 0 ? count : count / 2,
                  ncclFloat32, ncclSum, rank.comm, rank.down);
  });
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

TEST(Memory, MustBeWrittenBeforeItIsRead) {
  expectFault("nothing has written", [](Rank &rank) {
    cudaMemcpyAsync(rank.received, rank.value, bytes, cudaMemcpyDeviceToDevice,
                    rank.compute);
  });
}

TEST(Memory, MustBePinnedForCopies) {
  expectFault("neither a device's nor pinned", [](Rank &rank) {
    float pageable[count] = {};
    cudaMemcpyAsync(rank.value, pageable, bytes, cudaMemcpyHostToDevice,
                    rank.compute);
  });
}

TEST(Memory, IsNotAllocatedInAStep) {
  reset({});
  beginSteadyState();
  void *data;
  cudaMalloc(&data, bytes);
  EXPECT_TRUE(has(getFaults(), "cudaMalloc is called in a step"));
  endSteadyState();
  EXPECT_TRUE(has(getLeaks(), "device 0 holds 64 bytes of device memory"));
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

TEST(Kernels, RunInTheirTurnAndTellWhatTheyAccess) {
  reset({});
  setKernelRunner([](const KernelLaunch &launch) {
    EXPECT_EQ(launch.name, "twice");
    EXPECT_EQ(launch.grid[0], 2u);
    float *data;
    memcpy(&data, launch.arguments[0], sizeof data);
    return [data] {
      for (size_t i = 0; i < count; ++i)
        data[i] *= 2;
      return Effects{{{data, bytes, false}, {data, bytes, true}}};
    };
  });
  cudaLibrary_t library;
  cudaKernel_t kernel;
  cudaLibraryLoadData(&library, "image", nullptr, nullptr, 0, nullptr, nullptr,
                      0);
  cudaLibraryGetKernel(&kernel, library, "twice");
  cudaStream_t first, second;
  cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
  float *data;
  cudaMalloc(reinterpret_cast<void **>(&data), bytes);
  cudaMemsetAsync(data, 0, bytes, first);
  void *arguments[] = {&data};
  auto launch = [&](cudaStream_t stream) {
    cudaLaunchConfig_t config = {};
    config.gridDim = {2, 1, 1};
    config.blockDim = {8, 1, 1};
    config.stream = stream;
    cudaLaunchKernelExC(&config, reinterpret_cast<const void *>(kernel),
                        arguments);
  };
  launch(first);
  EXPECT_EQ(getFaults(), Faults());
  launch(second);
  EXPECT_TRUE(has(getFaults(), "race: kernel 'twice'"));
  cudaFree(data);
  cudaLibraryUnload(library);
  cudaStreamDestroy(first);
  cudaStreamDestroy(second);
  EXPECT_EQ(getLeaks(), Faults());
}

//===----------------------------------------------------------------------===//
// Failures
//===----------------------------------------------------------------------===//

TEST(Failures, AreSeenByPeersWhichAbort) {
  for (uint64_t seed = 0; seed < seeds; ++seed)
    EXPECT_FALSE(
        has(run(seed,
                [](Rank &rank) {
                  if (rank.rank == 0)
                    return failDevice(0);
                  // At once, if it has failed already.
                  ncclResult_t error = rank.receive(rank.down, rank.comm);
                  while (error == ncclSuccess &&
                         cudaStreamQuery(rank.down) == cudaErrorNotReady)
                    ncclCommGetAsyncError(rank.comm, &error);
                  EXPECT_EQ(error, ncclRemoteError);
                  ncclCommAbort(rank.comm);
                  EXPECT_EQ(cudaStreamQuery(rank.down), cudaSuccess);
                  // For the end, which destroys one.
                  ncclUniqueId id;
                  ncclGetUniqueId(&id);
                  ncclCommInitRank(&rank.comm, 1, id, 0);
                }),
            "deadlock"));
}

TEST(Failures, TwoRanksOnOneDeviceAreRefused) {
  reset({/*hostThreads=*/1, /*devices=*/1});
  ncclUniqueId id;
  ncclGetUniqueId(&id);
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  ncclComm_t first, second;
  EXPECT_EQ(ncclCommInitRankConfig(&first, 2, id, 0, &config), ncclInProgress);
  EXPECT_EQ(ncclCommInitRankConfig(&second, 2, id, 1, &config),
            ncclInvalidUsage);
  ncclResult_t error;
  EXPECT_EQ(ncclCommGetAsyncError(first, &error), ncclSuccess);
  EXPECT_EQ(error, ncclInvalidUsage);
  EXPECT_EQ(getLeaks().size(), 2u);
}

TEST(Splits, MakeCommunicatorsByColorAndKey) {
  reset({/*hostThreads=*/1, /*devices=*/3});
  ncclUniqueId id;
  ncclGetUniqueId(&id);
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  ncclComm_t whole[3], part[3];
  for (int rank = 0; rank < 3; ++rank) {
    cudaSetDevice(rank);
    ncclCommInitRankConfig(&whole[rank], 3, id, rank, &config);
  }
  for (int rank = 0; rank < 3; ++rank) {
    cudaSetDevice(rank);
    // Ranks 0 and 2, the last one first; rank 1 is in none.
    ncclCommSplit(whole[rank], rank == 1 ? NCCL_SPLIT_NOCOLOR : 0, -rank,
                  &part[rank], &config);
  }
  EXPECT_EQ(part[1], nullptr);
  int number;
  EXPECT_EQ(ncclCommUserRank(part[2], &number), ncclSuccess);
  EXPECT_EQ(number, 0);
  EXPECT_EQ(ncclCommUserRank(part[0], &number), ncclSuccess);
  EXPECT_EQ(number, 1);
  EXPECT_EQ(ncclCommCount(part[0], &number), ncclSuccess);
  EXPECT_EQ(number, 2);
}
