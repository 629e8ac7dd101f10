//===- Epilogues.cpp - What follows products
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Libraries have products that add a bias and apply an activation before they
// write a result:
//
//   activation(product + bias)            and what the activation is of
//   product * derivative of GELU at x
//
// Kernels may be faster, so that both ways are there to choose from. They write
// to the same buffers. This is only done for results that go to memory anyhow,
// to be saved or multiplied: all else is better computed by one kernel together
// with what comes after it.
//
//===----------------------------------------------------------------------===//

#include "Epilogues.h"
#include "Destination.h"

#include "pipewright/Dialect/NN/Create.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <cmath>

using namespace mlir;
using namespace pipewright;
using bufferization::MaterializeInDestinationOp;
using bufferization::ToTensorOp;

namespace {
/// A product and what follows it.
struct Epilogue {
  nn::MatMulOp product;
  RankedTensorType type; ///< of the product
  /// With tensors; the bias may be of another type.
  EpilogueCall call;
  Value result;
  /// What GELU is of, if it is needed later; else null.
  Value kept;
  /// What computes the derivative of GELU, in order.
  SmallVector<Operation *> derivative;
};
} // namespace

//===----------------------------------------------------------------------===//
// Users
//===----------------------------------------------------------------------===//

static ArrayRef<int64_t> getShape(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getShape();
}

static Value skipReshapes(Value value) {
  while (auto reshape = value.getDefiningOp<nn::ReshapeOp>())
    value = reshape.getOperand();
  return value;
}

/// The reshapes of \p value, and the users of it in whatever shape.
static std::pair<SmallVector<nn::ReshapeOp>, SmallVector<Operation *>>
findUsers(Value value) {
  SmallVector<nn::ReshapeOp> reshapes;
  SmallVector<Operation *> users;
  SmallVector<Value> pending = {value};
  while (!pending.empty()) {
    for (Operation *user : pending.pop_back_val().getUsers()) {
      auto reshape = dyn_cast<nn::ReshapeOp>(user);
      if (!reshape) {
        users.push_back(user);
        continue;
      }
      reshapes.push_back(reshape);
      pending.push_back(reshape);
    }
  }
  return {reshapes, users};
}

static SmallVector<Operation *> getUsers(Value value) {
  return findUsers(value).second;
}

bool pipewright::readsMemory(Operation *user) {
  return user->hasTrait<nn::Contraction>() ||
         isa<MaterializeInDestinationOp, bufferization::ToBufferOp, nn::KeepOp>(
             user);
}

static bool isOnlyInMemory(Value value) {
  return llvm::all_of(getUsers(value), readsMemory);
}

/// The operand of \p op that is not \p value, in whatever shape; null if both
/// are.
template <typename OpTy>
static Value getOther(OpTy op, Value value) {
  bool isFirst = skipReshapes(op.getLhs()) == value;
  bool isSecond = skipReshapes(op.getRhs()) == value;
  if (isFirst == isSecond)
    return {};
  return isFirst ? op.getRhs() : op.getLhs();
}

//===----------------------------------------------------------------------===//
// Bias and activation
//===----------------------------------------------------------------------===//

/// The vector that \p value repeats in each row of \p columns elements, or
/// null.
static Value findBias(Value value, int64_t columns) {
  if (auto cast = value.getDefiningOp<nn::CastOp>())
    value = cast.getOperand();
  auto broadcast = value.getDefiningOp<nn::BroadcastOp>();
  if (!broadcast || getShape(broadcast.getResult()).back() != columns)
    return {};
  ArrayRef<int64_t> vector = getShape(broadcast.getOperand());
  return vector == ArrayRef(columns) ? broadcast.getOperand() : Value();
}

/// The activation among \p users that is alone, or null.
static Operation *findActivation(ArrayRef<Operation *> users) {
  Operation *found = nullptr;
  for (Operation *user : users) {
    auto gelu = dyn_cast<nn::GeluOp>(user);
    if (!isa<nn::ReluOp>(user) &&
        !(gelu && gelu.getForm() == nn::GeluForm::Tanh))
      continue;
    if (found)
      return nullptr;
    found = user;
  }
  return found;
}

