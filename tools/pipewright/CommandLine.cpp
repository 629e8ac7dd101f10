//===- CommandLine.cpp - What all subcommands share
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandLine.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace pipewright;

bool pipewright::parseArguments(ArrayRef<const char *> argv,
                                cl::SubCommand &command,
                                cl::OptionCategory &category,
                                StringRef moreHelp) {
  // LLVM's library brings options of its own, which are not for users.
  cl::HideUnrelatedOptions(category, command);
  cl::extrahelp help(moreHelp);
  std::vector<const char *> arguments = {"pipewright"};
  arguments.insert(arguments.end(), argv.begin(), argv.end());
  return cl::ParseCommandLineOptions(arguments.size(), arguments.data(), "",
                                     &errs());
}

std::string pipewright::formatExamples(ArrayRef<StringRef> examples) {
  std::string text =
      examples.size() == 1 ? "\nEXAMPLE:\n\n" : "\nEXAMPLES:\n\n";
  for (StringRef example : examples)
    text += ("  " + example + "\n").str();
  return text;
}

int pipewright::refuse(const Twine &message, ExitCode code) {
  errs() << "pipewright: error: " << message << '\n';
  return code;
}

bool pipewright::isKnown(StringRef option, StringRef value,
                         ArrayRef<StringRef> known) {
  if (is_contained(known, value))
    return true;
  refuse("--" + option + " is '" + value + "', but must be one of " +
         join(known, ", "));
  return false;
}

bool pipewright::isAtLeastOne(const cl::opt<int64_t> &option) {
  if (option >= 1 || !option.getNumOccurrences())
    return true;
  refuse("--" + option.ArgStr + " is " + Twine(option.getValue()) +
         ", but must be at least 1");
  return false;
}

bool pipewright::isCount(const cl::opt<int64_t> &option, int64_t most) {
  if (!isAtLeastOne(option))
    return false;
  if (option <= most || !option.getNumOccurrences())
    return true;
  refuse("--" + option.ArgStr + " is " + Twine(option.getValue()) +
         ", but must be at most " + Twine(most));
  return false;
}

std::optional<int64_t>
pipewright::readBytes(const cl::opt<std::string> &option) {
  std::optional<int64_t> bytes = parseBytes(option);
  if (bytes && *bytes > 0)
    return bytes;
  refuse("--" + option.ArgStr + " is '" + option +
         "', but must be a size such as 24GiB");
  return std::nullopt;
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
  if (unit == 0 || digits.getAsInteger(10, count) || count > INT64_MAX / unit)
    return std::nullopt;
  return count * unit;
}
