//===- LayerFunctions.cpp - What each distinct layer runs
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Cost/LayerFunctions.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"

using namespace mlir;
using namespace pipewright;

SmallVector<LayerFunctions> pipewright::findLayerFunctions(ModuleOp module) {
  pp::ModelOp model = pp::getModel(module);
  if (!model)
    return {};
  llvm::MapVector<Attribute, LayerFunctions> found;
  for (auto layer : model.getBody().getOps<pp::LayerOp>())
    found[layer.getCalleeAttr()].layers.push_back(layer);
  for (auto derivative : module.getOps<nn::DerivativeOp>())
    if (auto *entry = found.find(derivative.getPrimalAttr());
        entry != found.end())
      entry->second.derivative = derivative;

  SymbolTable symbols(module);
  auto lookup = [&](std::optional<StringRef> name) {
    return name ? symbols.lookup<nn::FunctionOp>(*name) : nn::FunctionOp();
  };
  SmallVector<LayerFunctions> list;
  for (auto &[callee, functions] : found) {
    if (nn::DerivativeOp derivative = functions.derivative) {
      functions.forward = lookup(derivative.getForward());
      functions.backward = lookup(derivative.getBackward());
      functions.weight = lookup(derivative.getWeight());
      functions.recompute = lookup(derivative.getRecompute());
    } else {
      functions.forward = lookup(cast<FlatSymbolRefAttr>(callee).getValue());
    }
    list.push_back(std::move(functions));
  }
  return list;
}

std::string pipewright::getLayerKey(const LayerFunctions &functions) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  // What large constants hold makes no difference to how long they take.
  OpPrintingFlags flags = OpPrintingFlags()
                              .useLocalScope()
                              .elideLargeElementsAttrs()
                              .elideLargeResourceString();
  for (nn::FunctionOp function :
       {functions.forward, functions.backward, functions.weight}) {
    if (!function)
      continue;
    // What it is called depends on the functions beside it.
    OwningOpRef<nn::FunctionOp> copy(function.clone());
    copy->setSymName("f");
    copy.get()->print(stream, flags);
  }
  return llvm::toHex(llvm::SHA256::hash(llvm::arrayRefFromStringRef(text)),
                     /*LowerCase=*/true)
      .substr(0, 16);
}
