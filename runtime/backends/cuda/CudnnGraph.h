//===- CudnnGraph.h - Operations that cuDNN computes as one -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A graph is made of tensors and operations, and cuDNN finds how to compute it
// as a whole. Whatever it refuses, while the graph is made or later, is what
// choosing a plan answers.
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_BACKENDS_CUDA_CUDNNGRAPH_H
#define PPRT_BACKENDS_CUDA_CUDNNGRAPH_H

#include "Cudnn.h"
#include "pprt/Status.h"

#include <array>
#include <list>
#include <memory>
#include <optional>
#include <vector>

namespace pprt::cuda {

/// An object of cuDNN, which is described by attributes and then finalized.
class CudnnDescriptor {
public:
  CudnnDescriptor(cudnnBackendDescriptorType_t type, cudnnStatus_t &status);
  ~CudnnDescriptor();
  CudnnDescriptor(const CudnnDescriptor &) = delete;
  CudnnDescriptor &operator=(const CudnnDescriptor &) = delete;

  void set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
           int64_t count, const void *values);
  template <typename T>
  void set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
           T value) {
    set(name, type, 1, &value);
  }
  void set(cudnnBackendAttributeName_t name, const CudnnDescriptor &other) {
    set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, other.get());
  }
  void finalize();

  cudnnBackendDescriptor_t get() const { return descriptor; }

private:
  cudnnBackendDescriptor_t descriptor = nullptr;
  /// Of all that belongs together: once it is not success, nothing is done.
  cudnnStatus_t &status;
};

/// What a graph is computed on.
struct CudnnTarget {
  cudnnHandle_t handle;
  /// In place of the handle: of a device that is not there.
  cudnnBackendDescriptor_t properties = nullptr;
};

/// A way to compute a graph that is known beforehand.
struct CudnnEngine {
  struct Choice {
    cudnnBackendKnobType_t knob;
    int64_t value;
  };
  int64_t index;
  std::vector<Choice> choices;
};

class CudnnGraph {
public:
  using Sizes = std::array<int64_t, 4>;
  struct Tensor {
    cudnnDataType_t type;
    Sizes sizes, strides;
    const CudnnDescriptor *descriptor;
  };

  CudnnGraph() = default;
  CudnnGraph(const CudnnGraph &) = delete;
  CudnnGraph &operator=(const CudnnGraph &) = delete;

  /// Device memory; each run has an address for \p id.
  Tensor addBuffer(int64_t id, cudnnDataType_t type, const Sizes &sizes,
                   const Sizes &strides);
  /// A single number; each run has the address of it, in host memory.
  Tensor addNumber(int64_t id, cudnnDataType_t type);
  /// What lies between operations.
  Tensor addValue(cudnnDataType_t type, const Sizes &sizes,
                  const Sizes &strides);

  /// result = a b, of the last two axes
  void multiply(const Tensor &a, const Tensor &b, const Tensor &result);
  /// result = mode(x, b, t), element by element; a size of 1 is repeated.
  void apply(cudnnPointwiseMode_t mode, cudnnDataType_t compute,
             const std::vector<Tensor> &operands, const Tensor &result);
  /// result = the index of each element along \p axis
  void count(const Tensor &like, int64_t axis, const Tensor &result);
  /// Over the axes of which the result has less.
  void reduce(cudnnReduceTensorOp_t how, const Tensor &x, const Tensor &result);
  /// The result has the elements of \p x at the same places of memory.
  void view(const Tensor &x, const Tensor &result);

  /// Finds how to compute it, \p known if that will do, so that the bits are
  /// the same each time. Else tells what the library says. To be called once.
  Status choose(const CudnnTarget &target, const CudnnEngine *known);

  /// What a run needs.
  int64_t getWorkspaceBytes() const;
  /// \p addresses are those of \p ids.
  void run(cudnnHandle_t handle, const std::vector<int64_t> &ids,
           const std::vector<void *> &addresses, void *workspace,
           const char *failure) const;

private:
  CudnnDescriptor &add(cudnnBackendDescriptorType_t type);
  CudnnDescriptor &addTensor(int64_t id, cudnnDataType_t type,
                             const Sizes &sizes, const Sizes &strides);
  void addOperation(CudnnDescriptor &operation);
  /// With \p axis, that of which a count is.
  void addPointwise(cudnnPointwiseMode_t mode, cudnnDataType_t compute,
                    std::optional<int64_t> axis,
                    const std::vector<Tensor> &operands, const Tensor &result);
  void tryEngine(const CudnnDescriptor &graph, const CudnnTarget &target,
                 const CudnnEngine &known);
  void tryFound(const CudnnDescriptor &graph, const CudnnTarget &target);
  void tryPlan(const CudnnDescriptor &configuration, const CudnnTarget &target);

  cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
  cudnnStatus_t planStatus = CUDNN_STATUS_SUCCESS; ///< of the one tried last
  std::list<CudnnDescriptor> descriptors;
  std::vector<cudnnBackendDescriptor_t> operations;
  std::unique_ptr<CudnnDescriptor> plan;
  std::string refusal; ///< of all, or of the first one that was tried
  int64_t valueCount = 0;
};

} // namespace pprt::cuda

#endif // PPRT_BACKENDS_CUDA_CUDNNGRAPH_H
