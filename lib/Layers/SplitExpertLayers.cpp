//===- SplitExpertLayers.cpp - Three layers in the place of one
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SplitExperts.h"

using namespace mlir;
using namespace pipewright;

/// Makes the layers in the place of one.
class SplitExperts::Layers {
public:
  Layers(pp::LayerOp whole, nn::FunctionOp function)
      : builder(whole), whole(whole) {
    for (auto [argument, value] :
         llvm::zip(function.getBody().getArguments(), whole.getArguments()))
      known[argument] = value;
  }

  /// Makes the layer of \p part; its first arguments are \p arguments.
  ValueRange create(const Twine &suffix, const Part &part,
                    SmallVector<Value> arguments) {
    SmallVector<Attribute> parameters;
    for (Value value : part.captures) {
      if (auto found = known.find(value); found != known.end()) {
        arguments.push_back(renewKey(found->second));
        continue;
      }
      unsigned index = cast<BlockArgument>(value).getArgNumber();
      parameters.push_back(
          whole.getParameters()[index - whole.getArguments().size()]);
    }
    nn::FunctionOp function = part.function;
    return pp::LayerOp::create(
               builder, whole.getLoc(), function.getResultTypes(),
               (whole.getName() + suffix).str(), function.getSymName(),
               arguments, builder.getArrayAttr(parameters),
               /*cost=*/pp::CostAttr())
        .getOutputs();
  }

  Value exchange(Value blocks, int64_t peers) {
    return pp::ExchangedOp::create(builder, whole.getLoc(), blocks, peers);
  }

  /// What is there for values of the whole function.
  DenseMap<Value, Value> known;

private:
  /// \p value, or a key of its own if it is one.
  Value renewKey(Value value) {
    if (auto key = value.getDefiningOp<pp::RandomKeyOp>())
      return builder.clone(*key)->getResult(0);
    return value;
  }

  OpBuilder builder;
  pp::LayerOp whole;
};

void SplitExperts::replace(pp::LayerOp layer) {
  Layers layers(layer, function);
  ValueRange made = layers.create("", prepare, {});
  auto take = [](ValueRange &values) {
    Value first = values.front();
    values = values.drop_front();
    return first;
  };
  for (Value value : kept)
    layers.known[value] = take(made);
  SmallVector<Value> sent, received;
  SmallVector<std::pair<Value, Value>> places;
  for (const ExpertRegion &region : regions.getRegions()) {
    for (size_t i = 0; i <= region.rows.size(); ++i)
      sent.push_back(layers.exchange(take(made), sharing.peers));
    Value placeOf = take(made);
    places.push_back({placeOf, take(made)});
  }
  made = layers.create("/experts", experts, sent);
  for (auto [region, place] : llvm::zip_equal(regions.getRegions(), places)) {
    received.append({place.first, place.second});
    for (size_t i = 0; i < region.results.size(); ++i)
      received.push_back(layers.exchange(take(made), sharing.peers));
  }
  made = layers.create("/combine", combine, received);
  for (auto [result, output] :
       llvm::zip_equal(getResults(), layer.getOutputs()))
    output.replaceAllUsesWith(isCombined(result) ? take(made)
                                                 : layers.known.at(result));
  layer.erase();
}