/// Adds the activation of \p value to \p epilogue, if there is one.
static bool matchActivation(Value value, Epilogue &epilogue) {
  SmallVector<Operation *> users = getUsers(value);
  Operation *activation = findActivation(users);
  if (!activation) {
    epilogue.result = value;
    return epilogue.call.bias && isOnlyInMemory(value);
  }
  bool isGelu = isa<nn::GeluOp>(activation);
  epilogue.call.activation = isGelu ? Activation::Gelu : Activation::Relu;
  epilogue.result = activation->getResult(0);
  if (!isOnlyInMemory(epilogue.result))
    return false;
  llvm::erase(users, activation);
  if (users.empty())
    return true;
  epilogue.kept = epilogue.call.auxiliary = value;
  // Both are written where the last one was.
  return isGelu && llvm::all_of(users, [&](Operation *user) {
           return readsMemory(user) && activation->isBeforeInBlock(user);
         });
}

static bool matchForward(Epilogue &epilogue) {
  Value value = epilogue.product;
  SmallVector<Operation *> users = getUsers(value);
  if (users.size() != 1)
    return false;
  if (auto add = dyn_cast<nn::AddOp>(users.front())) {
    Value other = getOther(add, value);
    if (!other ||
        !(epilogue.call.bias = findBias(other, epilogue.call.product.n)))
      return false;
    value = add;
  }
  return matchActivation(value, epilogue);
}

//===----------------------------------------------------------------------===//
// The derivative of GELU
//===----------------------------------------------------------------------===//

/// The number that all elements of \p value are, if it is a constant of one.
static std::optional<double> getNumber(Value value) {
  auto constant = value.getDefiningOp<nn::ConstantOp>();
  auto numbers =
      constant ? dyn_cast<SplatElementsAttr>(constant.getValue()) : nullptr;
  if (!numbers || !isa<FloatType>(numbers.getElementType()))
    return std::nullopt;
  return numbers.getSplatValue<APFloat>().convertToDouble();
}

/// Sorts the ops that compute \p factor, elementwise, into \p ops. The one
/// tensor that it is a function of, or null.
static Value collectFunction(Value factor, SmallVector<Operation *> &ops) {
  // More than the derivative may have, however it is spelled out.
  constexpr size_t most = 32;
  SetVector<Operation *> found;
  SmallVector<Value> pending = {factor};
  Value argument;
  while (!pending.empty() && found.size() <= most) {
    Value value = skipReshapes(pending.pop_back_val());
    Operation *op = value.getDefiningOp();
    if (getNumber(value))
      continue;
    if (isa_and_nonnull<nn::AddOp, nn::SubOp, nn::MulOp, nn::TanhOp>(op)) {
      if (found.insert(op))
        llvm::append_range(pending, op->getOperands());
      continue;
    }
    if (argument && argument != value)
      return {};
    argument = value;
  }
  ops = found.takeVector();
  llvm::sort(ops, [](Operation *lhs, Operation *rhs) {
    return lhs->isBeforeInBlock(rhs);
  });
  return pending.empty() ? argument : Value();
}

/// The last of \p ops, applied to \p x in place of \p argument.
static double evaluate(ArrayRef<Operation *> ops, Value argument, double x) {
  DenseMap<Value, double> numbers = {{argument, x}};
  double last = x;
  for (Operation *op : ops) {
    SmallVector<double> operands;
    for (Value operand : op->getOperands()) {
      Value value = skipReshapes(operand);
      std::optional<double> number = getNumber(value);
      operands.push_back(number ? *number : numbers.lookup(value));
    }
    last = isa<nn::AddOp>(op)   ? operands[0] + operands[1]
           : isa<nn::SubOp>(op) ? operands[0] - operands[1]
           : isa<nn::MulOp>(op) ? operands[0] * operands[1]
                                : std::tanh(operands[0]);
    numbers[op->getResult(0)] = last;
  }
  return last;
}

/// Of GELU by tanh.
static double getDerivative(double x) {
  const double root = std::sqrt(2 / M_PI), cubic = 0.044715;
  double t = std::tanh(root * (x + cubic * x * x * x));
  return (1 + t) / 2 + x / 2 * (1 - t * t) * root * (1 + 3 * cubic * x * x);
}

