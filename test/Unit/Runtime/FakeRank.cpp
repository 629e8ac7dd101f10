//===- FakeRank.cpp - A rank as the compiler would make it ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeRank.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <signal.h>
#include <unistd.h>

FakeSpec parseFakeSpec(const std::string &text) {
  FakeSpec spec;
  std::map<std::string, int64_t *> fields = {
      {"ranks", &spec.ranks},
      {"replicas", &spec.replicas},
      {"group", &spec.group},
      {"layers", &spec.layers},
      {"microbatches", &spec.microbatches},
      {"width", &spec.width},
      {"slots", &spec.slots},
      {"v", &spec.shapedAsV},
      {"adamw", &spec.adamw},
      {"die", &spec.dieRank},
      {"hang", &spec.hangRank},
      {"overflow", &spec.overflowRank},
      {"step", &spec.failStep},
      {"half", &spec.halfRank},
      {"slow", &spec.slowRank},
      {"early", &spec.early},
      {"crossed", &spec.crossed},
      {"other-plan", &spec.otherPlanRank},
      {"shift", &spec.rankShift}};
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find(',', begin), text.size());
    std::string item = text.substr(begin, end - begin);
    std::string name = item.substr(0, item.find('='));
    std::string value = item.substr(item.find('=') + 1);
    begin = end + 1;
    if (name == "model") {
      spec.model = value;
    } else if (auto it = fields.find(name); it != fields.end()) {
      *it->second = std::stoll(value);
    } else {
      fprintf(stderr, "unknown '%s'\n", name.c_str());
      exit(1);
    }
  }
  return spec;
}

//===----------------------------------------------------------------------===//
// What a compiled object has: functions without an argument for the model
//===----------------------------------------------------------------------===//

static int64_t width;
static int64_t pauseMicroseconds;
static std::vector<FakeRank::Action> stepProgram, evalProgram;
static std::vector<uint32_t> reduced; ///< parameters, over replicas
static int64_t dieStep, hangStep, overflowStep;
static float largestGradient;
/// Of a replica, which may be a thread.
static thread_local int64_t stepsBegun;

static float *getFloats(void *const *pointers, int index) {
  return static_cast<float *>(pointers[index]);
}

static void sleepIfSlow() {
  if (pauseMicroseconds != 0)
    usleep(pauseMicroseconds);
}

// (input, w) -> output
static void runForward(void *const *pointers) {
  sleepIfSlow();
  float w = *getFloats(pointers, 1);
  for (int64_t i = 0; i < width; ++i)
    getFloats(pointers, 2)[i] = w * getFloats(pointers, 0)[i];
}

// (input, w, target) -> prediction, loss sum, loss weight
static void runLastForward(void *const *pointers) {
  sleepIfSlow();
  float w = *getFloats(pointers, 1);
  float sum = 0;
  for (int64_t i = 0; i < width; ++i) {
    float prediction = w * getFloats(pointers, 0)[i];
    getFloats(pointers, 3)[i] = prediction;
    float error = prediction - getFloats(pointers, 2)[i];
    sum += error * error;
  }
  *getFloats(pointers, 4) = sum;
  *getFloats(pointers, 5) = static_cast<float>(width);
}

float FakeRank::limit(float gradient) {
  bool overflows = gradient > largestGradient || stepsBegun == overflowStep;
  return overflows ? INFINITY : gradient;
}

static void addGradients(const float *input, float w, float dy, int64_t i,
                         float *dw, float *dx) {
  *dw += FakeRank::limit(dy * input[i]);
  if (dx)
    dx[i] = dy * w;
}

// (input, w, dy) -> dw, dx; without dx on the first stage
static void runBackward(void *const *pointers) {
  for (int64_t i = 0; i < width; ++i)
    addGradients(getFloats(pointers, 0), *getFloats(pointers, 1),
                 getFloats(pointers, 2)[i], i, getFloats(pointers, 3),
                 getFloats(pointers, 4));
}
static void runFirstBackward(void *const *pointers) {
  for (int64_t i = 0; i < width; ++i)
    addGradients(getFloats(pointers, 0), *getFloats(pointers, 1),
                 getFloats(pointers, 2)[i], i, getFloats(pointers, 3), nullptr);
}

