//===- Operands.cpp - Operands in any order
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Operands.h"

#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;
using namespace pipewright;

std::optional<double> pipewright::getSplat(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<nn::ReshapeOp, nn::BroadcastOp>(op))
      break;
    value = op->getOperand(0);
  }
  SplatElementsAttr splat;
  if (!matchPattern(value, m_Constant(&splat)) ||
      !isa<FloatType>(splat.getElementType()))
    return std::nullopt;
  APFloat number = splat.getSplatValue<APFloat>();
  bool losesInfo;
  number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                 &losesInfo);
  return number.convertToDouble();
}

bool pipewright::isClose(double value, double expected, Type type) {
  constexpr double roundings = 8;
  auto element = cast<FloatType>(getElementTypeOrSelf(type));
  double epsilon = std::ldexp(1.0, 1 - int(element.getFPMantissaWidth()));
  return std::abs(value - expected) <= roundings * epsilon * std::abs(expected);
}

bool pipewright::isSplat(Value value, double expected) {
  std::optional<double> splat = getSplat(value);
  return splat && isClose(*splat, expected, value.getType());
}

std::optional<std::pair<Value, double>> pipewright::getScaled(Value value) {
  if (auto quotient = value.getDefiningOp<nn::DivOp>()) {
    std::optional<double> divisor = getSplat(quotient.getRhs());
    if (!divisor || *divisor == 0)
      return std::nullopt;
    return std::make_pair(quotient.getLhs(), 1 / *divisor);
  }
  auto product = value.getDefiningOp<nn::MulOp>();
  if (!product)
    return std::nullopt;
  if (std::optional<double> right = getSplat(product.getRhs()))
    return std::make_pair(product.getLhs(), *right);
  if (std::optional<double> left = getSplat(product.getLhs()))
    return std::make_pair(product.getRhs(), *left);
  return std::nullopt;
}

Value pipewright::getSquared(Value value) {
  if (auto product = value.getDefiningOp<nn::MulOp>())
    return product.getLhs() == product.getRhs() ? product.getLhs() : Value();
  return getOperandBesideSplat<nn::PowOp>(value, 2);
}

Value pipewright::getUnderRoot(Value value) {
  if (auto root = value.getDefiningOp<nn::SqrtOp>())
    return root.getOperand();
  return getOperandBesideSplat<nn::PowOp>(value, 0.5);
}

Value pipewright::getReciprocal(Value value) {
  if (auto reciprocal = value.getDefiningOp<nn::ReciprocalOp>())
    return reciprocal.getOperand();
  if (auto quotient = value.getDefiningOp<nn::DivOp>())
    return isSplat(quotient.getLhs(), 1) ? quotient.getRhs() : Value();
  return getOperandBesideSplat<nn::PowOp>(value, -1);
}
