//===- ScheduleOptions.cpp - What schedules are asked for
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScheduleOptions.h"

using namespace llvm;
using namespace pipewright;

ScheduleOptions::ScheduleOptions(cl::SubCommand &command,
                                 cl::OptionCategory &category)
    : ranks("ranks", cl::value_desc("P"), cl::desc("Pipeline ranks"),
            cl::sub(command), cl::cat(category)),
      microbatches("microbatches", cl::value_desc("M"),
                   cl::desc("Micro-batches per step"), cl::sub(command),
                   cl::cat(category)),
      chunks("chunks", cl::value_desc("V"), cl::init(0),
             cl::desc("Stages per rank (default: what the schedule usually "
                      "has)"),
             cl::sub(command), cl::cat(category)),
      groupSize("group-size", cl::value_desc("N"), cl::init(0),
                cl::desc("Micro-batches that an interleaved schedule runs on "
                         "one chunk at a time (default: equal groups of at "
                         "least one per rank)"),
                cl::sub(command), cl::cat(category)),
      recompute("recompute",
                cl::desc("Recompute activations before each backward (R), "
                         "which takes the time of a forward"),
                cl::sub(command), cl::cat(category)),
      cost("cost", cl::CommaSeparated, cl::value_desc("f=1,b=1,w=1,comm=0,fb="),
           cl::desc("Times of a rank's whole share of one micro-batch: "
                    "forward, input gradient, weight gradient, a hop between "
                    "ranks, an overlapped pair. Also r=, a recomputation (f); "
                    "overhead=, to launch an action; bandwidth=, bytes of one "
                    "link per unit of time; message=, bytes between stages; "
                    "activation=, bytes that a share keeps"),
           cl::sub(command), cl::cat(category)),
      stageCost("stage-cost", cl::value_desc("FILE"),
                cl::desc("JSON list of {\"f\",\"b\",\"w\"}, one per stage, in "
                         "place of the f, b, w of --cost; \"r\", "
                         "\"activation_bytes\" and \"message_bytes\" may "
                         "follow"),
                cl::sub(command), cl::cat(category)),
      layout("layout", cl::value_desc("LAYOUT"),
             cl::desc("Megatron's pipeline layout, such as Et*3|(tt|)*6L: the "
                      "layers of each stage, which share --cost out"),
             cl::sub(command), cl::cat(category)),
      layerCost("layer-cost", cl::CommaSeparated, cl::value_desc("E=0,m=1,L=0"),
                cl::desc("Times of a layout's embedding, multi-token "
                         "prediction and loss in times of a decoder layer"),
                cl::sub(command), cl::cat(category)),
      memoryLimit("memory-limit", cl::value_desc("N"),
                  cl::desc("Refuse a schedule in which a rank holds the "
                           "activations of more than N micro-batches"),
                  cl::sub(command), cl::cat(category)),
      csvLetters("csv-letters",
                 cl::desc("What B is in a .csv file (default: found out by the "
                          "letters I and BW)"),
                 cl::init(CsvLetters::Auto),
                 cl::values(clEnumValN(CsvLetters::New, "new",
                                       "the full backward; I is the input "
                                       "gradient"),
                            clEnumValN(CsvLetters::Old, "old",
                                       "the input gradient, as in files of "
                                       "PyTorch before 2.6; BW is the full "
                                       "backward")),
                 cl::sub(command), cl::cat(category)),
      objective("objective",
                cl::desc("What 'auto' makes small (default makespan)"),
                cl::init(Objective::Makespan),
                cl::values(clEnumValN(Objective::Makespan, "makespan",
                                      "the time of a step"),
                           clEnumValN(Objective::Span, "span",
                                      "the time of a step on the busiest rank "
                                      "if steps overlap")),
                cl::sub(command), cl::cat(category)),
      parameterCopies("parameter-copies", cl::value_desc("N"), cl::init(2),
                      cl::desc("Copies of the parameters that 'auto' may keep: "
                               "1 leaves out schedules of two directions, "
                               "which have 2 (default 2)"),
                      cl::sub(command), cl::cat(category)),
      json("json", cl::desc("Print JSON"), cl::sub(command), cl::cat(category)),
      output("o", cl::value_desc("FILE"), cl::init("-"),
             cl::desc("Write to FILE"), cl::sub(command), cl::cat(category)) {}

ScheduleRequest ScheduleOptions::makeRequest() const {
  ScheduleRequest request(ranks, microbatches, chunks);
  request.group = groupSize;
  request.recompute = recompute;
  if (memoryLimit.getNumOccurrences())
    request.memoryLimit = memoryLimit;
  request.objective = objective;
  request.parameterCopies = parameterCopies;
  return request;
}
