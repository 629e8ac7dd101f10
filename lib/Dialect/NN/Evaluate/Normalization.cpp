//===- Normalization.cpp - What softmax and norms compute
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EvaluatorRegistry.h"
#include "Indexing.h"

#include <cmath>

using namespace mlir;
using namespace pipewright::nn;

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

static double maxAlong(AxisView view, ArrayRef<double> x, int64_t o,
                       int64_t k) {
  double maximum = -INFINITY;
  for (int64_t i = 0; i < view.size; ++i)
    maximum = std::max(maximum, x[view.position(o, i, k)]);
  return maximum;
}

static double sumExpAlong(AxisView view, ArrayRef<double> x, double maximum,
                          int64_t o, int64_t k) {
  double sum = 0;
  for (int64_t i = 0; i < view.size; ++i)
    sum += std::exp(x[view.position(o, i, k)] - maximum);
  return sum;
}

template <typename OpTy, typename Function>
static void addSoftmax(EvaluatorRegistry &registry, Function function) {
  registry.add<OpTy>(
      [function](OpTy op, ArrayRef<HostTensor> operands, HostTensor &result) {
        ArrayRef<double> x = operands[0].getFloats();
        AxisView view(result.getShape(), op.getAxis());
        view.forEachLine([&](int64_t o, int64_t k) {
          double maximum = maxAlong(view, x, o, k);
          double sum = sumExpAlong(view, x, maximum, o, k);
          for (int64_t i = 0; i < view.size; ++i) {
            int64_t position = view.position(o, i, k);
            result.getFloats()[position] = function(x[position] - maximum, sum);
          }
        });
      });
}

static void evaluateSoftmaxGrad(SoftmaxGradOp op, ArrayRef<HostTensor> operands,
                                HostTensor &result) {
  ArrayRef<double> y = operands[0].getFloats(), dy = operands[1].getFloats();
  AxisView view(result.getShape(), op.getAxis());
  view.forEachLine([&](int64_t o, int64_t k) {
    double dot = 0;
    for (int64_t i = 0; i < view.size; ++i) {
      int64_t position = view.position(o, i, k);
      dot += dy[position] * y[position];
    }
    for (int64_t i = 0; i < view.size; ++i) {
      int64_t position = view.position(o, i, k);
      result.getFloats()[position] = y[position] * (dy[position] - dot);
    }
  });
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

/// A tensor as rows of the elements from an axis to the last.
static ArrayRef<double> getRow(const HostTensor &tensor, int64_t row,
                               int64_t width) {
  return tensor.getFloats().slice(row * width, width);
}

/// The mean of `term(i)` for i below \p width.
template <typename Term>
static double meanOver(int64_t width, Term term) {
  double sum = 0;
  for (int64_t i = 0; i < width; ++i)
    sum += term(i);
  return sum / width;
}

static LogicalResult evaluateLayerNorm(LayerNormOp op,
                                       ArrayRef<HostTensor> operands,
                                       MutableArrayRef<HostTensor> results) {
  double epsilon = op.getEpsilon().convertToDouble();
  int64_t rows = results[1].getNumElements();
  ArrayRef<double> scale = operands[1].getFloats();
  int64_t width = scale.size();
  for (int64_t row = 0; row < rows; ++row) {
    ArrayRef<double> x = getRow(operands[0], row, width);
    double mean = meanOver(width, [&](int64_t i) { return x[i]; });
    double variance = meanOver(
        width, [&](int64_t i) { return (x[i] - mean) * (x[i] - mean); });
    double inverse = 1 / std::sqrt(variance + epsilon);
    for (int64_t i = 0; i < width; ++i) {
      double bias = op.getBias() ? operands[2].getFloats()[i] : 0;
      results[0].getFloats()[row * width + i] =
          (x[i] - mean) * inverse * scale[i] + bias;
    }
    results[1].getFloats()[row] = mean;
    results[2].getFloats()[row] = inverse;
  }
  return success();
}

static void evaluateLayerNormGrad(LayerNormGradOp,
                                  ArrayRef<HostTensor> operands,
                                  HostTensor &result) {
  ArrayRef<double> scale = operands[2].getFloats();
  int64_t width = scale.size(), rows = operands[3].getNumElements();
  for (int64_t row = 0; row < rows; ++row) {
    ArrayRef<double> dy = getRow(operands[0], row, width);
    ArrayRef<double> x = getRow(operands[1], row, width);
    double mean = operands[3].getFloats()[row];
    double inverse = operands[4].getFloats()[row];
    auto g = [&](int64_t i) { return dy[i] * scale[i]; };
    auto n = [&](int64_t i) { return (x[i] - mean) * inverse; };
    double meanG = meanOver(width, g);
    double meanGN = meanOver(width, [&](int64_t i) { return g(i) * n(i); });
    for (int64_t i = 0; i < width; ++i)
      result.getFloats()[row * width + i] =
          inverse * (g(i) - meanG - n(i) * meanGN);
  }
}

static LogicalResult evaluateRMSNorm(RMSNormOp op,
                                     ArrayRef<HostTensor> operands,
                                     MutableArrayRef<HostTensor> results) {
  double epsilon = op.getEpsilon().convertToDouble();
  int64_t rows = results[1].getNumElements();
  ArrayRef<double> scale = operands[1].getFloats();
  int64_t width = scale.size();
  for (int64_t row = 0; row < rows; ++row) {
    ArrayRef<double> x = getRow(operands[0], row, width);
    double square = meanOver(width, [&](int64_t i) { return x[i] * x[i]; });
    double inverse = 1 / std::sqrt(square + epsilon);
    for (int64_t i = 0; i < width; ++i)
      results[0].getFloats()[row * width + i] = x[i] * inverse * scale[i];
    results[1].getFloats()[row] = inverse;
  }
  return success();
}

namespace pipewright::nn {
void registerNormalization(EvaluatorRegistry &registry) {
  addSoftmax<SoftmaxOp>(registry, [](double shifted, double sum) {
    return std::exp(shifted) / sum;
  });
  addSoftmax<LogSoftmaxOp>(registry, [](double shifted, double sum) {
    return shifted - std::log(sum);
  });
  registry.add<SoftmaxGradOp>(evaluateSoftmaxGrad);
  registry.addFallible<LayerNormOp>(evaluateLayerNorm);
  registry.add<LayerNormGradOp>(evaluateLayerNormGrad);
  registry.addFallible<RMSNormOp>(evaluateRMSNorm);
}
} // namespace pipewright::nn
