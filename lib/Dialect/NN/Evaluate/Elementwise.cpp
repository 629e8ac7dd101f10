//===- Elementwise.cpp - What elementwise ops compute
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EvaluatorRegistry.h"
#include "Wrapping.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace pipewright::nn;

namespace {

struct Quotient {
  double operator()(double a, double b) const { return a / b; }
  int64_t operator()(int64_t a, int64_t b) const {
    // The one quotient that overflows.
    return b == -1 ? Difference()(int64_t(0), a) : a / b;
  }
};

struct Remainder {
  double operator()(double a, double b) const {
    double remainder = std::fmod(a, b);
    return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b
                                                        : remainder;
  }
  int64_t operator()(int64_t a, int64_t b) const {
    if (b == -1)
      return 0;
    int64_t remainder = a % b;
    return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b
                                                        : remainder;
  }
};

/// A NaN operand makes a NaN.
struct Maximum {
  double operator()(double a, double b) const {
    return std::isnan(a) || a > b ? a : b;
  }
  int64_t operator()(int64_t a, int64_t b) const { return std::max(a, b); }
};

struct Minimum {
  double operator()(double a, double b) const {
    return std::isnan(a) || a < b ? a : b;
  }
  int64_t operator()(int64_t a, int64_t b) const { return std::min(a, b); }
};

struct Sign {
  double operator()(double a) const { return std::isnan(a) ? a : sign(a); }
  int64_t operator()(int64_t a) const { return sign(a); }

private:
  template <typename Number>
  static Number sign(Number a) {
    return (a > 0) - (a < 0);
  }
};

} // namespace

template <typename Number, typename Function>
static void mapElements(ArrayRef<Number> operand,
                        MutableArrayRef<Number> result, Function function) {
  for (auto [to, from] : llvm::zip_equal(result, operand))
    to = function(from);
}

template <typename Number, typename Function>
static void mapElements(ArrayRef<Number> lhs, ArrayRef<Number> rhs,
                        MutableArrayRef<Number> result, Function function) {
  for (auto [to, a, b] : llvm::zip_equal(result, lhs, rhs))
    to = function(a, b);
}

/// An op that is a function of one float.
template <typename OpTy, typename Function>
static void addFloatUnary(EvaluatorRegistry &registry, Function function) {
  registry.add<OpTy>(
      [function](OpTy, ArrayRef<HostTensor> operands, HostTensor &result) {
        mapElements(operands[0].getFloats(), result.getFloats(), function);
      });
}

/// An op that is a function of one number, float or integer.
template <typename OpTy, typename Function>
static void addUnary(EvaluatorRegistry &registry, Function function) {
  registry.add<OpTy>([function](OpTy, ArrayRef<HostTensor> operands,
                                HostTensor &result) {
    if (result.isFloat())
      mapElements(operands[0].getFloats(), result.getFloats(), function);
    else
      mapElements(operands[0].getIntegers(), result.getIntegers(), function);
  });
}

template <typename Function>
static void computeBinary(ArrayRef<HostTensor> operands, HostTensor &result,
                          Function function) {
  if (result.isFloat())
    mapElements(operands[0].getFloats(), operands[1].getFloats(),
                result.getFloats(), function);
  else
    mapElements(operands[0].getIntegers(), operands[1].getIntegers(),
                result.getIntegers(), function);
}

/// An op that is a function of two numbers, floats or integers.
template <typename OpTy, typename Function>
static void addBinary(EvaluatorRegistry &registry, Function function) {
  registry.add<OpTy>(
      [function](OpTy, ArrayRef<HostTensor> operands, HostTensor &result) {
        computeBinary(operands, result, function);
      });
}

/// As addBinary, for an op that has no value where an integer divisor is 0.
template <typename OpTy, typename Function>
static void addDivision(EvaluatorRegistry &registry, Function function) {
  registry.addFallible<OpTy>(
      [function](OpTy op, ArrayRef<HostTensor> operands,
                 MutableArrayRef<HostTensor> results) -> LogicalResult {
        if (llvm::is_contained(operands[1].getIntegers(), 0))
          return op.emitOpError("divides by zero");
        computeBinary(operands, results.front(), function);
        return success();
      });
}

template <typename Number>
static bool compare(Comparison predicate, Number a, Number b) {
  switch (predicate) {
  case Comparison::Equal:
    return a == b;
  case Comparison::NotEqual:
    return a != b;
  case Comparison::Less:
    return a < b;
  case Comparison::LessOrEqual:
    return a <= b;
  case Comparison::Greater:
    return a > b;
  case Comparison::GreaterOrEqual:
    return a >= b;
  }
  llvm_unreachable("all predicates are above");
}

static void evaluateCompare(CompareOp op, ArrayRef<HostTensor> operands,
                            HostTensor &result) {
  for (auto [index, to] : llvm::enumerate(result.getIntegers()))
    to = operands[0].isFloat()
             ? compare(op.getPredicate(), operands[0].getFloats()[index],
                       operands[1].getFloats()[index])
             : compare(op.getPredicate(), operands[0].getIntegers()[index],
                       operands[1].getIntegers()[index]);
}