// (input, w, target, scale) -> dw, dx; without dx if it is the first stage as
// well
static void runLossBackward(void *const *pointers, float *dx) {
  float w = *getFloats(pointers, 1);
  for (int64_t i = 0; i < width; ++i) {
    float dy = *getFloats(pointers, 3) * 2 *
               (w * getFloats(pointers, 0)[i] - getFloats(pointers, 2)[i]);
    addGradients(getFloats(pointers, 0), w, dy, i, getFloats(pointers, 4), dx);
  }
}
static void runLastBackward(void *const *pointers) {
  runLossBackward(pointers, getFloats(pointers, 5));
}
static void runOnlyBackward(void *const *pointers) {
  runLossBackward(pointers, nullptr);
}

// (input) -> output
static void copyInput(void *const *pointers) {
  *getFloats(pointers, 1) = *getFloats(pointers, 0);
}
// (input) -> loss sum, loss weight
static void makeUnitLoss(void *const *pointers) {
  *getFloats(pointers, 1) = *getFloats(pointers, 0);
  *getFloats(pointers, 2) = 1;
}
// () -> dw, dx
static void addTen(void *const *pointers) {
  getFloats(pointers, 0)[0] += 10;
  getFloats(pointers, 0)[1] += 10;
}

static void runProgram(PprtContext *context,
                       const std::vector<FakeRank::Action> &program) {
  ++stepsBegun;
  if (stepsBegun == dieStep)
    raise(SIGKILL);
  while (stepsBegun == hangStep)
    pause();
  for (const FakeRank::Action &action : program)
    action.call(context, action.index, action.microbatch);
}
static void runStep(PprtContext *context) {
  runProgram(context, stepProgram);
  if (!reduced.empty())
    pprtAllReduce(context, reduced.data(), reduced.size());
  pprtUpdate(context);
}
static void runEval(PprtContext *context) { runProgram(context, evalProgram); }

//===----------------------------------------------------------------------===//
// The descriptor
//===----------------------------------------------------------------------===//

FakeRank::FakeRank(const FakeSpec &spec, uint32_t rank, uint32_t replica)
    : spec(spec), rank(rank), process(replica * spec.ranks + rank) {
  if (spec.model == "tied")
    this->spec.layers = 2;
  if (spec.model == "experts")
    this->spec.layers = 1;
  uint32_t layers = this->spec.layers;
  for (uint32_t i = 0; i < layers; ++i) {
    uint32_t half = layers / 2;
    stages.emplace_back();
    stages.back().rank = i * spec.ranks / layers;
    if (spec.shapedAsV)
      stages.back().rank = std::min(i, layers - 1 - i) * spec.ranks / half;
  }
  parameterOfStage.resize(layers, -1);
  addInputs();
  addParameters();
  addChannels();
  if (isMine(layers - 1)) {
    lossSum = addBuffer(PPRT_BUFFER_LOSS_SUM, 4, 0);
    lossWeight = addBuffer(PPRT_BUFFER_LOSS_WEIGHT, 4, 0);
    lossScale = addBuffer(PPRT_BUFFER_LOSS_SCALE, 4, 0, /*slots=*/1);
    prediction = addBuffer(PPRT_BUFFER_OUTPUT, spec.width * 4, 0);
  }
  if (spec.model == "experts") {
    addExpertTasks();
    addExpertProgram();
  } else {
    spec.model == "tied" ? addTiedTasks() : addChainTasks();
    addProgram();
  }
  setFaults();
  finishDescriptor();
}

uint64_t FakeRank::allocate(uint64_t bytes) {
  uint64_t offset = arenaBytes;
  arenaBytes += (bytes + 63) / 64 * 64;
  return offset;
}

