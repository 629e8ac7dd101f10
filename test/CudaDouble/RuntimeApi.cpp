//===- RuntimeApi.cpp - The functions of the CUDA runtime -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Graphs.h"

#include <cstdio>
#include <cstring>
#include <cuda_runtime_api.h>

using namespace cudadouble;

static thread_local cudaError_t lastError = cudaSuccess;

static cudaError_t fail(cudaError_t error) { return lastError = error; }

static Machine &machine() { return Machine::get(); }

/// Puts an operation on \p stream that accesses what \p run says.
static cudaError_t enqueue(void *stream, const char *what,
                           std::function<Effects()> run) {
  Stream *on = machine().find(stream, what);
  if (!on)
    return fail(cudaErrorInvalidResourceHandle);
  auto operation = std::make_shared<Operation>();
  operation->text = std::string(what) + " on " + on->describe();
  operation->run = std::move(run);
  machine().enqueue(operation, {on});
  return cudaSuccess;
}

extern "C" {

//===----------------------------------------------------------------------===//
// Devices and errors
//===----------------------------------------------------------------------===//

cudaError_t cudaGetDeviceCount(int *count) {
  Machine::Lock hold = machine().lock();
  *count = machine().options.devices;
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  Machine::Lock hold = machine().lock();
  if (device < 0 || device >= machine().options.devices)
    return fail(cudaErrorInvalidDevice);
  machine().getThread().device = device;
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device) {
  Machine::Lock hold = machine().lock();
  *device = machine().getThread().device;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
  *least = 0;
  *greatest = -5;
  return cudaSuccess;
}

/// Of no device that there is: for it the driver compiles PTX, which is what
/// the interpreter runs.
static constexpr int computeCapability = 99;

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int) {
  switch (attribute) {
  case cudaDevAttrComputeCapabilityMajor:
    *value = computeCapability;
    return cudaSuccess;
  case cudaDevAttrComputeCapabilityMinor:
    *value = 0;
    return cudaSuccess;
  default:
    return fail(cudaErrorInvalidValue);
  }
}