/// Whether \p ops compute it, whatever their order and however their constants
/// are rounded.
static bool isDerivative(ArrayRef<Operation *> ops, Value argument) {
  double tolerance = getElementTypeOrSelf(argument).isF32() ? 1e-5 : 1e-2;
  return llvm::all_of(
      ArrayRef<double>{-3.1, -1.7, -0.9, -0.2, 0, 0.4, 1.3, 2.8},
      [&](double x) {
        return std::abs(evaluate(ops, argument, x) - getDerivative(x)) <=
               tolerance;
      });
}

static bool matchBackward(Epilogue &epilogue) {
  Value value = epilogue.product;
  SmallVector<Operation *> users = getUsers(value);
  auto multiply =
      users.size() == 1 ? dyn_cast<nn::MulOp>(users.front()) : nullptr;
  Value factor = multiply ? getOther(multiply, value) : Value();
  if (!factor || !isOnlyInMemory(multiply))
    return false;
  SmallVector<Operation *> &ops = epilogue.derivative;
  Value argument = collectFunction(factor, ops);
  if (!argument || !isDerivative(ops, argument))
    return false;
  epilogue.result = multiply;
  epilogue.call.activation = Activation::GeluGradient;
  epilogue.call.auxiliary = argument;
  // Nobody else needs what is computed on the way.
  return llvm::all_of(ops, [&](Operation *op) {
    return llvm::all_of(getUsers(op->getResult(0)), [&](Operation *user) {
      return user == multiply || llvm::is_contained(ops, user);
    });
  });
}

//===----------------------------------------------------------------------===//
// Both ways
//===----------------------------------------------------------------------===//

namespace {
/// Lowers one product and what follows it.
class EpilogueLowering {
public:
  EpilogueLowering(Epilogue &epilogue, const CodegenTarget &target,
                   RewriterBase &rewriter)
      : epilogue(epilogue), call(epilogue.call), target(target),
        rewriter(rewriter), loc(epilogue.result.getLoc()) {}

  void lower();

private:
  bool castsBias() const {
    return epilogue.call.bias &&
           getElementTypeOrSelf(epilogue.call.bias) != getElement();
  }
  Type getElement() const { return epilogue.type.getElementType(); }
  void takeBuffers();
  void finish();
  void emitLibrary(OpBuilder &builder) const;
  void emitOthers(OpBuilder &builder) const;
  Value activate(Value value, OpBuilder &builder) const;
  Value createDerivative(OpBuilder &builder) const;
  void write(Value value, Value buffer, OpBuilder &builder) const;

  Epilogue &epilogue;
  EpilogueCall call; ///< with buffers
  const CodegenTarget &target;
  RewriterBase &rewriter;
  Location loc;
  Destination kept, destination;
  /// The buffers of results in the shape of the product.
  Value keptRows, rows;
};
} // namespace

void EpilogueLowering::write(Value value, Value buffer,
                             OpBuilder &builder) const {
  MaterializeInDestinationOp::create(builder, loc, /*result=*/Type(), value,
                                     buffer, /*restrict=*/true,
                                     /*writable=*/true);
}

void EpilogueLowering::takeBuffers() {
  Value product = epilogue.product.getResult();
  if (epilogue.kept) {
    kept = takeDestination(epilogue.kept, rewriter, /*canAccumulate=*/false);
    keptRows = reshapeBuffer(kept.buffer, product, rewriter);
    call.auxiliary = kept.buffer;
  }
  destination =
      takeDestination(epilogue.result, rewriter, /*canAccumulate=*/false);
  rows = reshapeBuffer(destination.buffer, product, rewriter);
  call.product.result = destination.buffer;
  for (Value *operand : {&call.product.lhs, &call.product.rhs})
    *operand = destination.getReadBuffer(*operand, rewriter);
  if (call.bias && !castsBias())
    call.bias = destination.getReadBuffer(call.bias, rewriter);
  if (call.auxiliary && !epilogue.kept)
    call.auxiliary = destination.getReadBuffer(call.auxiliary, rewriter);
}

