//===- Generic.cpp - The forms of linalg.generic that we make
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Generic.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace pipewright;
using utils::IteratorType;

static void splitInputs(ArrayRef<MappedInput> inputs, int64_t loops,
                        MLIRContext *context, SmallVector<Value> &tensors,
                        SmallVector<AffineMap> &maps) {
  for (const MappedInput &input : inputs) {
    tensors.push_back(input.tensor);
    maps.push_back(input.map
                       ? input.map
                       : AffineMap::getMultiDimIdentityMap(loops, context));
  }
}

static SmallVector<Value> widenAll(Arithmetic &arith, ValueRange elements) {
  return llvm::map_to_vector(
      elements, [&](Value element) { return arith.widen(element); });
}

Value pipewright::createMap(OpBuilder &builder, Location loc, Type type,
                            ArrayRef<MappedInput> inputs, ElementFn compute) {
  auto tensor = cast<RankedTensorType>(type);
  int64_t rank = tensor.getRank();
  SmallVector<Value> tensors;
  SmallVector<AffineMap> maps;
  splitInputs(inputs, rank, builder.getContext(), tensors, maps);
  maps.push_back(builder.getMultiDimIdentityMap(rank));
  Value empty = tensor::EmptyOp::create(builder, loc, tensor.getShape(),
                                        tensor.getElementType());
  auto body = [&](OpBuilder &nested, Location, ValueRange elements) {
    Arithmetic arith(loc, nested);
    Value value = compute(arith, widenAll(arith, elements.drop_back()));
    if (isa<FloatType>(value.getType()))
      value = arith.convertFloat(tensor.getElementType(), value);
    linalg::YieldOp::create(arith, loc, value);
  };
  return linalg::GenericOp::create(
             builder, loc, tensor, tensors, empty, maps,
             SmallVector<IteratorType>(rank, IteratorType::parallel), body)
      .getResult(0);
}

SmallVector<Value> pipewright::createReduction(OpBuilder &builder, Location loc,
                                               Type element,
                                               ArrayRef<int64_t> loops,
                                               ArrayRef<int64_t> axes,
                                               ArrayRef<MappedInput> inputs,
                                               ArrayRef<Reducer> reducers) {
  int64_t rank = loops.size();
  SmallVector<Value> tensors;
  SmallVector<AffineMap> maps;
  splitInputs(inputs, rank, builder.getContext(), tensors, maps);

  SmallVector<IteratorType> iterators(rank, IteratorType::parallel);
  for (int64_t axis : axes)
    iterators[axis] = IteratorType::reduction;
  SmallVector<int64_t> shape;
  for (int64_t loop = 0; loop < rank; ++loop)
    if (iterators[loop] == IteratorType::parallel)
      shape.push_back(loops[loop]);

  auto type = RankedTensorType::get(shape, getComputeType(element));
  SmallVector<Value> initial;
  SmallVector<Type> types;
  for (const Reducer &reducer : reducers) {
    initial.push_back(createFilled(builder, loc, type, reducer.initial));
    types.push_back(type);
    maps.push_back(getMapWithout(axes, rank, builder.getContext()));
  }
  auto body = [&](OpBuilder &nested, Location, ValueRange elements) {
    Arithmetic arith(loc, nested);
    SmallVector<Value> values =
        widenAll(arith, elements.take_front(inputs.size()));
    SmallVector<Value> partial;
    for (auto [index, reducer] : llvm::enumerate(reducers)) {
      Value value = reducer.contribute(arith, values);
      partial.push_back(
          reducer.combine(arith, elements[inputs.size() + index], value));
    }
    linalg::YieldOp::create(arith, loc, partial);
  };
  auto generic = linalg::GenericOp::create(builder, loc, types, tensors,
                                           initial, maps, iterators, body);
  return SmallVector<Value>(generic.getResults());
}

Value pipewright::storeAs(OpBuilder &builder, Location loc, Type type,
                          Value tensor) {
  if (tensor.getType() == type)
    return tensor;
  return createMap(builder, loc, type, {{tensor, {}}},
                   [](Arithmetic &, ValueRange x) { return x[0]; });
}

Value pipewright::addUp(Arithmetic &arith, Value sum, Value value) {
  return arith.addInAnyOrder(sum, value);
}

Value pipewright::takeMax(Arithmetic &arith, Value max, Value value) {
  return arith.max(max, value);
}

Value pipewright::createFilled(OpBuilder &builder, Location loc, Type type,
                               double value) {
  auto tensor = cast<RankedTensorType>(type);
  Arithmetic arith(loc, builder);
  Value scalar = arith.constant(tensor.getElementType(), value);
  Value empty = tensor::EmptyOp::create(builder, loc, tensor.getShape(),
                                        tensor.getElementType());
  return linalg::FillOp::create(builder, loc, scalar, empty).getResult(0);
}

AffineMap pipewright::getMapWithout(ArrayRef<int64_t> axes, int64_t loops,
                                    MLIRContext *context) {
  SmallVector<AffineExpr> results;
  for (int64_t loop = 0; loop < loops; ++loop)
    if (!llvm::is_contained(axes, loop))
      results.push_back(getAffineDimExpr(loop, context));
  return AffineMap::get(loops, /*symbolCount=*/0, results, context);
}

SmallVector<int64_t> pipewright::getAxesFrom(int64_t axis, int64_t rank) {
  return llvm::to_vector(llvm::seq<int64_t>(axis, rank));
}
