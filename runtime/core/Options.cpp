//===- Options.cpp - The options of a rank executable ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Options.h"
#include "Numbers.h"

#include <cstdlib>
#include <string_view>

using namespace pprt;
using std::string_view;

namespace {
struct Option {
  const char *name;
  const char *value; ///< what follows it; null: nothing
  const char *help;
  /// Stores the value; false if it is not acceptable.
  bool (*parse)(RankOptions &options, string_view value);
};
} // namespace

/// Adds FILE, or each part of INPUT=FILE,INPUT=FILE.
static bool parseData(RankOptions &options, string_view value) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= value.size();) {
    size_t end = std::min(value.find(',', begin), value.size());
    parts.emplace_back(value.substr(begin, end - begin));
    if (parts.back().find('=') == std::string::npos) {
      // A comma in the name of a single file.
      parts.assign(1, std::string(value));
      break;
    }
    begin = end + 1;
  }
  for (std::string &part : parts)
    options.data.files.push_back(std::move(part));
  return !value.empty();
}

static bool parseTokenDtype(RankOptions &options, string_view value) {
  if (value != "uint16" && value != "int32")
    return false;
  options.data.tokenDtype = value == "uint16" ? PPRT_I16 : PPRT_I32;
  return true;
}

static bool parseLogFormat(RankOptions &options, string_view value) {
  if (value != "text" && value != "jsonl")
    return false;
  options.logFormat = value == "text" ? LogFormat::Text : LogFormat::Jsonl;
  return true;
}

static bool parseTransport(RankOptions &options, string_view value) {
  if (value == "processes")
    options.transport = TransportKind::Processes;
  else if (value == "threads")
    options.transport = TransportKind::Threads;
  else if (value == "local")
    options.transport = TransportKind::Local;
  else
    return false;
  return true;
}

static bool parseOptional(string_view value, std::optional<double> &result) {
  double number;
  if (!parseReal(value, 0, number))
    return false;
  result = number;
  return true;
}

static const Option optionTable[] = {
    {"--steps", "N", "training steps, or batches to evaluate (default 1)",
     [](RankOptions &o, string_view v) {
       return parseInteger<int64_t>(v, 1, o.steps);
     }},
    {"--data", "FILE",
     "samples: [INPUT=]FILE.npy, or tokens: FILE.bin or a "
     "text; repeat for more inputs",
     parseData},
    {"--token-dtype", "T", "type of a .bin file: uint16 (default) or int32",
     parseTokenDtype},
    {"--shuffle", nullptr, "permute the samples, by seed and epoch",
     [](RankOptions &o, string_view) { return o.data.shuffle = true; }},
    {"--seed", "S", "seed of the sample order and of dropout (default 0)",
     [](RankOptions &o, string_view v) {
       return parseInteger<uint64_t>(v, 0, o.data.seed);
     }},
    {"--eval", nullptr, "only run forwards, and report the loss",
     [](RankOptions &o, string_view) { return o.eval = true; }},
    {"--save-outputs", "DIR", "with --eval: write the model's outputs as .npy",
     [](RankOptions &o, string_view v) {
       o.saveOutputs = v;
       return !v.empty();
     }},
    {"--lr", "X", "learning rate (default 0.001)",
     [](RankOptions &o, string_view v) {
       return parseReal(v, 0, o.learningRate);
     }},
    {"--lr-schedule", "KIND",
     "constant (default), cosine or linear, falling "
     "to 0; with ',warmup=N' rising for N steps first",
     [](RankOptions &o, string_view v) {
       return parseSchedule(v, o.schedule);
     }},
    {"--weight-decay", "X", "default 0.01 for AdamW, 0 for SGD",
     [](RankOptions &o, string_view v) {
       return parseOptional(v, o.weightDecay);
     }},
    {"--no-decay-1d", nullptr, "no weight decay of rank-1 parameters",
     [](RankOptions &o, string_view) { return o.noDecay1d = true; }},
    {"--momentum", "X", "of SGD (default 0)",
     [](RankOptions &o, string_view v) {
       return parseOptional(v, o.momentum);
     }},
    {"--beta1", "X", "of AdamW (default 0.9)",
     [](RankOptions &o, string_view v) { return parseOptional(v, o.beta1); }},
    {"--beta2", "X", "of AdamW (default 0.999)",
     [](RankOptions &o, string_view v) { return parseOptional(v, o.beta2); }},
    {"--eps", "X", "of AdamW (default 1e-8)",
     [](RankOptions &o, string_view v) { return parseOptional(v, o.epsilon); }},
    {"--clip-grad-norm", "X",
     "scale gradients down to this norm (default 0: never)",
     [](RankOptions &o, string_view v) {
       return parseReal(v, 0, o.clipGradNorm);
     }},
    {"--loss-scale", "X",
     "factor of the gradients in the backward pass (default 1), or 'dynamic', "
     "found by skipping steps that overflow; ',init=N' (65536) and "
     "',growth-interval=N' (2000 steps) may follow",
     [](RankOptions &o, string_view v) {
       return parseLossScale(v, o.lossScale);
     }},
    {"--fail-on-nan", nullptr,
     "stop with status 13 when the loss or the "
     "gradient norm is not finite",
     [](RankOptions &o, string_view) { return o.failOnNan = true; }},
    {"--skip-nan", nullptr,
     "on all ranks, leave out the update of a step whose loss or gradient norm "
     "is not finite",
     [](RankOptions &o, string_view) { return o.skipNan = true; }},
    {"--weights", "FILE", "initial parameters (default: those of the build)",
     [](RankOptions &o, string_view v) {
       o.weights = v;
       return !v.empty();
     }},
    {"--save-parameters", "FILE", "write the final parameters as safetensors",
     [](RankOptions &o, string_view v) {
       o.saveParameters = v;
       return !v.empty();
     }},
    {"--log", "FORMAT", "text (default) or jsonl", parseLogFormat},
    {"--log-file", "F", "write the log to F instead of to stdout",
     [](RankOptions &o, string_view v) {
       o.logFile = v;
       return !v.empty();
     }},
    {"--trace", "F.json", "write the measured actions as a Chrome trace",
     [](RankOptions &o, string_view v) {
       o.traceFile = v;
       return !v.empty();
     }},
    {"--report", "F.json", "write the memory of each rank",
     [](RankOptions &o, string_view v) {
       o.reportFile = v;
       return !v.empty();
     }},
    {"--cuda-graph", nullptr,
     "record the work of a step once, and launch it as one graph",
     [](RankOptions &o, string_view) { return o.cudaGraph = true; }},
    {"--transport", "KIND",
     "what ranks are: processes (default); threads of the executable of rank "
     "0, each with a device, or local, which share one",
     parseTransport},
    {"--timeout", "SECONDS",
     "stop with status 11 after so long without "
     "progress (default 300)",
     [](RankOptions &o, string_view v) {
       return parseReal(v, 0, o.timeoutSeconds) && o.timeoutSeconds > 0;
     }},
};

