//===- FakeRank.h - A rank as the compiler would make it --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Descriptors of small models, for tests of the runtime without the compiler.
//
// `chain`: layer i multiplies its input, of shape [1, width], by the scalar
// parameter `wi`; the loss is the mean squared error to the input `target`.
// One stage a layer. The gradient of the loss is the loss scale.
//
// `tied`: two layers with one parameter of two elements; each adds 10 to the
// gradient of each element.
//
// `experts`: replicas in groups, each of which has one number of the parameter
// `expert` and all of `factor`, one for each expert. Expert e multiplies the
// inputs of all replicas of the group, times number e of `factor`; what all
// experts make of an input is added up. One layer and one rank a pipeline.
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_TEST_FAKERANK_H
#define PPRT_TEST_FAKERANK_H

#include "pprt/Descriptor.h"

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

struct FakeSpec {
  std::string model = "chain";
  int64_t ranks = 1;    ///< of a pipeline
  int64_t replicas = 1; ///< pipelines
  int64_t group = 1;    ///< pipelines that share experts
  int64_t layers = 2;
  int64_t microbatches = 1;
  int64_t width = 1;
  int64_t slots = 0;     ///< of what is sent; 0: one per micro-batch
  int64_t shapedAsV = 0; ///< 1: the last stages run back to rank 0
  int64_t adamw = 0;
  int64_t dieRank = -1;      ///< this rank kills itself ...
  int64_t hangRank = -1;     ///< ... this one does nothing any more ...
  int64_t overflowRank = -1; ///< ... this one makes infinite gradients ...
  int64_t failStep = 2;      ///< ... in this step
  int64_t halfRank = -1;     ///< gradients above 65504 are infinite, as in f16
  int64_t slowRank = -1;     ///< sleeps before each task
  int64_t otherPlanRank = -1;
  int64_t early = 0;     ///< 1: rank 0 posts a receive before it sends
  int64_t crossed = 0;   ///< 1: rank 0 wants a gradient before it sends
  int64_t rankShift = 0; ///< rank r runs what is built for r + shift
};

/// Parses `model=tied,ranks=2,…`; exits on an unknown name.
FakeSpec parseFakeSpec(const std::string &text);

/// Owns all that the descriptor points to. One per process: `step` and `eval`
/// take no argument that says whose they are.
class FakeRank {
public:
  /// \p rank of pipeline \p replica.
  FakeRank(const FakeSpec &spec, uint32_t rank, uint32_t replica);
  const PprtDescriptor &getDescriptor() const { return descriptor; }
  /// What a task adds to a gradient: the number, or infinity if the
  /// specification says so.
  static float limit(float gradient);

  struct Action {
    void (*call)(PprtContext *, uint32_t, uint32_t);
    uint32_t index;
    uint32_t microbatch;
  };

private:
  struct Stage {
    uint32_t rank;
    uint32_t forward, backward; ///< tasks
    int64_t activation = -1;    ///< channel from the stage before, local index
    int64_t gradient = -1;      ///< channel from the stage after
    uint32_t input;             ///< buffer
  };

  uint64_t allocate(uint64_t bytes);
  PprtTensor makeTensor(const std::string &name, std::vector<int64_t> shape,
                        PprtDtype dtype = PPRT_F32);
  uint32_t addBuffer(PprtBufferKind kind, uint64_t bytes, int64_t index,
                     int64_t slots = 0);
  PprtBinding bindBuffer(uint32_t buffer) const;
  void addTask(const std::string &name, PprtRole role, uint32_t stage,
               PprtTaskFunction function, std::vector<PprtBinding> bindings);
  void addInputs();
  void addParameters();
  void addParameter(const std::string &name, std::vector<int64_t> shape,
                    uint32_t order, const std::vector<uint32_t> &layers);
  int64_t addChannel(PprtChannelKind kind, uint32_t source, uint32_t target);
  void addChannels();
  uint32_t addExchange();
  void addExpertTasks();
  void addExpertProgram();
  void addChainTasks();
  void addTiedTasks();
  void addProgram();
  void setFaults();
  void addForwards(std::vector<Action> &program);
  void addBackwards(std::vector<Action> &program);
  void finishDescriptor();
  bool isMine(uint32_t stage) const { return stages[stage].rank == rank; }

  FakeSpec spec;
  uint32_t rank;
  uint32_t process; ///< among all
  PprtDescriptor descriptor = {};
  uint64_t arenaBytes = 0;
  std::vector<Action> stepProgram, evalProgram;
  uint32_t lossSum = 0, lossWeight = 0, lossScale = 0, prediction = UINT32_MAX,
           target = 0;
  std::vector<Stage> stages;
  std::vector<PprtParameter> parameters;
  std::vector<PprtBuffer> buffers;
  std::vector<PprtChannel> channels;
  std::vector<PprtExchange> exchanges;
  std::vector<PprtTask> tasks;
  std::vector<PprtInput> inputs;
  std::vector<PprtOutput> outputs;
  std::deque<std::string> names;
  std::deque<std::vector<int64_t>> shapes;
  std::deque<std::vector<uint16_t>> slotTables;
  std::deque<std::vector<uint64_t>> offsetTables;
  std::deque<std::vector<PprtBinding>> bindings;
  std::deque<std::vector<PprtContribution>> contributions;
  std::vector<int64_t> parameterOfStage; ///< local index
};

#endif // PPRT_TEST_FAKERANK_H
