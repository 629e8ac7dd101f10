//===- Dataset.cpp - The samples a run trains on --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InputSource.h"
#include "Permutation.h"
#include "core/Random.h"
#include "pprt/Data.h"

#include <algorithm>
#include <string_view>
#include <unistd.h>

using namespace pprt;

InputSpec pprt::makeInputSpec(const PprtInput &input) {
  InputSpec spec;
  spec.name = input.tensor.name;
  spec.dtype = static_cast<PprtDtype>(input.tensor.dtype);
  spec.shape.assign(input.tensor.shape, input.tensor.shape + input.tensor.rank);
  spec.axis = input.axis;
  spec.labelClasses = input.labelClasses;
  spec.ignoreIndex = input.ignoreIndex;
  spec.indexLimit = input.indexLimit;
  spec.read = input.read != 0;
  return spec;
}

namespace {
/// Finds a source for each input.
class SourceFinder {
public:
  SourceFinder(const DataOptions &options, const std::vector<InputSpec> &inputs,
               const BatchShape &batch)
      : options(options), inputs(inputs), batch(batch), sources(inputs.size()) {
  }

  Status find();
  std::vector<std::unique_ptr<InputSource>> takeSources() {
    return std::move(sources);
  }

private:
  Status openNamed(const std::string &text, bool &named);
  Status openTokens(const std::string &path);
  Status openUnnamed(const std::string &path);
  Status checkAllFound() const;
  const InputSpec *findTokenInput() const;
  std::string listInputs() const;

  const DataOptions &options;
  const std::vector<InputSpec> &inputs;
  const BatchShape &batch;
  std::vector<std::unique_ptr<InputSource>> sources;
};
} // namespace

static bool endsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() &&
         text.substr(text.size() - end.size()) == end;
}

static std::string quote(const std::string &name) { return "'" + name + "'"; }

std::string SourceFinder::listInputs() const {
  std::string text;
  for (const InputSpec &input : inputs)
    text += (text.empty() ? "" : ", ") + quote(input.name);
  return text;
}

/// INPUT=FILE. An input's name may hold `=`, so names are tried, not cut off.
Status SourceFinder::openNamed(const std::string &text, bool &named) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::string prefix = inputs[i].name + "=";
    if (text.compare(0, prefix.size(), prefix) != 0)
      continue;
    named = true;
    if (sources[i])
      return Status::dataError("input " + quote(inputs[i].name) +
                               " has two files; give it one --data");
    return openNpySource(text.substr(prefix.size()), inputs[i],
                         batch.microbatchSize, sources[i]);
  }
  size_t equals = text.find('=');
  if (equals != std::string::npos && access(text.c_str(), F_OK) != 0)
    return Status::dataError("no input " + quote(text.substr(0, equals)) +
                             " for '--data " + text + "'; the inputs are " +
                             listInputs());
  return Status();
}

static bool isIntegerOrBool(PprtDtype dtype) { return dtype >= PPRT_I8; }

/// Parts of a window that inputs get by their usual names.
static bool findPartByName(const std::string &name, WindowPart &part) {
  if (name == "position_ids")
    part = WindowPart::Positions;
  else if (name == "attention_mask")
    part = WindowPart::Ones;
  else if (name == "token_type_ids")
    part = WindowPart::Zeros;
  else
    return false;
  return true;
}

/// The first [samples, length] input of integers that is nothing else.
const InputSpec *SourceFinder::findTokenInput() const {
  for (size_t i = 0; i < inputs.size(); ++i) {
    WindowPart part;
    const InputSpec &input = inputs[i];
    if (!sources[i] && input.shape.size() == 2 && input.axis == 0 &&
        input.dtype >= PPRT_I16 && input.dtype <= PPRT_I64 &&
        input.labelClasses == 0 && input.shape[0] == batch.microbatchSize &&
        !findPartByName(input.name, part))
      return &input;
  }
  return nullptr;
}

Status SourceFinder::openTokens(const std::string &path) {
  PprtDtype dtype = endsWith(path, ".bin") ? options.tokenDtype : PPRT_I8;
  std::shared_ptr<TokenFile> file;
  if (Status status = TokenFile::open(path, dtype, file); status.failed())
    return status;
  const InputSpec *tokens = findTokenInput();
  if (!tokens)
    return Status::dataError("no input can take the tokens of " + quote(path) +
                             ": none has integers of shape [samples, length]; "
                             "give each input a file with --data INPUT=FILE");
  int64_t length = tokens->shape[1];
  for (size_t i = 0; i < inputs.size(); ++i) {
    const InputSpec &input = inputs[i];
    WindowPart part = WindowPart::Tokens;
    bool fits = isIntegerOrBool(input.dtype) && input.axis == 0 &&
                countElements(input.shape) == length * batch.microbatchSize;
    if (sources[i] || !fits)
      continue;
    if (input.labelClasses != 0)
      part = WindowPart::NextTokens;
    else if (&input != tokens && !findPartByName(input.name, part))
      continue;
    sources[i] = createWindowSource(file, input, part, length);
  }
  return Status();
}

