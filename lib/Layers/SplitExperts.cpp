//===- SplitExperts.cpp - A layer before, in and behind experts
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The first part packs rows for the peers, the second one computes the regions
// of experts, the last one unpacks their results. Ops that no region needs and
// that need none are in the first part, but for some that only the last one
// needs.
//
//===----------------------------------------------------------------------===//

#include "SplitExperts.h"

#include "ModelGraph.h"

#include "pipewright/Dialect/NN/Create.h"

using namespace mlir;
using namespace pipewright;

static RankedTensorType withRows(Type type, int64_t rows) {
  auto tensor = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape(tensor.getShape());
  shape.front() = rows;
  return tensor.clone(shape);
}

//===----------------------------------------------------------------------===//
// Which part computes what
//===----------------------------------------------------------------------===//

/// Whether \p value is there in each part: an argument, a constant, or only
/// another view of one.
static bool isEverywhere(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (isa<nn::ConstantOp>(op))
      return true;
    if (!isView(op))
      return false;
    value = op->getOperand(0);
  }
  return true;
}

/// Whether what \p op is computed of takes no more memory than its results.
static bool hasSmallOperands(Operation *op) {
  int64_t bytes = 0;
  for (Value result : op->getResults())
    bytes += pp::getBytes(result.getType());
  for (Value operand : op->getOperands())
    if (!isEverywhere(operand))
      bytes -= pp::getBytes(operand.getType());
  return bytes >= 0;
}

bool SplitExperts::isParameter(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && argument.getArgNumber() >= keys.size();
}

bool SplitExperts::isKey(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && !isParameter(value) && keys[argument.getArgNumber()];
}

/// What is behind the experts, and what only that needs if it takes less memory
/// to hand on what it is computed of.
SplitExperts::Ops SplitExperts::findCombineOps() {
  Ops found;
  auto isFound = [&](Operation *user) { return found.contains(user); };
  for (Operation &op :
       llvm::reverse(function.getBody().front().without_terminator())) {
    if (regions.isInside(&op))
      continue;
    bool isCopied = llvm::any_of(op.getUsers(), isFound) &&
                    llvm::all_of(op.getResults(), isEverywhere);
    bool isMoved = !op.use_empty() && llvm::all_of(op.getUsers(), isFound) &&
                   hasSmallOperands(&op);
    if (regions.isBehind(&op) || isCopied || isMoved)
      found.insert(&op);
  }
  SmallVector<Operation *> ops = found.takeVector();
  return Ops(ops.rbegin(), ops.rend());
}

/// Values of neither experts nor \p combine that \p combine or the layer's
/// users need.
SplitExperts::Values SplitExperts::findKept(const Ops &combine) {
  Values found;
  for (Operation *op : combine)
    for (Value operand : op->getOperands())
      if (Operation *producer = operand.getDefiningOp())
        if (!combine.contains(producer) && !regions.isInside(producer))
          found.insert(operand);
  for (Value result : getResults())
    if (Operation *producer = result.getDefiningOp())
      if (!regions.isInside(producer) && !regions.isBehind(producer))
        found.insert(result);
  return found;
}

/// What \p needed values are computed of.
SplitExperts::Ops SplitExperts::findPrepareOps(const Values &needed) {
  Ops found;
  for (Operation &op :
       llvm::reverse(function.getBody().front().without_terminator())) {
    auto isFound = [&](Operation *user) { return found.contains(user); };
    auto isNeeded = [&](Value result) { return needed.contains(result); };
    if (!regions.isInside(&op) && (llvm::any_of(op.getUsers(), isFound) ||
                                   llvm::any_of(op.getResults(), isNeeded)))
      found.insert(&op);
  }
  SmallVector<Operation *> ops = found.takeVector();
  return Ops(ops.rbegin(), ops.rend());
}