void EpilogueLowering::emitLibrary(OpBuilder &builder) const {
  EpilogueCall own = call;
  if (castsBias()) {
    auto type = cast<RankedTensorType>(call.bias.getType());
    own.bias = memref::AllocOp::create(
        builder, loc, MemRefType::get(type.getShape(), getElement()));
    write(nn::createCast(builder, loc, call.bias, getElement()), own.bias,
          builder);
  }
  target.emitEpilogue(own, loc, builder);
}

/// The derivative in the shape of the product.
Value EpilogueLowering::createDerivative(OpBuilder &builder) const {
  RankedTensorType type = epilogue.type;
  DenseMap<Value, Value> copies;
  Value argument = epilogue.call.auxiliary;
  copies[argument] = nn::createReshape(builder, loc, argument, type.getShape());
  for (Operation *op : epilogue.derivative) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      Value value = skipReshapes(operand);
      std::optional<double> number = getNumber(value);
      operands.push_back(
          number ? nn::createSplatLike(builder, loc, copies[argument], *number)
                 : copies.lookup(value));
    }
    OperationState state(op->getLoc(), op->getName(), operands, Type(type),
                         op->getAttrs());
    copies[op->getResult(0)] = builder.create(state)->getResult(0);
  }
  return copies.lookup(epilogue.derivative.back()->getResult(0));
}

Value EpilogueLowering::activate(Value value, OpBuilder &builder) const {
  switch (call.activation) {
  case Activation::None:
    return value;
  case Activation::Relu:
    return nn::ReluOp::create(builder, loc, value);
  case Activation::Gelu:
    return nn::GeluOp::create(builder, loc, value, nn::GeluForm::Tanh);
  case Activation::GeluGradient:
    return nn::MulOp::create(builder, loc, value, createDerivative(builder));
  }
  llvm_unreachable("unknown activation");
}

/// The product is computed where a result is: each element is read before it is
/// overwritten.
void EpilogueLowering::emitOthers(OpBuilder &builder) const {
  MatMulCall plain = call.product;
  plain.result = epilogue.kept ? keptRows : rows;
  target.emitMatMul(plain, loc, builder);
  RankedTensorType type = epilogue.type;
  Value value = ToTensorOp::create(builder, loc, type, plain.result,
                                   /*restrict=*/true, /*writable=*/false);
  if (Value bias = epilogue.call.bias) {
    Value repeated = nn::createBroadcast(builder, loc, bias, type.getShape());
    value =
        nn::AddOp::create(builder, loc, value,
                          nn::createCast(builder, loc, repeated, getElement()));
  }
  if (epilogue.kept)
    write(value, keptRows, builder);
  write(activate(value, builder), rows, builder);
}

/// Has users of the results read the buffers.
void EpilogueLowering::finish() {
  Operation *last = epilogue.result.getDefiningOp();
  SmallVector<Value> unused;
  if (Value value = epilogue.kept) {
    llvm::append_range(unused, value.getDefiningOp()->getOperands());
    SmallVector<nn::ReshapeOp> reshapes = findUsers(value).first;
    finishDestination(kept, value, rewriter);
    // They were possible before the last op.
    for (nn::ReshapeOp reshape : reshapes)
      if (reshape->isBeforeInBlock(last))
        rewriter.moveOpBefore(reshape, last);
  }
  llvm::append_range(unused, last->getOperands());
  finishDestination(destination, epilogue.result, rewriter);
  eraseDead(unused, rewriter);
}

void EpilogueLowering::lower() {
  takeBuffers();
  target.emitEpilogueChoice(
      call, [&](OpBuilder &builder) { emitLibrary(builder); },
      [&](OpBuilder &builder) { emitOthers(builder); }, loc, rewriter);
  finish();
}

void pipewright::lowerEpilogue(nn::MatMulOp op, const MatMulCall &product,
                               const CodegenTarget &target,
                               RewriterBase &rewriter) {
  EpilogueCall call{product, {}, Activation::None, {}};
  for (auto *match : {matchForward, matchBackward}) {
    Epilogue epilogue{op, op.getType(), call, {}, {}, {}};
    if (!match(epilogue))
      continue;
    epilogue.call.product.result = epilogue.result;
    if (target.hasEpilogue(epilogue.call))
      EpilogueLowering(epilogue, target, rewriter).lower();
    return;
  }
}