static Status usageError(std::string message) {
  return Status::error(ExitCode::Usage, std::move(message));
}

static const Option *findOption(string_view name) {
  for (const Option &option : optionTable)
    if (name == option.name)
      return &option;
  return nullptr;
}

/// Checks that belong to several options together.
static Status checkOptions(const RankOptions &options,
                           PprtOptimizer optimizer) {
  if (optimizer != PPRT_SGD && options.momentum)
    return usageError("option '--momentum' is of SGD, and this was built "
                      "with '--optimizer adamw'");
  if (optimizer != PPRT_ADAMW &&
      (options.beta1 || options.beta2 || options.epsilon))
    return usageError("options '--beta1', '--beta2' and '--eps' are of AdamW, "
                      "and this was built with '--optimizer sgd'");
  for (const std::optional<double> &beta : {options.beta1, options.beta2})
    if (beta && *beta >= 1)
      return usageError("options '--beta1' and '--beta2' must be below 1");
  return Status();
}

static Status readEnvironment(RankOptions &options) {
  const char *seed = getenv("PIPEWRIGHT_FUZZ_DELAY");
  if (!seed)
    return Status();
  if (!parseInteger<uint64_t>(seed, 0, options.fuzzSeed.emplace()))
    return usageError("the environment variable PIPEWRIGHT_FUZZ_DELAY cannot "
                      "be '" +
                      std::string(seed) + "': it is the seed of random delays");
  return Status();
}

Status pprt::parseOptions(int argc, const char *const *argv,
                          PprtOptimizer optimizer, CommandLine &result) {
  for (int i = 1; i < argc; ++i) {
    string_view argument = argv[i];
    if (argument == "--help" || argument == "-h") {
      result.help = true;
      return Status();
    }
    size_t equals = argument.find('=');
    string_view name = argument.substr(0, equals);
    const Option *option = findOption(name);
    if (!option)
      return usageError("unknown option '" + std::string(name) +
                        "'; see --help");
    string_view value;
    if (!option->value) {
      if (equals != string_view::npos)
        return usageError("option '" + std::string(name) + "' takes no value");
    } else if (equals != string_view::npos) {
      value = argument.substr(equals + 1);
    } else if (i + 1 < argc) {
      value = argv[++i];
    } else {
      return usageError("option '" + std::string(name) + "' needs a value");
    }
    if (!option->parse(result.options, value))
      return usageError("option '" + std::string(name) + "' cannot be '" +
                        std::string(value) + "': " + option->help);
  }
  if (Status status = readEnvironment(result.options); status.failed())
    return status;
  return checkOptions(result.options, optimizer);
}

std::string pprt::getHelp(const std::string &program) {
  std::string text =
      "One rank of a pipeline-parallel training program.\n\n"
      "usage: " +
      program +
      " [options], on each rank, under an MPI launcher\n"
      "example: mpirun -n 4 DIR/launch --data corpus.txt --steps 100 "
      "--lr 3e-4 --lr-schedule cosine,warmup=10\n\noptions:\n";
  for (const Option &option : optionTable) {
    std::string line = std::string("  ") + option.name;
    if (option.value)
      line += std::string(" ") + option.value;
    line.resize(std::max<size_t>(line.size() + 2, 26), ' ');
    text += line + option.help + "\n";
  }
  text += "  --help                  this text\n\n"
          "environment: PIPEWRIGHT_FUZZ_DELAY=SEED delays actions at random,\n"
          "PIPEWRIGHT_TF32=1 rounds operands of f32 products on GPUs,\n"
          "PIPEWRIGHT_EPILOGUES=library or kernels says who computes what "
          "follows them\n\n"
          "exit status: 0 done, 2 wrong options, 3 bad data or configuration, "
          "10 a peer was lost,\n11 no progress, 12 a GPU failed, 13 numeric "
          "failure, 14 ranks do not belong together\n";
  return text;
}