PprtTensor FakeRank::makeTensor(const std::string &name,
                                std::vector<int64_t> shape, PprtDtype dtype) {
  names.push_back(name);
  shapes.push_back(std::move(shape));
  uint64_t bytes = 4;
  for (int64_t extent : shapes.back())
    bytes *= extent;
  return {names.back().c_str(), static_cast<uint32_t>(dtype),
          static_cast<uint32_t>(shapes.back().size()), shapes.back().data(),
          bytes};
}

uint32_t FakeRank::addBuffer(PprtBufferKind kind, uint64_t bytes, int64_t index,
                             int64_t slots) {
  if (slots == 0)
    slots = spec.microbatches;
  slotTables.emplace_back();
  for (int64_t i = 0; i < spec.microbatches; ++i)
    slotTables.back().push_back(i % slots);
  offsetTables.emplace_back();
  for (int64_t slot = 0; slot < slots; ++slot)
    offsetTables.back().push_back(allocate(bytes));
  buffers.push_back({static_cast<uint32_t>(kind), static_cast<uint32_t>(slots),
                     offsetTables.back().data(), bytes,
                     slotTables.back().data(), /*evalSlot=*/0, index});
  return buffers.size() - 1;
}

PprtBinding FakeRank::bindBuffer(uint32_t buffer) const {
  return {PPRT_BIND_BUFFER, buffer, 0};
}

void FakeRank::addTask(const std::string &name, PprtRole role, uint32_t stage,
                       PprtTaskFunction function,
                       std::vector<PprtBinding> list) {
  names.push_back(name);
  bindings.push_back(std::move(list));
  tasks.push_back({names.back().c_str(), static_cast<uint32_t>(role), stage,
                   function, static_cast<uint32_t>(bindings.back().size()),
                   bindings.back().data()});
}

void FakeRank::addInputs() {
  const char *inputNames[] = {"x", "target"};
  for (int i = 0; i < 2; ++i) {
    bool read = i == 0 ? isMine(0) : isMine(spec.layers - 1);
    PprtInput input = {};
    input.tensor = makeTensor(inputNames[i], {1, spec.width});
    input.read = read;
    inputs.push_back(input);
    if (!read)
      continue;
    uint32_t buffer = addBuffer(PPRT_BUFFER_INPUT, spec.width * 4, i);
    if (i == 0)
      stages[0].input = buffer;
    else
      target = buffer;
  }
}

void FakeRank::addParameter(const std::string &name, std::vector<int64_t> shape,
                            uint32_t order,
                            const std::vector<uint32_t> &layers) {
  PprtParameter parameter = {};
  parameter.tensor = makeTensor(name, std::move(shape));
  uint64_t bytes = parameter.tensor.bytes;
  parameter.trainable = 1;
  parameter.shards = 1;
  parameter.order = order;
  parameter.offset = allocate(bytes);
  parameter.state[0] = allocate(bytes);
  parameter.state[1] = allocate(bytes);
  parameter.owner = stages[layers[0]].rank;
  contributions.emplace_back();
  bool found = false;
  for (uint32_t layer : layers) {
    PprtContribution contribution = {stages[layer].rank, layer, 0};
    if (isMine(layer) || parameter.owner == rank) {
      contribution.offset = allocate(bytes);
      if (!found)
        parameter.gradient = contribution.offset;
      found = true;
    }
    contributions.back().push_back(contribution);
    if (isMine(layer))
      parameterOfStage[layer] = parameters.size();
  }
  parameter.contributionCount = layers.size();
  parameter.contributions = contributions.back().data();
  parameters.push_back(parameter);
}

void FakeRank::addParameters() {
  if (spec.model == "tied") {
    addParameter("shared", {2}, 0, {0, 1});
    return;
  }
  if (spec.model == "experts") {
    addParameter("expert", {1}, 0, {0});
    parameters[0].shards = spec.group;
    addParameter("factor", {spec.group}, 1, {0});
    return;
  }
  for (uint32_t i = 0; i < spec.layers; ++i)
    if (isMine(i))
      addParameter("w" + std::to_string(i), {1}, i, {i});
}

