//===- Recurrent.cpp - RNN, GRU and LSTM
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sequences have a fixed length here, so a layer becomes its steps, one after
// the other. What does not depend on the step before, the product with the
// input, is computed for all steps at once.
//
// The names are those of ONNX: W multiplies the input, R the hidden state, both
// with the rows of all gates one after the other.
//
//===----------------------------------------------------------------------===//

#include "pipewright/Import/OnnxOpRegistry.h"

using namespace mlir;
using namespace pipewright;

namespace {

/// The state between two steps, of batch x hidden elements each; only an LSTM
/// has cells.
struct State {
  Value hidden, cell;
};

/// One direction of a layer.
struct Direction {
  Value input;     ///< W x + Wb: steps x batch x (gates * hidden)
  Value recurrent; ///< R: (gates * hidden) x hidden
  Value bias;      ///< Rb: batch x (gates * hidden); null without biases
  Value peepholes; ///< of an LSTM: batch x (3 * hidden); or null
  State start;
  bool isReversed;
};

/// The state after a step, with \p input of batch x (gates * hidden).
using StepFn = State (*)(OnnxNode &node, const Direction &direction,
                         Value input, const State &state);

struct LayerShape {
  int64_t steps, batch, inputs, hidden, directions;
};

} // namespace

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// Gate \p i of \p gates, which lie side by side along axis 1.
static Value getGate(NNBuilder &b, Value gates, int64_t i, int64_t hidden) {
  return b.sliceAxis(gates, /*axis=*/1, i * hidden, hidden);
}

/// Rows \p first to \p first + \p count of R times the hidden state, with the
/// bias.
static Value recur(NNBuilder &b, const Direction &direction, Value hidden,
                   int64_t first, int64_t count) {
  Value rows = b.sliceAxis(direction.recurrent, /*axis=*/0, first, count);
  Value product = b.matmul(hidden, b.transpose(rows, {1, 0}));
  if (!direction.bias)
    return product;
  return b.create<nn::AddOp>(
      product, b.sliceAxis(direction.bias, /*axis=*/1, first, count));
}

/// Whether an RNN has it in place of the hyperbolic tangent.
static bool hasRelu(const OnnxNode &node) {
  SmallVector<StringRef> activations = node.getStrings("activations");
  return !activations.empty() && activations.front().equals_insensitive("Relu");
}

static State stepRNN(OnnxNode &node, const Direction &direction, Value input,
                     const State &state) {
  NNBuilder &b = node.getBuilder();
  int64_t hidden = getShape(state.hidden)[1];
  Value sum =
      b.create<nn::AddOp>(input, recur(b, direction, state.hidden, 0, hidden));
  if (hasRelu(node))
    return {b.create<nn::ReluOp>(sum), {}};
  return {b.create<nn::TanhOp>(sum), {}};
}

/// Gates: update, reset, hidden.
static State stepGRU(OnnxNode &node, const Direction &direction, Value input,
                     const State &state) {
  NNBuilder &b = node.getBuilder();
  int64_t hidden = getShape(state.hidden)[1];
  auto gate = [&](int64_t i) {
    Value sum = b.create<nn::AddOp>(
        getGate(b, input, i, hidden),
        recur(b, direction, state.hidden, i * hidden, hidden));
    return b.create<nn::SigmoidOp>(sum);
  };
  Value update = gate(0), reset = gate(1);
  Value old;
  if (node.getInt("linear_before_reset", 0) != 0)
    old = b.create<nn::MulOp>(
        reset, recur(b, direction, state.hidden, 2 * hidden, hidden));
  else
    old = recur(b, direction, b.create<nn::MulOp>(reset, state.hidden),
                2 * hidden, hidden);
  Value proposal = b.create<nn::TanhOp>(
      b.create<nn::AddOp>(getGate(b, input, 2, hidden), old));
  // (1 - z) h~ + z h
  Value kept =
      b.create<nn::MulOp>(update, b.create<nn::SubOp>(state.hidden, proposal));
  return {b.create<nn::AddOp>(proposal, kept), {}};
}