Status SourceFinder::openUnnamed(const std::string &path) {
  if (!endsWith(path, ".npy"))
    return openTokens(path);
  size_t free = std::count(sources.begin(), sources.end(), nullptr);
  if (free != 1)
    return Status::dataError("'--data " + path +
                             "' does not say for which input it is; write "
                             "--data INPUT=" +
                             path + " with one of " + listInputs());
  size_t i =
      std::find(sources.begin(), sources.end(), nullptr) - sources.begin();
  return openNpySource(path, inputs[i], batch.microbatchSize, sources[i]);
}

Status SourceFinder::checkAllFound() const {
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!sources[i] && inputs[i].read)
      return Status::dataError(
          "input " + quote(inputs[i].name) + " (" +
          getDtypeName(inputs[i].dtype) + ", " + formatShape(inputs[i].shape) +
          " a micro-batch) has no data; give it with --data " + inputs[i].name +
          "=FILE.npy");
  return Status();
}

Status SourceFinder::find() {
  std::vector<std::string> unnamed;
  for (const std::string &text : options.files) {
    bool named = false;
    if (Status status = openNamed(text, named); status.failed())
      return status;
    if (!named)
      unnamed.push_back(text);
  }
  for (const std::string &path : unnamed)
    if (Status status = openUnnamed(path); status.failed())
      return status;
  return checkAllFound();
}

Dataset::Dataset(const DataOptions &options, const BatchShape &batch)
    : options(options), batch(batch) {}

Dataset::~Dataset() = default;

Status Dataset::checkCounts() {
  const InputSource *first = nullptr;
  for (const std::unique_ptr<InputSource> &source : sources) {
    if (!source || source->getSampleCount() < 0)
      continue;
    int64_t count = source->getSampleCount();
    if (first && count != sampleCount)
      return Status::dataError(quote(first->getFile()) + " has " +
                               std::to_string(sampleCount) + " samples, but " +
                               quote(source->getFile()) + " has " +
                               std::to_string(count));
    if (!first)
      first = source.get();
    sampleCount = count;
  }
  // Any other number does: the sequence of samples wraps around.
  if (first && sampleCount == 0)
    return Status::dataError(quote(first->getFile()) +
                             " is too short for even one sample");
  return Status();
}

Status Dataset::open(const DataOptions &options,
                     const std::vector<InputSpec> &inputs,
                     const BatchShape &batch,
                     std::unique_ptr<Dataset> &result) {
  SourceFinder finder(options, inputs, batch);
  if (Status status = finder.find(); status.failed())
    return status;
  result.reset(new Dataset(options, batch));
  result->sources = finder.takeSources();
  if (Status status = result->checkCounts(); status.failed())
    return status;
  // What no task here reads was opened for its count only.
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!inputs[i].read)
      result->sources[i].reset();
  return Status();
}

Status Dataset::validate(int64_t steps) const {
  int64_t used = sampleCount;
  int64_t global = batch.getGlobalBatch();
  if (!options.shuffle && steps < sampleCount / global + 1)
    used = std::min(sampleCount, steps * global);
  for (const std::unique_ptr<InputSource> &source : sources)
    if (source)
      if (Status status = source->validate(used); status.failed())
        return status;
  return Status();
}

int64_t Dataset::getSample(int64_t position) const {
  if (sampleCount <= 0)
    return 0;
  int64_t epoch = position / sampleCount;
  int64_t index = position % sampleCount;
  if (options.shuffle)
    index = permute(index, sampleCount, mix(options.seed, epoch));
  return index;
}

void Dataset::fill(size_t input, int64_t step, int64_t microbatch,
                   void *destination) const {
  int64_t first =
      (step * batch.microbatches + microbatch) * batch.microbatchSize;
  for (int64_t i = 0; i < batch.microbatchSize; ++i)
    sources[input]->copy(getSample(first + i), i,
                         static_cast<uint8_t *>(destination));
}
