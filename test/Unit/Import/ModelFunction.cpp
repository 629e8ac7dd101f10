//===- ModelFunction.cpp - A whole model as one function
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelFunction.h"

#include "llvm/Support/MemoryBuffer.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace pipewright;

nn::HostTensor pipewright::readParameter(pp::ParameterOp parameter) {
  RankedTensorType type = parameter.getTensorType();
  auto external = dyn_cast<pp::ExternalAttr>(parameter.getValue());
  if (!external)
    return *nn::HostTensor::fromAttribute(
        cast<ElementsAttr>(parameter.getValue()));
  auto bytes = llvm::MemoryBuffer::getFileSlice(
      external.getFile(), external.getLength(), external.getOffset());
  if (!bytes) {
    ADD_FAILURE() << "cannot read " << external.getFile().str();
    return nn::HostTensor::zeros(type);
  }
  // The range lies at any address; those of attributes are aligned.
  SmallVector<char> aligned((*bytes)->getBufferStart(),
                            (*bytes)->getBufferEnd());
  return *nn::HostTensor::fromAttribute(
      DenseElementsAttr::getFromRawBuffer(type, aligned));
}

ModelFunction::ModelFunction(ModuleOp imported)
    : module(ModuleOp::create(imported.getLoc())) {
  pp::ModelOp model = pp::getModel(imported);
  Block &source = model.getBody().front();
  auto result = cast<pp::ReturnOp>(source.getTerminator());
  auto builder = OpBuilder::atBlockEnd(module->getBody());
  function = nn::FunctionOp::create(builder, model.getLoc(), "model",
                                    builder.getFunctionType({}, {}));
  Block &body = function.getBody().emplaceBlock();
  builder.setInsertionPointToEnd(&body);
  for (BlockArgument argument : source.getArguments()) {
    inputs.push_back(
        model.getInputSpec(argument.getArgNumber()).getName().str());
    mapping.map(argument,
                body.addArgument(argument.getType(), argument.getLoc()));
  }
  for (Operation &op : source.without_terminator()) {
    if (auto get = dyn_cast<pp::GetParameterOp>(op)) {
      addParameter(
          op, readParameter(cast<pp::ParameterOp>(SymbolTable::lookupSymbolIn(
                  imported, get.getParameterAttr()))));
    } else if (auto key = dyn_cast<pp::RandomKeyOp>(op)) {
      hasRandomKey = true;
      addParameter(
          op, nn::HostTensor::zeros(cast<RankedTensorType>(key.getType())));
    } else {
      builder.clone(op, mapping);
    }
  }
  SmallVector<Value> results;
  for (Value output : result.getOutputs())
    results.push_back(mapping.lookup(output));
  nn::ReturnOp::create(builder, result.getLoc(), results);
  function.setFunctionType(builder.getFunctionType(
      body.getArgumentTypes(), result.getOutputs().getTypes()));
}

void ModelFunction::addParameter(Operation &op, nn::HostTensor value) {
  parameters.push_back(std::move(value));
  Value result = op.getResult(0);
  mapping.map(result, function.getBody().front().addArgument(result.getType(),
                                                             op.getLoc()));
}
