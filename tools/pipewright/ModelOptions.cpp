//===- ModelOptions.cpp - Options of all that read a model
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelOptions.h"

#include "pipewright/Import/Import.h"

using namespace llvm;
using namespace pipewright;

ModelOptions::ModelOptions(cl::SubCommand &command,
                           cl::OptionCategory &category)
    : model(cl::Positional, cl::value_desc("MODEL"), cl::Required,
            cl::desc("MODEL"), cl::sub(command), cl::cat(category)),
      bind("bind", cl::CommaSeparated, cl::value_desc("DIM=N,..."),
           cl::desc("Sizes of the model's symbolic dimensions"),
           cl::sub(command), cl::cat(category)),
      microbatchSize("microbatch-size", cl::value_desc("B"),
                     cl::desc("Samples in a micro-batch: binds the batch "
                              "dimension"),
                     cl::sub(command), cl::cat(category)),
      allowExternalSymlinks("allow-external-symlinks",
                            cl::desc("Follow symbolic links to external data"),
                            cl::sub(command), cl::cat(category)),
      separateCopies("separate-copies",
                     cl::desc("Train apart what the file stores twice, such "
                              "as a tied embedding and its transpose"),
                     cl::sub(command), cl::cat(category)),
      paramsFromInputs("params-from-inputs", cl::value_desc("REGEX"),
                       cl::desc("Inputs of the model whose name matches are "
                                "parameters, with the values in --weights; "
                                "only 'build' needs values"),
                       cl::sub(command), cl::cat(category)),
      weights("weights", cl::value_desc("FILE"),
              cl::desc("A .safetensors file with the values of "
                       "--params-from-inputs, under the inputs' names"),
              cl::sub(command), cl::cat(category)),
      loss("loss", cl::value_desc("KIND:..."),
           cl::desc("cross-entropy:LOGITS,LABELS, mse:PREDICTION,TARGET or a "
                    "scalar output (default: the model's only scalar output)"),
           cl::sub(command), cl::cat(category)),
      ignoreIndex("ignore-index", cl::value_desc("I"), cl::init(-100),
                  cl::desc("Label that does not count in a cross entropy "
                           "(default -100)"),
                  cl::sub(command), cl::cat(category)),
      train("train", cl::value_desc("REGEX"),
            cl::desc("Train only parameters whose name matches"),
            cl::sub(command), cl::cat(category)),
      freeze("freeze", cl::value_desc("REGEX"),
             cl::desc("Do not train parameters whose name matches"),
             cl::sub(command), cl::cat(category)),
      forwardOnly("forward-only",
                  cl::desc("Inference: no loss, no backward, no update"),
                  cl::sub(command), cl::cat(category)),
      precision("precision", cl::value_desc("f32|bf16|f16"),
                cl::desc("Type of matrix products and what follows them; "
                         "parameters and sums stay f32 (default: as the model "
                         "says)"),
                cl::sub(command), cl::cat(category)) {}

bool ModelOptions::apply(BuildOptions &options) const {
  options.model = model;
  std::vector<std::string> bindings(bind.begin(), bind.end());
  if (Error error = parseBindings(bindings, options.bind)) {
    refuse(toString(std::move(error)));
    return false;
  }
  if (microbatchSize.getNumOccurrences()) {
    if (microbatchSize < 1) {
      refuse("--microbatch-size is " + Twine(microbatchSize.getValue()) +
             ", but must be at least 1");
      return false;
    }
    options.microbatchSize = microbatchSize;
  }
  if (!precision.empty() &&
      !isKnown("precision", precision, {"f32", "bf16", "f16"}))
    return false;
  options.precision = precision;
  options.allowExternalSymlinks = allowExternalSymlinks;
  options.separateCopies = separateCopies;
  options.paramsFromInputs = paramsFromInputs;
  options.weights = weights;
  options.loss = loss;
  options.ignoreIndex = ignoreIndex;
  options.train = train;
  options.freeze = freeze;
  options.forwardOnly = forwardOnly;
  return true;
}