static void evaluateSelect(SelectOp, ArrayRef<HostTensor> operands,
                           HostTensor &result) {
  for (auto [index, condition] : llvm::enumerate(operands[0].getIntegers()))
    result.setElement(index, operands[condition ? 1 : 2], index);
}

/// Truncates towards zero; a float outside of the range becomes the nearest
/// integer in it and NaN becomes 0, as LLVM's saturating conversions do.
static int64_t truncate(double value, unsigned width) {
  if (std::isnan(value))
    return 0;
  double limit = std::ldexp(1.0, width - 1);
  if (value >= limit)
    return llvm::maxIntN(width);
  if (value <= -limit)
    return llvm::minIntN(width);
  return static_cast<int64_t>(value);
}

static void evaluateCast(CastOp op, ArrayRef<HostTensor> operands,
                         HostTensor &result) {
  const HostTensor &operand = operands[0];
  unsigned width = op.getType().getElementTypeBitWidth();
  for (int64_t i = 0, e = result.getNumElements(); i < e; ++i) {
    if (operand.isFloat() && result.isFloat())
      result.getFloats()[i] = operand.getFloats()[i];
    else if (result.isFloat())
      result.getFloats()[i] = operand.getIntegers()[i];
    else if (width == 1)
      result.getIntegers()[i] = operand.isFloat()
                                    ? operand.getFloats()[i] != 0
                                    : operand.getIntegers()[i] != 0;
    else
      result.getIntegers()[i] = operand.isFloat()
                                    ? truncate(operand.getFloats()[i], width)
                                    : operand.getIntegers()[i];
  }
}

static double geluErf(double x) {
  return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
}

static double geluTanh(double x) {
  double inner = std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x);
  return 0.5 * x * (1 + std::tanh(inner));
}

static void evaluateGelu(GeluOp op, ArrayRef<HostTensor> operands,
                         HostTensor &result) {
  mapElements(operands[0].getFloats(), result.getFloats(),
              op.getForm() == GeluForm::Erf ? geluErf : geluTanh);
}

static void registerFloatFunctions(EvaluatorRegistry &registry) {
  addFloatUnary<ExpOp>(registry, [](double x) { return std::exp(x); });
  addFloatUnary<LogOp>(registry, [](double x) { return std::log(x); });
  addFloatUnary<SqrtOp>(registry, [](double x) { return std::sqrt(x); });
  addFloatUnary<RsqrtOp>(registry, [](double x) { return 1 / std::sqrt(x); });
  addFloatUnary<ReciprocalOp>(registry, [](double x) { return 1 / x; });
  addFloatUnary<TanhOp>(registry, [](double x) { return std::tanh(x); });
  addFloatUnary<ErfOp>(registry, [](double x) { return std::erf(x); });
  addFloatUnary<SinOp>(registry, [](double x) { return std::sin(x); });
  addFloatUnary<CosOp>(registry, [](double x) { return std::cos(x); });
  addFloatUnary<SigmoidOp>(registry,
                           [](double x) { return 1 / (1 + std::exp(-x)); });
  addFloatUnary<SiluOp>(registry,
                        [](double x) { return x / (1 + std::exp(-x)); });
  addFloatUnary<ReluOp>(registry, [](double x) { return Maximum()(x, 0.0); });
  addFloatUnary<FloorOp>(registry, [](double x) { return std::floor(x); });
  addFloatUnary<CeilOp>(registry, [](double x) { return std::ceil(x); });
  registry.add<GeluOp>(evaluateGelu);
  addBinary<PowOp>(registry, [](auto a, auto b) { return std::pow(a, b); });
}

namespace pipewright::nn {
void registerElementwise(EvaluatorRegistry &registry) {
  registerFloatFunctions(registry);

  addUnary<NegOp>(registry,
                  [](auto a) { return Difference()(decltype(a)(0), a); });
  addUnary<AbsOp>(registry, [](auto a) {
    return a < 0 ? Difference()(decltype(a)(0), a) : a;
  });
  addUnary<SignOp>(registry, Sign());
  addUnary<NotOp>(registry, [](auto a) { return !a; });

  addBinary<AddOp>(registry, Sum());
  addBinary<AccumulateOp>(registry, Sum());
  addBinary<SubOp>(registry, Difference());
  addBinary<MulOp>(registry, Product());
  addDivision<DivOp>(registry, Quotient());
  addDivision<ModOp>(registry, Remainder());
  addBinary<MaxOp>(registry, Maximum());
  addBinary<MinOp>(registry, Minimum());
  addBinary<AndOp>(registry, [](auto a, auto b) { return a && b; });
  addBinary<OrOp>(registry, [](auto a, auto b) { return a || b; });

  registry.add<CompareOp>(evaluateCompare);
  registry.add<SelectOp>(evaluateSelect);
  registry.add<CastOp>(evaluateCast);
}
} // namespace pipewright::nn