/// Gates: input, output, forget, cell.
static State stepLSTM(OnnxNode &node, const Direction &direction, Value input,
                      const State &state) {
  NNBuilder &b = node.getBuilder();
  int64_t hidden = getShape(state.hidden)[1];
  Value sums = b.create<nn::AddOp>(
      input, recur(b, direction, state.hidden, 0, 4 * hidden));
  auto gate = [&](int64_t i, Value cell) {
    Value sum = getGate(b, sums, i, hidden);
    if (direction.peepholes) {
      Value peephole = getGate(b, direction.peepholes, i, hidden);
      sum = b.create<nn::AddOp>(sum, b.create<nn::MulOp>(peephole, cell));
    }
    return b.create<nn::SigmoidOp>(sum);
  };
  Value proposal = b.create<nn::TanhOp>(getGate(b, sums, 3, hidden));
  Value cell =
      b.create<nn::AddOp>(b.create<nn::MulOp>(gate(2, state.cell), state.cell),
                          b.create<nn::MulOp>(gate(0, state.cell), proposal));
  return {b.create<nn::MulOp>(gate(1, cell), b.create<nn::TanhOp>(cell)), cell};
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// The activations of one direction.
static ArrayRef<StringRef> getActivations(const OnnxNode &node) {
  static constexpr StringRef lstm[] = {"Sigmoid", "Tanh", "Tanh"};
  static constexpr StringRef relu[] = {"Relu"};
  if (node.getOpType() == "LSTM")
    return lstm;
  if (node.getOpType() == "GRU")
    return ArrayRef(lstm).take_front(2);
  return hasRelu(node) ? ArrayRef(relu) : ArrayRef(lstm).take_back(1);
}

/// Exporters write down those that are the default; their case does not count.
static LogicalResult checkActivations(OnnxNode &node) {
  ArrayRef<StringRef> known = getActivations(node);
  for (auto [i, name] : llvm::enumerate(node.getStrings("activations"))) {
    StringRef expected = known[i % known.size()];
    if (!name.equals_insensitive(expected))
      return node.emitError() << "has activation '" << name << "' in place of '"
                              << expected << "', which is not supported";
  }
  return success();
}

static LogicalResult checkAttributes(OnnxNode &node) {
  // The weights say it too.
  node.leaveOut({"hidden_size"});
  for (StringRef name : {"activation_alpha", "activation_beta", "clip"})
    if (node.hasAttribute(name))
      return node.emitError()
             << "has attribute '" << name << "', which is not supported";
  if (node.getInt("input_forget", 0) != 0)
    return node.emitError() << "has input_forget=1, which is not supported";
  if (failed(checkActivations(node)))
    return failure();
  StringRef direction = node.getString("direction", "forward");
  if (direction != "forward" && direction != "reverse" &&
      direction != "bidirectional")
    return node.emitError() << "has direction '" << direction << "'";
  return success();
}

/// Each step is code of its own. Sequences of full length need not say so.
static LogicalResult checkLengths(OnnxNode &node, int64_t steps) {
  constexpr int64_t mostSteps = 2048;
  if (steps < 1 || steps > mostSteps)
    return node.emitError()
           << "has " << steps << " steps, not 1 to " << mostSteps;
  if (!node.hasOperand(4))
    return success();
  FailureOr<SmallVector<int64_t>> lengths = node.getIntegers(4);
  if (failed(lengths))
    return failure();
  if (llvm::any_of(*lengths, [&](int64_t length) { return length != steps; }))
    return node.emitError() << "has sequences of different lengths";
  return success();
}

static LogicalResult checkShape(OnnxNode &node, unsigned i,
                                ArrayRef<int64_t> shape) {
  Value value = node.operand(i);
  if (!value)
    return success();
  if (getShape(value) != shape ||
      getElementType(value) != getElementType(node.operand(0)))
    return node.emitError()
           << "has operand " << i << " of type " << value.getType() << ", not "
           << getTensorType(node.operand(0)).clone(shape);
  return success();
}

static FailureOr<LayerShape> getLayerShape(OnnxNode &node, Value x,
                                           int64_t gates) {
  if (failed(checkAttributes(node)))
    return failure();
  ArrayRef<int64_t> sizes = getShape(x), weights = getShape(node.operand(2));
  if (sizes.size() != 3 || weights.size() != 3)
    return node.emitError() << "has an input " << x.getType() << " and weights "
                            << node.operand(2).getType();
  bool isBoth = node.getString("direction", "forward") == "bidirectional";
  LayerShape shape{sizes[0], sizes[1], sizes[2], weights[2], isBoth ? 2 : 1};
  auto [steps, batch, inputs, hidden, directions] = shape;
  bool batchFirst = node.getInt("layout", 0) != 0;
  SmallVector<int64_t> state =
      batchFirst ? SmallVector<int64_t>{batch, directions, hidden}
                 : SmallVector<int64_t>{directions, batch, hidden};
  if (failed(checkShape(node, 1, {directions, gates * hidden, inputs})) ||
      failed(checkShape(node, 2, {directions, gates * hidden, hidden})) ||
      failed(checkShape(node, 3, {directions, 2 * gates * hidden})) ||
      failed(checkLengths(node, steps)) || failed(checkShape(node, 5, state)) ||
      failed(checkShape(node, 6, state)) ||
      failed(checkShape(node, 7, {directions, 3 * hidden})))
    return failure();
  return shape;
}

/// Entry \p i of the first axis of \p value, without that axis.
static Value takeEntry(NNBuilder &b, Value value, int64_t i) {
  return b.reshape(b.sliceAxis(value, /*axis=*/0, i, 1),
                   getShape(value).drop_front());
}

/// The initial state in operand \p i, or zeros.
static Value getStart(OnnxNode &node, unsigned i, const LayerShape &shape,
                      int64_t direction) {
  NNBuilder &b = node.getBuilder();
  Value given = node.operand(i);
  if (!given)
    return b.splat(
        getTensorType(node.operand(0)).clone({shape.batch, shape.hidden}), 0.0);
  if (node.getInt("layout", 0) != 0)
    given = b.transpose(given, {1, 0, 2});
  return takeEntry(b, given, direction);
}

static Direction getDirection(OnnxNode &node, Value x, const LayerShape &shape,
                              int64_t gates, int64_t i) {
  NNBuilder &b = node.getBuilder();
  int64_t width = gates * shape.hidden;
  Value weights = takeEntry(b, node.operand(1), i);
  Value rows = b.reshape(x, {shape.steps * shape.batch, shape.inputs});
  Value input = b.matmul(rows, b.transpose(weights, {1, 0}));
  Direction direction{{}, takeEntry(b, node.operand(2), i), {}, {}, {}, false};
  if (node.hasOperand(3)) {
    Value biases = takeEntry(b, node.operand(3), i);
    Value first = b.sliceAxis(biases, /*axis=*/0, 0, width);
    Value second = b.sliceAxis(biases, /*axis=*/0, width, width);
    input = b.create<nn::AddOp>(input, b.broadcast(first, getShape(input)));
    direction.bias = b.broadcast(second, {shape.batch, width});
  }
  direction.input = b.reshape(input, {shape.steps, shape.batch, width});
  if (node.hasOperand(7))
    direction.peepholes = b.broadcast(takeEntry(b, node.operand(7), i),
                                      {shape.batch, 3 * shape.hidden});
  direction.start.hidden = getStart(node, 5, shape, i);
  direction.start.cell = getStart(node, 6, shape, i);
  direction.isReversed =
      i == 1 || node.getString("direction", "forward") == "reverse";
  return direction;
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

/// The hidden states of all steps, in the order of the input, and the last
/// state.
static std::pair<Value, State> runSteps(OnnxNode &node,
                                        const Direction &direction,
                                        const LayerShape &shape, StepFn step) {
  NNBuilder &b = node.getBuilder();
  SmallVector<Value> outputs(shape.steps);
  State state = direction.start;
  for (int64_t t = 0; t < shape.steps; ++t) {
    int64_t time = direction.isReversed ? shape.steps - 1 - t : t;
    state = step(node, direction, takeEntry(b, direction.input, time), state);
    outputs[time] = b.reshape(state.hidden, {1, 1, shape.batch, shape.hidden});
  }
  return {b.concat(outputs, /*axis=*/0), state};
}

/// Operands: X, W, R, B, lengths, initial hidden and cell states, peepholes.
/// Results: the hidden states of all steps, and the last hidden and cell
/// states.
template <int64_t gates, StepFn step>
static LogicalResult importRecurrent(OnnxNode &node) {
  NNBuilder &b = node.getBuilder();
  Value x = node.operand(0);
  bool batchFirst = node.getInt("layout", 0) != 0;
  if (batchFirst && getTensorType(x).getRank() == 3)
    x = b.transpose(x, {1, 0, 2});
  FailureOr<LayerShape> shape = getLayerShape(node, x, gates);
  if (failed(shape))
    return failure();
  SmallVector<Value> all, hidden, cells;
  for (int64_t i = 0; i < shape->directions; ++i) {
    Direction direction = getDirection(node, x, *shape, gates, i);
    auto [outputs, last] = runSteps(node, direction, *shape, step);
    all.push_back(outputs);
    SmallVector<int64_t> entry = {1, shape->batch, shape->hidden};
    hidden.push_back(b.reshape(last.hidden, entry));
    if (last.cell)
      cells.push_back(b.reshape(last.cell, entry));
  }
  // Steps, directions, batch; or batch, steps, directions.
  Value sequence = b.concat(all, /*axis=*/1);
  node.setResult(0,
                 batchFirst ? b.transpose(sequence, {2, 0, 1, 3}) : sequence);
  auto setLast = [&](unsigned i, ArrayRef<Value> states) {
    Value last = b.concat(states, /*axis=*/0);
    node.setResult(i, batchFirst ? b.transpose(last, {1, 0, 2}) : last);
  };
  setLast(1, hidden);
  if (!cells.empty())
    setLast(2, cells);
  return success();
}

namespace pipewright {
void registerRecurrent(OnnxOpRegistry &registry) {
  registry.add("GRU", /*since=*/7, {3, 6}, importRecurrent<3, stepGRU>);
  registry.add("LSTM", /*since=*/7, {3, 8}, importRecurrent<4, stepLSTM>);
  registry.add("RNN", /*since=*/7, {3, 6}, importRecurrent<1, stepRNN>);
}
} // namespace pipewright
