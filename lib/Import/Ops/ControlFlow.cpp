//===- ControlFlow.cpp - Branches and loops that are known
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program is straight code: one branch is taken and loops are unrolled while
// the model is imported. What decides must be known then, as it is where
// exporters ask for shapes.
//
//===----------------------------------------------------------------------===//

#include "pipewright/Import/OnnxOpRegistry.h"

#include "Proto/Onnx.pb.h"

using namespace mlir;
using namespace pipewright;
using namespace pipewright::onnx;

/// The graph in attribute \p name, which must have \p inputs of them.
static FailureOr<const GraphProto *> getGraph(OnnxNode &node, StringRef name,
                                              int inputs) {
  const AttributeProto *attribute = node.findAttribute(name);
  if (!attribute || !attribute->has_g())
    return node.emitError() << "has no graph '" << name << "'";
  const GraphProto &graph = attribute->g();
  if (graph.input_size() != inputs)
    return node.emitError()
           << "has a graph '" << name << "' with " << graph.input_size()
           << " inputs instead of " << inputs;
  return &graph;
}

/// Whether \p value is true, which must be known.
static FailureOr<bool> getCondition(OnnxNode &node, Value value,
                                    StringRef what) {
  DenseElementsAttr known = node.getContext().getKnown(value);
  if (!known || known.getNumElements() != 1 ||
      !known.getElementType().isInteger(1))
    return node.emitError()
           << "needs " << what << ", of type " << value.getType()
           << ", to be known at compile time";
  return *known.value_begin<bool>();
}

//===----------------------------------------------------------------------===//
// If
//===----------------------------------------------------------------------===//

static LogicalResult importIf(OnnxNode &node) {
  FailureOr<bool> condition =
      getCondition(node, node.operand(0), "its condition");
  if (failed(condition))
    return failure();
  FailureOr<const GraphProto *> branch =
      getGraph(node, *condition ? "then_branch" : "else_branch", /*inputs=*/0);
  if (failed(branch))
    return failure();
  FailureOr<SmallVector<Value>> results =
      node.getContext().importGraph(**branch, {});
  if (failed(results))
    return failure();
  if (int64_t(results->size()) < node.getNumResults())
    return node.emitError()
           << "has " << node.getNumResults() << " results, but its branch has "
           << results->size();
  for (auto [i, result] : llvm::enumerate(*results))
    node.setKnownResult(i, result);
  return success();
}

//===----------------------------------------------------------------------===//
// Loop
//===----------------------------------------------------------------------===//

namespace {

/// A loop while it is unrolled.
class Unroller {
public:
  Unroller(OnnxNode &node, const GraphProto &body)
      : node(node), b(node.getBuilder()), body(body),
        carried(node.getOperands().drop_front(
            std::min<int64_t>(node.getNumOperands(), 2))),
        scanned(body.output_size() - 1 - int(carried.size())) {}

  LogicalResult run();

private:
  FailureOr<std::optional<int64_t>> getTrips();
  LogicalResult runBody(int64_t trip);
  LogicalResult setResults();

  OnnxNode &node;
  NNBuilder &b;
  const GraphProto &body;
  bool goesOn = true;
  SmallVector<Value> carried;
  /// The values of each scan output, one a trip.
  SmallVector<SmallVector<Value>> scanned;
};

} // namespace

/// How often the loop runs at most; none if only its condition ends it.
FailureOr<std::optional<int64_t>> Unroller::getTrips() {
  if (!node.hasOperand(0))
    return std::optional<int64_t>();
  FailureOr<SmallVector<int64_t>> trips = node.getIntegers(0);
  if (failed(trips))
    return failure();
  if (trips->size() != 1)
    return node.emitError() << "has " << trips->size() << " trip counts";
  return std::optional<int64_t>(trips->front());
}

LogicalResult Unroller::runBody(int64_t trip) {
  Builder &types = b.getOpBuilder();
  SmallVector<Value> arguments{b.scalar(types.getI64Type(), trip),
                               b.scalar(types.getI1Type(), 1)};
  llvm::append_range(arguments, carried);
  FailureOr<SmallVector<Value>> results =
      node.getContext().importGraph(body, arguments);
  if (failed(results))
    return failure();
  FailureOr<bool> condition = getCondition(
      node, results->front(), "the condition of trip " + std::to_string(trip));
  if (failed(condition))
    return failure();
  goesOn = *condition;
  auto values = ArrayRef<Value>(*results).drop_front();
  llvm::copy(values.take_front(carried.size()), carried.begin());
  for (auto [all, value] :
       llvm::zip_equal(scanned, values.drop_front(carried.size())))
    all.push_back(value);
  return success();
}

LogicalResult Unroller::setResults() {
  for (auto [i, value] : llvm::enumerate(carried))
    node.setKnownResult(i, value);
  for (auto [i, values] : llvm::enumerate(scanned)) {
    unsigned result = carried.size() + i;
    if (!node.hasResult(result))
      continue;
    if (values.empty())
      return node.emitError() << "never runs, so that result " << result
                              << " has no elements, which is not supported";
    if (!llvm::all_equal(llvm::map_range(
            values, [](Value value) { return value.getType(); })))
      return node.emitError()
             << "collects values of unequal types in result " << result;
    node.setUnsignedBits(result,
                         node.getContext().getUnsignedBits(values.front()));
    SmallVector<int64_t> shape{1};
    llvm::append_range(shape, getShape(values.front()));
    for (Value &value : values)
      value = b.reshape(value, shape);
    node.setResult(result, b.concat(values, /*axis=*/0));
  }
  return success();
}

LogicalResult Unroller::run() {
  FailureOr<std::optional<int64_t>> trips = getTrips();
  if (failed(trips))
    return failure();
  if (node.hasOperand(1)) {
    FailureOr<bool> condition =
        getCondition(node, node.operand(1), "its condition");
    if (failed(condition))
      return failure();
    goesOn = *condition;
  }
  for (int64_t trip = 0; goesOn && (!*trips || trip < **trips); ++trip)
    if (failed(runBody(trip)))
      return failure();
  return setResults();
}

static LogicalResult importLoop(OnnxNode &node) {
  int64_t values = std::max<int64_t>(node.getNumOperands() - 2, 0);
  FailureOr<const GraphProto *> body = getGraph(node, "body", 2 + values);
  if (failed(body))
    return failure();
  for (int64_t i = 2; i < 2 + values; ++i)
    if (!node.hasOperand(i))
      return node.emitError() << "has no operand " << i;
  int64_t results = (*body)->output_size() - 1;
  if (results < values || results < node.getNumResults())
    return node.emitError()
           << "has a body with " << (*body)->output_size()
           << " outputs, too few for " << values << " values and "
           << node.getNumResults() << " results";
  return Unroller(node, **body).run();
}

namespace pipewright {
void registerControlFlow(OnnxOpRegistry &registry) {
  registry.add("If", /*since=*/1, 1, importIf);
  registry.add("Loop", /*since=*/1, {0, Arity::unlimited}, importLoop);
}
} // namespace pipewright
