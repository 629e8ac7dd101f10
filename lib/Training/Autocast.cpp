//===- Autocast.cpp - A layer function in mixed precision
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A value is narrow if it is a conversion to f32 of what was computed in the
// narrow type: the ops that stay in f32 read the conversion, the others what
// was converted. The rules are those of PyTorch's torch.autocast (its list of
// ops for CUDA, and for CPU in that softmax keeps a narrow type).
//
//===----------------------------------------------------------------------===//

#include "Autocast.h"
#include "pipewright/Training/Adjoint.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace pipewright;

static bool isF32(Type type) { return getElementTypeOrSelf(type).isF32(); }

/// Whether \p op only moves elements of its first operand.
static bool isMove(Operation *op) {
  return isa<nn::ReshapeOp, nn::TransposeOp, nn::BroadcastOp, nn::SliceOp,
             nn::ReverseOp, nn::PadOp, nn::Im2ColOp, nn::GatherOp,
             nn::PermuteRowsOp>(op);
}

/// The value whose elements \p value has, in some order.
static Value skipMoves(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isMove(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// Whether \p op takes the largest or the smallest of its elements.
static bool isExtreme(Operation *op) {
  auto reduce = dyn_cast<nn::ReduceOp>(op);
  return reduce && (reduce.getKind() == nn::Reduction::Max ||
                    reduce.getKind() == nn::Reduction::Min);
}

/// Whether \p op is computed in the type of its operands: it neither gains
/// digits nor loses many.
static bool followsOperands(Operation *op) {
  if (isExtreme(op))
    return true;
  return isa<nn::AddOp, nn::SubOp, nn::MulOp, nn::DivOp, nn::MaxOp, nn::MinOp,
             nn::NegOp, nn::AbsOp, nn::ReluOp, nn::TanhOp, nn::SigmoidOp,
             nn::SiluOp, nn::GeluOp, nn::RotaryOp, nn::SelectOp, nn::SoftmaxOp,
             nn::ConcatOp, nn::Col2ImOp>(op);
}

/// Whether \p operand meets sums that are not rounded yet: it stays as it is.
static bool isAddedToSums(OpOperand &operand) {
  auto attention = dyn_cast<nn::AttentionOp>(operand.getOwner());
  return attention && operand.get() == attention.getMask();
}

namespace {
class Autocast {
public:
  Autocast(nn::FunctionOp function, unsigned firstParameter, FloatType narrow)
      : function(function), builder(function.getContext()),
        firstParameter(firstParameter), narrow(narrow) {}

  void run();

private:
  Value getSource(Value value) const;
  bool isNarrow(Value value) const;
  bool isWeak(Value value) const;
  bool isBias(Operation *op) const;
  bool isParameter(Value value) const;
  bool shouldNarrow(Operation *op) const;
  Type narrowed(Type type) const;
  Value narrowed(Value value);
  void computeNarrow(Operation *op);

  nn::FunctionOp function;
  OpBuilder builder;
  unsigned firstParameter;
  FloatType narrow;
};
} // namespace

//===----------------------------------------------------------------------===//
// Which values are narrow
//===----------------------------------------------------------------------===//

/// The narrow value that \p value converts, or null.
Value Autocast::getSource(Value value) const {
  auto cast = value.getDefiningOp<nn::CastOp>();
  if (!cast || !isF32(cast.getType()) ||
      getElementTypeOrSelf(cast.getOperand()) != narrow)
    return {};
  return cast.getOperand();
}

/// What other layers pass on is narrow only on its way: here it is f32.
bool Autocast::isNarrow(Value value) const {
  Value source = getSource(value);
  return source && !isa<BlockArgument>(skipMoves(source));
}

/// Whether \p value takes the type of what it meets, as a number in Python: a
/// constant that is one number, unless only f32 can hold it, or a mask.
bool Autocast::isWeak(Value value) const {
  Value source = skipMoves(value);
  if (source.getDefiningOp<nn::DropoutMaskOp>())
    return true;
  SplatElementsAttr splat;
  if (!matchPattern(source, m_Constant(&splat)))
    return false;
  APFloat number = splat.getSplatValue<APFloat>();
  bool wasFinite = number.isFinite(), losesInfo;
  number.convert(narrow.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                 &losesInfo);
  return number.isFinite() == wasFinite;
}

bool Autocast::isParameter(Value value) const {
  auto argument = dyn_cast<BlockArgument>(skipMoves(value));
  return argument && argument.getArgNumber() >= firstParameter;
}

/// Whether \p op adds a parameter to a product: it is part of the contraction.
bool Autocast::isBias(Operation *op) const {
  if (!isa<nn::AddOp>(op))
    return false;
  auto isProduct = [&](Value value) {
    Value source = getSource(value);
    Operation *producer = source ? skipMoves(source).getDefiningOp() : nullptr;
    return producer && producer->hasTrait<nn::Contraction>();
  };
  Value lhs = op->getOperand(0), rhs = op->getOperand(1);
  return (isProduct(lhs) && isParameter(rhs)) ||
         (isProduct(rhs) && isParameter(lhs));
}

bool Autocast::shouldNarrow(Operation *op) const {
  if (op->getNumResults() != 1 || !isF32(op->getResult(0).getType()))
    return false;
  if (op->hasTrait<nn::Contraction>() || isBias(op))
    return true;
  if (isMove(op))
    return getSource(op->getOperand(0)) != nullptr;
  if (!followsOperands(op))
    return false;
  bool anyNarrow = false;
  for (Value operand : op->getOperands()) {
    if (!isF32(operand.getType()))
      continue;
    if (!isNarrow(operand) && !isWeak(operand))
      return false;
    anyNarrow |= isNarrow(operand);
  }
  return anyNarrow;
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

Type Autocast::narrowed(Type type) const {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.getElementType().isF32() ? tensor.clone(narrow) : type;
}

/// \p value, of f32, in the narrow type.
Value Autocast::narrowed(Value value) {
  if (Value source = getSource(value))
    return source;
  Operation *op = value.getDefiningOp();
  if (op && isWeak(value)) {
    IRMapping operands;
    if (isMove(op))
      operands.map(op->getOperand(0), narrowed(op->getOperand(0)));
    SplatElementsAttr splat;
    if (matchPattern(value, m_Constant(&splat))) {
      auto type = cast<RankedTensorType>(narrowed(value.getType()));
      double number = splat.getSplatValue<APFloat>().convertToFloat();
      auto element = builder.getFloatAttr(narrow, number);
      return nn::ConstantOp::create(builder, op->getLoc(), type,
                                    DenseElementsAttr::get(type, element));
    }
    Operation *copy = builder.clone(*op, operands);
    copy->getResult(0).setType(
        cast<RankedTensorType>(narrowed(value.getType())));
    return copy->getResult(0);
  }
  return nn::CastOp::create(builder, value.getLoc(), narrowed(value.getType()),
                            value);
}

void Autocast::computeNarrow(Operation *op) {
  builder.setInsertionPoint(op);
  Value result = op->getResult(0);
  IRMapping operands;
  for (OpOperand &operand : op->getOpOperands())
    if (isF32(operand.get().getType()) && !isAddedToSums(operand))
      operands.map(operand.get(), narrowed(operand.get()));
  Operation *copy = builder.clone(*op, operands);
  copy->getResult(0).setType(narrowed(result.getType()));
  Value wide = nn::CastOp::create(builder, op->getLoc(), result.getType(),
                                  copy->getResult(0));
  result.replaceAllUsesWith(wide);
  op->erase();
}

void Autocast::run() {
  Block &body = function.getBody().front();
  for (Operation &op : llvm::make_early_inc_range(body.without_terminator()))
    if (shouldNarrow(&op))
      computeNarrow(&op);
  Operation *exit = body.getTerminator();
  builder.setInsertionPoint(exit);
  for (auto [operand, type] :
       llvm::zip_equal(exit->getOpOperands(), function.getResultTypes()))
    if (operand.get().getType() != type)
      operand.set(narrowed(operand.get()));
}

/// Moves \p cast, and the copies of it that this makes, behind what only moves
/// the elements.
static void sinkCast(nn::CastOp cast) {
  SmallVector<nn::CastOp> casts{cast};
  while (!casts.empty()) {
    nn::CastOp next = casts.pop_back_val();
    Type element = getElementTypeOrSelf(next.getOperand());
    for (OpOperand &use : llvm::make_early_inc_range(next->getUses())) {
      Operation *op = use.getOwner();
      if (!isMove(op) || use.getOperandNumber() != 0)
        continue;
      Value moved = op->getResult(0);
      use.set(next.getOperand());
      auto type = llvm::cast<RankedTensorType>(moved.getType());
      moved.setType(type.clone(element));
      OpBuilder builder(op->getContext());
      builder.setInsertionPointAfter(op);
      auto sunk = nn::CastOp::create(builder, op->getLoc(), type, moved);
      moved.replaceAllUsesExcept(sunk, sunk);
      casts.push_back(sunk);
    }
    if (next->use_empty())
      next->erase();
  }
}

void pipewright::setPrecision(nn::FunctionOp function, FunctionType type,
                              unsigned firstParameter, FloatType narrow) {
  if (!narrow && function.getFunctionType() == type)
    return;
  function.setFunctionType(type);
  Block &body = function.getBody().front();
  OpBuilder builder = OpBuilder::atBlockBegin(&body);
  SmallVector<nn::CastOp> casts;
  for (auto [argument, wanted] :
       llvm::zip_equal(body.getArguments(), type.getInputs())) {
    Type had = argument.getType();
    if (had == wanted)
      continue;
    argument.setType(wanted);
    auto cast = nn::CastOp::create(builder, argument.getLoc(), had, argument);
    argument.replaceAllUsesExcept(cast, cast);
    if (argument.getArgNumber() >= firstParameter)
      casts.push_back(cast);
  }
  for (nn::CastOp cast : casts)
    sinkCast(cast);
  if (narrow)
    Autocast(function, firstParameter, narrow).run();
  simplify(function);
}
