//===- ModelOptions.cpp - Options of all that read a model
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelOptions.h"

#include "pipewright/Import/Import.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/raw_ostream.h"

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
  options.allowExternalSymlinks = allowExternalSymlinks;
  options.loss = loss;
  options.ignoreIndex = ignoreIndex;
  options.train = train;
  options.freeze = freeze;
  options.forwardOnly = forwardOnly;
  return true;
}

bool pipewright::parseArguments(ArrayRef<const char *> argv,
                                cl::SubCommand &command,
                                cl::OptionCategory &category,
                                StringRef example) {
  // LLVM's library brings options of its own, which are not for users.
  cl::HideUnrelatedOptions(category, command);
  std::string text = ("\nEXAMPLE:\n\n  " + example + "\n").str();
  cl::extrahelp help(text);
  std::vector<const char *> arguments = {"pipewright"};
  arguments.insert(arguments.end(), argv.begin(), argv.end());
  return cl::ParseCommandLineOptions(arguments.size(), arguments.data(), "",
                                     &errs());
}

int pipewright::refuse(const Twine &message) {
  errs() << "pipewright: error: " << message << '\n';
  return refused;
}

std::optional<int64_t> pipewright::parseBytes(StringRef text) {
  StringRef digits = text.take_while([](char c) { return isDigit(c); });
  int64_t unit = StringSwitch<int64_t>(text.drop_front(digits.size()))
                     .Cases({"", "B"}, 1)
                     .Cases({"K", "KiB"}, 1LL << 10)
                     .Cases({"M", "MiB"}, 1LL << 20)
                     .Cases({"G", "GiB"}, 1LL << 30)
                     .Cases({"T", "TiB"}, 1LL << 40)
                     .Case("KB", 1000)
                     .Case("MB", 1000 * 1000)
                     .Case("GB", 1000 * 1000 * 1000)
                     .Default(0);
  int64_t count;
  if (unit == 0 || digits.getAsInteger(10, count) ||
      count > INT64_MAX / unit)
    return std::nullopt;
  return count * unit;
}