int64_t FakeRank::addChannel(PprtChannelKind kind, uint32_t source,
                             uint32_t target) {
  if (!isMine(source) && !isMine(target))
    return -1;
  PprtChannel channel = {};
  const char *prefix = kind == PPRT_ACTIVATION ? "a." : "g.";
  channel.tensor = makeTensor(prefix + std::to_string(source), {1, spec.width});
  channel.name = channel.tensor.name;
  channel.kind = kind;
  channel.id = 2 * source + kind;
  channel.source = stages[source].rank;
  channel.target = stages[target].rank;
  channel.sourceStage = source;
  channel.targetStage = target;
  int64_t slots = isMine(target) ? 0 : spec.slots;
  channel.buffer =
      addBuffer(PPRT_BUFFER_CHANNEL, spec.width * 4, channels.size(), slots);
  channels.push_back(channel);
  return channels.size() - 1;
}

void FakeRank::addChannels() {
  for (uint32_t i = 1; i < stages.size(); ++i) {
    stages[i].activation = addChannel(PPRT_ACTIVATION, i - 1, i);
    stages[i - 1].gradient = addChannel(PPRT_GRADIENT, i, i - 1);
    if (stages[i].activation >= 0)
      stages[i].input = channels[stages[i].activation].buffer;
  }
}

void FakeRank::addChainTasks() {
  for (uint32_t i = 0; i < stages.size(); ++i) {
    if (!isMine(i))
      continue;
    bool first = i == 0, last = i + 1 == stages.size();
    Stage &stage = stages[i];
    const PprtParameter &parameter = parameters[parameterOfStage[i]];
    std::vector<PprtBinding> forward = {
        bindBuffer(stage.input),
        {PPRT_BIND_PARAMETER, uint32_t(parameterOfStage[i]), 0}};
    std::vector<PprtBinding> backward = forward;
    if (last) {
      for (uint32_t buffer : {target, prediction, lossSum, lossWeight})
        forward.push_back(bindBuffer(buffer));
      backward.push_back(bindBuffer(target));
      backward.push_back(bindBuffer(lossScale));
    } else {
      forward.push_back(bindBuffer(channels[stages[i + 1].activation].buffer));
      backward.push_back(bindBuffer(channels[stage.gradient].buffer));
    }
    backward.push_back({PPRT_BIND_GRADIENT, 0, parameter.gradient});
    if (!first)
      backward.push_back(bindBuffer(channels[stages[i - 1].gradient].buffer));
    stage.forward = tasks.size();
    std::string name = "s" + std::to_string(i);
    addTask(name + ".f", PPRT_ROLE_F, i, last ? runLastForward : runForward,
            forward);
    stage.backward = tasks.size();
    PprtTaskFunction function = last ? runLastBackward : runBackward;
    if (first)
      function = last ? runOnlyBackward : runFirstBackward;
    addTask(name + ".bw", PPRT_ROLE_BW, i, function, backward);
  }
}

void FakeRank::addTiedTasks() {
  for (uint32_t i = 0; i < 2; ++i) {
    if (!isMine(i))
      continue;
    const PprtParameter &parameter = parameters[0];
    uint64_t accumulator = parameter.contributions[i].offset;
    std::vector<PprtBinding> forward = {bindBuffer(stages[i].input)};
    std::vector<PprtBinding> backward = {{PPRT_BIND_GRADIENT, 0, accumulator}};
    if (i == 0) {
      forward.push_back(bindBuffer(channels[stages[1].activation].buffer));
    } else {
      forward.push_back(bindBuffer(lossSum));
      forward.push_back(bindBuffer(lossWeight));
    }
    stages[i].forward = tasks.size();
    addTask("s" + std::to_string(i) + ".f", PPRT_ROLE_F, i,
            i == 0 ? copyInput : makeUnitLoss, forward);
    stages[i].backward = tasks.size();
    addTask("s" + std::to_string(i) + ".bw", PPRT_ROLE_BW, i, addTen, backward);
  }
}

