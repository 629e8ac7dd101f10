//===- ValueTable.cpp - Equal computations have equal numbers
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ValueTable.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace pipewright;

int64_t ValueTable::getLeaf(pp::BindingAttr binding, int64_t microbatch) {
  return getResults(binding, microbatch, /*results=*/1);
}

int64_t ValueTable::getResults(Attribute operation, ArrayRef<int64_t> operands,
                               int64_t results) {
  auto found = known.find({operation, operands});
  if (found != known.end())
    return found->second;
  known[{operation, operands.copy(allocator)}] = numbers;
  int64_t first = numbers;
  numbers += results;
  return first;
}

void ValueTable::addResults(Attribute operation, ArrayRef<int64_t> operands,
                            int64_t first) {
  if (!known.contains({operation, operands}))
    known[{operation, operands.copy(allocator)}] = first;
}

static Attribute identify(StringRef name, DictionaryAttr attributes,
                          TypeRange results) {
  Builder builder(attributes.getContext());
  return builder.getArrayAttr(
      {builder.getStringAttr(name), attributes,
       builder.getTypeArrayAttr(llvm::to_vector(results))});
}

Attribute ValueTable::identify(Operation *op) {
  if (auto call = dyn_cast<nn::CallOp>(op))
    return call.getCalleeAttr();
  return ::identify(op->getName().getStringRef(), op->getAttrDictionary(),
                    op->getResultTypes());
}

Attribute ValueTable::identify(StringRef name, Type result) {
  return ::identify(name, DictionaryAttr::get(result.getContext()), result);
}