cudaError_t cudaDeviceGetPCIBusId(char *name, int bytes, int device) {
  snprintf(name, bytes, "0000:%02x:00.0", device);
  return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaGetLastError() {
  cudaError_t error = lastError;
  lastError = cudaSuccess;
  return error;
}

cudaError_t cudaPeekAtLastError() { return lastError; }

const char *cudaGetErrorName(cudaError_t error) {
  return error == cudaSuccess ? "cudaSuccess" : "cudaError";
}

const char *cudaGetErrorString(cudaError_t error) {
  switch (error) {
  case cudaSuccess:
    return "no error";
  case cudaErrorInvalidResourceHandle:
    return "invalid resource handle";
  case cudaErrorInvalidValue:
    return "invalid argument";
  case cudaErrorInvalidDevice:
    return "invalid device ordinal";
  case cudaErrorLaunchTimeout:
    return "the launch timed out and was terminated";
  default:
    return "unknown error";
  }
}

cudaError_t cudaDeviceSynchronize() {
  Machine::Lock hold = machine().lock();
  machine().refuseInStep("cudaDeviceSynchronize");
  int device = machine().getThread().device;
  if (!machine().wait(hold, [=] { return machine().isDone(device); }))
    return fail(cudaErrorLaunchTimeout);
  machine().join(device);
  return cudaSuccess;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static cudaError_t allocate(MemoryKind kind, void **data, size_t bytes,
                            const char *what) {
  Machine::Lock hold = machine().lock();
  machine().refuseInStep(what);
  *data = machine().memory->allocate(kind, machine().getThread().device, bytes);
  return cudaSuccess;
}

static cudaError_t release(MemoryKind kind, void *data, const char *what) {
  if (!data)
    return cudaSuccess;
  Machine::Lock hold = machine().lock();
  machine().refuseInStep(what);
  // As the real one, it waits for the device.
  int device = machine().getThread().device;
  machine().wait(hold, [=] { return machine().isDone(device); });
  if (machine().memory->free(kind, data))
    return cudaSuccess;
  machine().report(std::string(what) + " is given what it has not allocated");
  return fail(cudaErrorInvalidValue);
}

cudaError_t cudaMalloc(void **data, size_t bytes) {
  return allocate(MemoryKind::Device, data, bytes, "cudaMalloc");
}

cudaError_t cudaFree(void *data) {
  return release(MemoryKind::Device, data, "cudaFree");
}

cudaError_t cudaHostAlloc(void **data, size_t bytes, unsigned) {
  return allocate(MemoryKind::Pinned, data, bytes, "cudaHostAlloc");
}

cudaError_t cudaMallocHost(void **data, size_t bytes) {
  return allocate(MemoryKind::Pinned, data, bytes, "cudaMallocHost");
}

cudaError_t cudaFreeHost(void *data) {
  return release(MemoryKind::Pinned, data, "cudaFreeHost");
}

cudaError_t cudaMemcpyAsync(void *target, const void *source, size_t bytes,
                            cudaMemcpyKind kind, cudaStream_t stream) {
  Machine::Lock hold = machine().lock();
  for (const void *end : {static_cast<const void *>(target), source})
    if (!machine().memory->contains(end, bytes)) {
      machine().report("cudaMemcpyAsync copies between memory of which some is "
                       "neither a device's nor pinned");
      return fail(cudaErrorInvalidValue);
    }
  machine().getThread().hasCopiedIn |= kind == cudaMemcpyHostToDevice;
  return enqueue(stream, "copy", [=] {
    memcpy(target, source, bytes);
    Effects effects = {{{target, bytes, /*isWrite=*/true}}};
    // What host code writes, nobody sees.
    if (kind != cudaMemcpyHostToDevice)
      effects.accesses.push_back({source, bytes, /*isWrite=*/false});
    return effects;
  });
}

cudaError_t cudaMemsetAsync(void *data, int value, size_t bytes,
                            cudaStream_t stream) {
  Machine::Lock hold = machine().lock();
  if (!machine().memory->contains(data, bytes)) {
    machine().report("cudaMemsetAsync fills memory that is not a device's");
    return fail(cudaErrorInvalidValue);
  }
  return enqueue(stream, "fill", [=] {
    memset(data, value, bytes);
    return Effects{{{data, bytes, /*isWrite=*/true}}};
  });
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned, int) {
  Machine::Lock hold = machine().lock();
  machine().refuseInStep("cudaStreamCreateWithPriority");
  *stream = reinterpret_cast<cudaStream_t>(
      machine().createStream(machine().getThread().device));
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  Machine::Lock hold = machine().lock();
  machine().endSteps();
  Stream *found = machine().find(stream, "cudaStreamDestroy");
  if (!found)
    return fail(cudaErrorInvalidResourceHandle);
  machine().destroyStream(found);
  return cudaSuccess;
}

/// What \p operation is recorded in, or null.
static std::shared_ptr<Capture> getCapture(const OperationPtr &operation) {
  return operation ? operation->capture.lock() : nullptr;
}

static cudaError_t query(const OperationPtr &last) {
  if (getCapture(last)) {
    machine().report("an event of a capture is asked whether it is over");
    return fail(cudaErrorCapturedEvent);
  }
  if (!last || last->done) {
    machine().join(last);
    return cudaSuccess;
  }
  if (!machine().poll())
    return fail(cudaErrorLaunchTimeout);
  return last->done ? cudaSuccess : cudaErrorNotReady;
}

static cudaError_t synchronize(Machine::Lock &hold, const OperationPtr &last) {
  if (getCapture(last))
    return query(last);
  if (last && !machine().wait(hold, [=] { return last->done; }))
    return fail(cudaErrorLaunchTimeout);
  machine().join(last);
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  Machine::Lock hold = machine().lock();
  Stream *found = machine().find(stream, "cudaStreamSynchronize");
  return found ? synchronize(hold, found->last)
               : fail(cudaErrorInvalidResourceHandle);
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  Machine::Lock hold = machine().lock();
  Stream *found = machine().find(stream, "cudaStreamQuery");
  return found ? query(found->last) : fail(cudaErrorInvalidResourceHandle);
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned) {
  Machine::Lock hold = machine().lock();
  machine().refuseInStep("cudaEventCreateWithFlags");
  *event = reinterpret_cast<cudaEvent_t>(machine().createEvent());
  return cudaSuccess;
}

static Event &get(cudaEvent_t event) {
  return *reinterpret_cast<Event *>(event);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  Machine::Lock hold = machine().lock();
  machine().destroyEvent(&get(event));
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  Machine::Lock hold = machine().lock();
  Stream *on = machine().find(stream, "cudaEventRecord");
  if (!on)
    return fail(cudaErrorInvalidResourceHandle);
  machine().record(get(event), *on);
  return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event,
                                unsigned) {
  Machine::Lock hold = machine().lock();
  Stream *on = machine().find(stream, "cudaStreamWaitEvent");
  if (!on)
    return fail(cudaErrorInvalidResourceHandle);
  if (machine().goesWrong(FaultKind::MissingWait, on->device))
    return cudaSuccess;
  // CUDA would not wait at all.
  if (!get(event).isRecorded)
    machine().report(on->describe() +
                     " waits for an event that was never recorded");
  auto operation = std::make_shared<Operation>();
  operation->text = "wait for an event on " + on->describe();
  const OperationPtr &recorded = get(event).recorded;
  std::shared_ptr<Capture> capture = getCapture(recorded);
  if (capture ? capture->isOver : recorded && on->capture) {
    machine().report(on->describe() + " waits for an event of another capture");
    return fail(cudaErrorStreamCaptureIsolation);
  }
  // A stream that waits for what is captured is captured, too.
  if (capture && !on->capture)
    capture->join(*on);
  if (recorded)
    operation->after.push_back(recorded);
  machine().enqueue(operation, {on});
  return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  Machine::Lock hold = machine().lock();
  return synchronize(hold, get(event).recorded);
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t begin,
                                 cudaEvent_t end) {
  Machine::Lock hold = machine().lock();
  for (const Event *event : {&get(begin), &get(end)})
    if (!event->isRecorded || (event->recorded && !event->recorded->done))
      return fail(cudaErrorNotReady);
  // A microsecond for each thing that happens.
  auto getTime = [](const Event &event) {
    return event.recorded ? static_cast<double>(event.recorded->time) : 0;
  };
  *milliseconds =
      static_cast<float>((getTime(get(end)) - getTime(get(begin))) * 1e-3);
  return cudaSuccess;
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  Machine::Lock hold = machine().lock();
  return query(get(event).recorded);
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

cudaError_t cudaLibraryLoadData(cudaLibrary_t *library, const void *image,
                                cudaJitOption *, void **, unsigned,
                                cudaLibraryOption *, void **, unsigned) {
  Machine::Lock hold = machine().lock();
  machine().refuseInStep("cudaLibraryLoadData");
  machine().libraries.push_back(std::make_unique<Library>(Library{image, {}}));
  *library = reinterpret_cast<cudaLibrary_t>(machine().libraries.back().get());
  return cudaSuccess;
}

cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
  Machine::Lock hold = machine().lock();
  eraseIf(machine().libraries, [=](const std::unique_ptr<Library> &known) {
    return known.get() == reinterpret_cast<Library *>(library);
  });
  return cudaSuccess;
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t *kernel, cudaLibrary_t library,
                                 const char *name) {
  Machine::Lock hold = machine().lock();
  auto &found = *reinterpret_cast<Library *>(library);
  found.kernels.push_back(std::make_unique<Kernel>(Kernel{found.image, name}));
  *kernel = reinterpret_cast<cudaKernel_t>(found.kernels.back().get());
  return cudaSuccess;
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes,
                                  const void *kernel) {
  Machine::Lock hold = machine().lock();
  machine().refuseInStep("cudaFuncGetAttributes");
  if (!kernel)
    return fail(cudaErrorInvalidDeviceFunction);
  const auto &[image, name] = *static_cast<const Kernel *>(kernel);
  *attributes = {};
  attributes->maxThreadsPerBlock =
      machine().limits ? machine().limits(image, name) : 1024;
  return cudaSuccess;
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config,
                                const void *kernel, void **arguments) {
  Machine::Lock hold = machine().lock();
  machine().beginSteps();
  ++machine().counters.launches;
  const auto &[image, name] = *static_cast<const Kernel *>(kernel);
  KernelLaunch launch{
      name,
      image,
      {config->gridDim.x, config->gridDim.y, config->gridDim.z},
      {config->blockDim.x, config->blockDim.y, config->blockDim.z},
      config->dynamicSmemBytes,
      arguments};
  if (!machine().runner) {
    machine().report("nothing runs kernel '" + name + "'");
    return fail(cudaErrorInvalidResourceHandle);
  }
  return enqueue(config->stream, ("kernel '" + name + "'").c_str(),
                 machine().runner(launch));
}

} // extern "C"