void FakeRank::addForwards(std::vector<Action> &program) {
  for (uint32_t mb = 0; mb < spec.microbatches; ++mb) {
    for (uint32_t i = 0; i < stages.size(); ++i) {
      if (!isMine(i))
        continue;
      if (i != 0)
        program.push_back({pprtRecv, uint32_t(stages[i].activation), mb});
      program.push_back({pprtRun, stages[i].forward, mb});
      if (i + 1 != stages.size())
        program.push_back({pprtSend, uint32_t(stages[i + 1].activation), mb});
    }
  }
}

void FakeRank::addBackwards(std::vector<Action> &program) {
  for (uint32_t mb = 0; mb < spec.microbatches; ++mb) {
    for (uint32_t i = stages.size(); i-- > 0;) {
      if (!isMine(i))
        continue;
      if (i + 1 != stages.size())
        program.push_back({pprtRecv, uint32_t(stages[i].gradient), mb});
      program.push_back({pprtRun, stages[i].backward, mb});
      if (i != 0)
        program.push_back({pprtSend, uint32_t(stages[i - 1].gradient), mb});
    }
  }
}

static bool isSend(const FakeRank::Action &action) {
  return action.call == pprtSend;
}
static bool isRecv(const FakeRank::Action &action) {
  return action.call == pprtRecv;
}

void FakeRank::addProgram() {
  addForwards(evalProgram);
  stepProgram = evalProgram;
  addBackwards(stepProgram);
  if ((spec.early || spec.crossed) && rank == 0) {
    auto send = std::find_if(stepProgram.begin(), stepProgram.end(), isSend);
    auto recv = std::find_if(stepProgram.begin(), stepProgram.end(), isRecv);
    // The task that uses it follows.
    std::rotate(send, recv, recv + (spec.crossed ? 2 : 1));
  }
}

void FakeRank::setFaults() {
  pauseMicroseconds = spec.slowRank == process ? 20000 : 0;
  dieStep = spec.dieRank == process ? spec.failStep : -1;
  hangStep = spec.hangRank == process ? spec.failStep : -1;
  overflowStep = spec.overflowRank == process ? spec.failStep : -1;
  largestGradient = spec.halfRank == process ? 65504 : INFINITY;
}

void FakeRank::finishDescriptor() {
  width = spec.width;
  ::stepProgram = stepProgram;
  ::evalProgram = evalProgram;
  for (uint32_t i = 0; i < parameters.size() && spec.replicas > 1; ++i)
    reduced.push_back(i);
  // As large as the largest parameter.
  descriptor.reductionOffset = allocate(8 * spec.group);
  outputs.push_back(
      {makeTensor("prediction", {1, spec.width}), /*axis=*/0, prediction});
  descriptor.abiVersion = PPRT_ABI_VERSION;
  descriptor.toolVersion = "test";
  descriptor.modelName = names.emplace_back(spec.model).c_str();
  descriptor.planHash[0] = spec.otherPlanRank == process;
  descriptor.rank = rank;
  descriptor.ranks = spec.ranks;
  descriptor.dataParallel = spec.replicas;
  descriptor.expertParallel = spec.group;
  descriptor.stages = stages.size();
  descriptor.microbatches = spec.microbatches;
  descriptor.microbatchSize = 1;
  descriptor.lossRank = stages.back().rank;
  descriptor.secondLossRank = descriptor.lossRank;
  descriptor.optimizer = spec.adamw ? PPRT_ADAMW : PPRT_SGD;
  descriptor.arenaBytes = arenaBytes;
  descriptor.parameterCount = parameters.size();
  descriptor.parameters = parameters.data();
  descriptor.bufferCount = buffers.size();
  descriptor.buffers = buffers.data();
  descriptor.channelCount = channels.size();
  descriptor.channels = channels.data();
  descriptor.exchangeCount = exchanges.size();
  descriptor.exchanges = exchanges.data();
  descriptor.taskCount = tasks.size();
  descriptor.tasks = tasks.data();
  descriptor.inputCount = inputs.size();
  descriptor.inputs = inputs.data();
  descriptor.outputCount = outputs.size();
  descriptor.outputs = outputs.data();
  descriptor.step = runStep;
  descriptor.eval = runEval;
}
