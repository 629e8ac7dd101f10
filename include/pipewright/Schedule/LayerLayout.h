//===- LayerLayout.h - Megatron's pipeline layouts --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The strings of Megatron-LM's --pipeline-model-parallel-layout, such as
// `Et*3|(tt|)*29,m|L`: the layers of each stage, in the order of the model.
//
//   layout := item*
//   item   := unit | unit '*' number
//   unit   := layer | '|' | '(' item* ')'       groups do not nest
//   layer  := 'E' embedding | 't' decoder layer | 'm' multi-token prediction
//           | 'L' loss
//
// '|' ends a stage, a group stands only before '*', and commas mean nothing.
// With P ranks, Megatron puts stage s on rank s mod P.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_SCHEDULE_LAYERLAYOUT_H
#define PIPEWRIGHT_SCHEDULE_LAYERLAYOUT_H

#include "pipewright/Schedule/Simulator.h"

#include "llvm/Support/Error.h"

namespace pipewright {

struct LayerLayout {
  /// Per stage the letters of its layers, `Ettt`; a stage may be empty.
  std::vector<std::string> stages;

  int64_t getStages() const { return stages.size(); }
  bool operator==(const LayerLayout &other) const {
    return stages == other.stages;
  }
};

/// Reads a layout. Refuses, as Megatron does, one that has not its only E
/// first and its only L last, or a t after an m.
llvm::Expected<LayerLayout> parseLayerLayout(llvm::StringRef text);

/// The shortest usual form, which reads back to the same layout.
std::string toString(const LayerLayout &layout);

/// Sets \p chunks, the stages per rank; refuses ranks that do not divide the
/// stages, and chunks, 0 for none, that were given and are others.
llvm::Error setChunks(const LayerLayout &layout, int64_t ranks,
                      int64_t &chunks);

/// Times of the layers in times of a decoder layer.
struct LayerWeights {
  double embedding = 0;
  double mtp = 1;
  double loss = 0;
};

/// Shares the work of \p ranks ranks, each with a whole share of \p share, out
/// among the stages by the layers that they hold.
std::vector<StageCost> getStageCosts(const LayerLayout &layout, int64_t ranks,
                                     const StageCost &share,
                                     const LayerWeights &weights);

} // namespace pipewright

#endif // PIPEWRIGHT_SCHEDULE_LAYERLAYOUT_H
