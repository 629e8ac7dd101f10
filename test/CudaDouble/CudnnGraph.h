//===- CudnnGraph.h - The operation graphs of cuDNN -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A graph is a list of operations on tensors. It is computed one operation
// after the other, in f64, with what each tensor's type leaves of its elements.
//
//===----------------------------------------------------------------------===//

#ifndef CUDADOUBLE_CUDNNGRAPH_H
#define CUDADOUBLE_CUDNNGRAPH_H

#include "Double.h"
#include "Numbers.h"

#include <cudnn.h>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cudadouble {

struct GraphTensor {
  enum class Place { Buffer, Number, Value };

  int64_t id;
  Place place;
  cudnnDataType_t type;
  std::vector<int64_t> sizes, strides;

  /// Booleans, which are never in memory, are integers here.
  std::optional<NumberType> getNumberType() const;
  /// From the first element to behind the last one.
  size_t countPlaces() const;
  bool operator==(const GraphTensor &other) const;
};

struct GraphOperation {
  enum class Kind { Product, Pointwise, Reduction, View };

  Kind kind;
  std::vector<GraphTensor> operands;
  GraphTensor result;
  cudnnPointwiseMode_t mode = CUDNN_POINTWISE_IDENTITY;
  int64_t axis = 0; ///< of a pointwise operation that counts
  cudnnReduceTensorOp_t reduction = CUDNN_REDUCE_TENSOR_ADD;

  /// What is wrong with it; empty: nothing.
  std::string check() const;
};

class OperationGraph {
public:
  /// Returns what is wrong; empty: nothing.
  std::string add(const GraphOperation &operation);

  bool isEmpty() const { return operations.empty(); }
  /// Why it is not computed, as cuDNN says it; empty: it is.
  std::string findObstacle() const;
  /// As if what is looked at in another order were kept.
  size_t getWorkspaceBytes() const;
  /// Of which a run has addresses: device memory, and the host's for numbers.
  const std::map<int64_t, GraphTensor> &getOutside() const { return outside; }

  /// What a run has for what is outside.
  struct Binding {
    char *address = nullptr; ///< of a buffer
    double number = 0;
  };
  using Bindings = std::map<int64_t, Binding>;
  Effects run(const Bindings &bindings, void *workspace) const;

private:
  std::vector<GraphOperation> operations;
  std::map<int64_t, GraphTensor> outside;
  std::map<int64_t, GraphTensor> values;  ///< that were computed
  std::map<int64_t, bool> isWrittenFirst; ///< of buffers
};

} // namespace cudadouble

#endif // CUDADOUBLE_CUDNNGRAPH_H