/// \p captures in the order of a layer function's arguments.
SmallVector<Value> SplitExperts::sortCaptures(const Values &captures) {
  SmallVector<Value> data, keys, parameters;
  for (Value value : captures) {
    if (isParameter(value))
      parameters.push_back(value);
    else
      (isKey(value) ? keys : data).push_back(value);
  }
  llvm::append_range(data, keys);
  llvm::append_range(data, parameters);
  return data;
}

/// Whether the last part makes \p result of the whole function.
bool SplitExperts::isCombined(Value result) {
  return result.getDefiningOp() ? !kept.contains(result) : isParameter(result);
}

/// What \p ops take that is made by none of them, nor by experts, and those of
/// \p others that are arguments.
SmallVector<Value> SplitExperts::findCaptures(const Ops &ops,
                                              ValueRange others) {
  Values found;
  for (Operation *op : ops)
    for (Value operand : op->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      if (!producer || !(ops.contains(producer) || regions.isInside(producer)))
        found.insert(operand);
    }
  for (Value value : others)
    if (isa<BlockArgument>(value))
      found.insert(value);
  return sortCaptures(found);
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// The function of a part, while it is built.
class SplitExperts::Body {
public:
  Body(nn::FunctionOp whole, const Twine &suffix)
      : builder(whole.getContext()),
        function(nn::FunctionOp::create(builder, whole.getLoc(),
                                        (whole.getSymName() + suffix).str(),
                                        builder.getFunctionType({}, {}))) {
    builder.setInsertionPointToEnd(&function.getBody().emplaceBlock());
  }

  Value addArgument(Type type) {
    return function.getBody().addArgument(type, function.getLoc());
  }
  /// Adds an argument for each of \p captures.
  void capture(ArrayRef<Value> captures) {
    for (Value value : captures)
      mapping.map(value, addArgument(value.getType()));
  }
  /// Copies \p ops; returns the copies of \p values.
  SmallVector<Value> copy(const Ops &ops, ArrayRef<Value> values) {
    for (Operation *op : ops)
      builder.clone(*op, mapping);
    return llvm::map_to_vector(
        values, [this](Value value) { return mapping.lookup(value); });
  }
  nn::FunctionOp finish(ValueRange results) {
    nn::ReturnOp::create(builder, function.getLoc(), results);
    function.setFunctionType(builder.getFunctionType(
        function.getBody().getArgumentTypes(), results.getTypes()));
    return function;
  }

  OpBuilder builder;
  nn::FunctionOp function;
  IRMapping mapping;
};

SplitExperts::Part SplitExperts::buildPrepare() {
  Values needed = kept;
  for (const ExpertRegion &region : regions.getRegions()) {
    needed.insert(region.rows.begin(), region.rows.end());
    needed.insert(region.numbers);
  }
  Ops ops = findPrepareOps(needed);
  Part part;
  part.captures = findCaptures(ops, needed.getArrayRef());

  Body body(function, "");
  body.capture(part.captures);
  SmallVector<Value> results = body.copy(ops, kept.getArrayRef());
  for (const ExpertRegion &region : regions.getRegions()) {
    RowPlaces places = createPlaces(
        body.builder, region, body.mapping.lookup(region.numbers), sharing);
    for (Value rows : region.rows)
      results.push_back(createMove(body.builder, region.loc,
                                   body.mapping.lookup(rows), places.rows,
                                   places.places));
    results.append({places.numbers, places.places, places.rows});
  }
  part.function = body.finish(results);
  return part;
}

/// A region in the function of its experts, which has as many rows as there are
/// places.
class SplitExperts::RegionCopy {
public:
  RegionCopy(const ExpertRegion &region, const ExpertSharing &sharing,
             Body &body)
      : body(body), loc(region.loc), places(sharing.countPlaces(region)),
        experts(sharing.countExperts(region)) {
    for (Value rows : region.rows)
      mapping.map(rows, body.addArgument(withRows(rows.getType(), places)));
    numbers = body.addArgument(withRows(region.numbers.getType(), places));
  }

  /// Copies \p op, which may use a parameter and the numbers of experts.
  void copy(Operation *op, OpOperand *parameter, OpOperand *expert) {
    for (OpOperand &operand : op->getOpOperands())
      if (&operand != parameter && &operand != expert &&
          !mapping.contains(operand.get()))
        copySplat(operand.get());
    Operation *copy = body.builder.clone(*op, mapping);
    if (parameter) {
      copy->setOperand(parameter->getOperandNumber(),
                       body.mapping.lookup(parameter->get()));
      copy->setOperand(expert->getOperandNumber(),
                       isa<nn::GatherOp>(op) ? getIndices(copy) : numbers);
    }
    for (Value result : copy->getResults())
      result.setType(withRows(result.getType(), places));
  }

  Value lookup(Value value) const { return mapping.lookup(value); }

private:
  void copySplat(Value value) {
    auto type = withRows(value.getType(), places);
    mapping.map(value, nn::ConstantOp::create(
                           body.builder, value.getLoc(), type,
                           ExpertRegions::getSplat(value).resizeSplat(type)));
  }
  /// The numbers of experts, with one that there is where a row has none: its
  /// results go nowhere. Made before \p user.
  Value getIndices(Operation *user) {
    if (indices)
      return indices;
    OpBuilder builder(user);
    Value last = nn::createSplatLike(builder, loc, numbers, experts - 1);
    indices = nn::MinOp::create(builder, loc, numbers, last);
    return indices;
  }

  Body &body;
  Location loc;
  int64_t places, experts;
  IRMapping mapping;
  Value numbers, indices;
};

SplitExperts::Part SplitExperts::buildExperts() {
  Body body(function, "/experts");
  SmallVector<RegionCopy> copies;
  for (const ExpertRegion &region : regions.getRegions())
    copies.emplace_back(region, sharing, body);
  Values parameters;
  for (Operation *op : regions.getOps())
    if (OpOperand *parameter = regions.findParameter(op))
      parameters.insert(parameter->get());
  for (Value value : parameters) {
    auto type = cast<RankedTensorType>(value.getType());
    body.mapping.map(value, body.addArgument(withRows(
                                type, type.getDimSize(0) / sharing.peers)));
  }
  for (Operation *op : regions.getOps())
    copies[regions.getRegion(op)].copy(op, regions.findParameter(op),
                                       regions.findNumbers(op));
  SmallVector<Value> results;
  for (auto [region, copy] : llvm::zip_equal(regions.getRegions(), copies))
    for (Value value : region.results)
      results.push_back(copy.lookup(value));
  return {body.finish(results), parameters.takeVector()};
}

SplitExperts::Part SplitExperts::buildCombine(const Ops &ops) {
  Body body(function, "/combine");
  for (const ExpertRegion &region : regions.getRegions()) {
    int64_t count = sharing.countPlaces(region);
    Value places = body.addArgument(region.numbers.getType());
    Value rows = body.addArgument(withRows(region.numbers.getType(), count));
    for (Value value : region.results)
      body.mapping.map(
          value, createMove(body.builder, region.loc,
                            body.addArgument(withRows(value.getType(), count)),
                            places, rows));
  }
  SmallVector<Value> made = llvm::to_vector(llvm::make_filter_range(
      getResults(), [this](Value value) { return isCombined(value); }));
  Part part;
  part.captures = findCaptures(ops, made);
  body.capture(part.captures);
  part.function = body.finish(body.copy(ops, made));
  return part;
}

SplitExperts::SplitExperts(nn::FunctionOp function, pp::LayerOp layer,
                           ExpertRegions regions, ExpertSharing sharing,
                           SymbolTable &symbols)
    : function(function), regions(std::move(regions)), sharing(sharing) {
  for (Value argument : layer.getArguments())
    keys.push_back(bool(argument.getDefiningOp<pp::RandomKeyOp>()));
  Ops behind = findCombineOps();
  kept = findKept(behind);
  prepare = buildPrepare();
  experts = buildExperts();
  combine = buildCombine(behind);
  symbols.remove(function);
  for (Part *part : {&prepare, &experts, &combine})
    symbols.insert(part->function, Block::iterator(function));
}
