//===- SplitExperts.h - A layer before, in and behind experts ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_LAYERS_SPLITEXPERTS_H
#define PIPEWRIGHT_LIB_LAYERS_SPLITEXPERTS_H

#include "ExpertRegion.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"

namespace pipewright {

/// How experts are shared out.
struct ExpertSharing {
  int64_t peers;
  /// How many times its even share of the rows a peer takes at most; 0: all.
  double capacity;

  /// The rows of the block that one peer sends another.
  int64_t countBlockRows(const ExpertRegion &region) const;
  int64_t countPlaces(const ExpertRegion &region) const {
    return peers * countBlockRows(region);
  }
  /// The experts that one peer has.
  int64_t countExperts(const ExpertRegion &region) const {
    return region.experts / peers;
  }
};

/// Where the rows of a region go.
struct RowPlaces {
  /// Row i goes to place `places[i]` in the blocks for all peers, if there is
  /// such a place; place p has row `rows[p]`, if there is such a row.
  mlir::Value places;
  mlir::Value rows;
  /// For each place, its row's expert, counted among those of the peer; where
  /// there is no row, a number that names none.
  mlir::Value numbers;
};

/// Finds places for the rows of \p region, whose experts are \p numbers: rows
/// go in their order to the block for the peer that has their expert.
RowPlaces createPlaces(mlir::OpBuilder &builder, const ExpertRegion &region,
                       mlir::Value numbers, const ExpertSharing &sharing);

/// The rows \p indices of \p rows, of which each goes to the place \p inverse.
mlir::Value createMove(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value rows, mlir::Value indices,
                       mlir::Value inverse);

/// The functions into which one is split that some layers call.
class SplitExperts {
public:
  /// Puts functions in the place of \p function, which is to be erased when no
  /// layer is left that calls it; \p layer is one that does.
  SplitExperts(nn::FunctionOp function, pp::LayerOp layer,
               ExpertRegions regions, ExpertSharing sharing,
               mlir::SymbolTable &symbols);

  /// Replaces \p layer, which calls the function, by one for each part, with
  /// exchanges between them.
  void replace(pp::LayerOp layer);

private:
  using Ops = llvm::SetVector<mlir::Operation *>;
  using Values = llvm::SetVector<mlir::Value>;

  struct Part {
    nn::FunctionOp function;
    /// The values of the whole function that are its last arguments, those that
    /// are parameters behind all others.
    llvm::SmallVector<mlir::Value> captures;
  };
  class Body;
  class RegionCopy;
  class Layers;

  mlir::OperandRange getResults() {
    return function.getBody().front().getTerminator()->getOperands();
  }
  bool isParameter(mlir::Value value);
  bool isKey(mlir::Value value);
  bool isCombined(mlir::Value result);
  Ops findCombineOps();
  Values findKept(const Ops &combine);
  Ops findPrepareOps(const Values &needed);
  llvm::SmallVector<mlir::Value> sortCaptures(const Values &captures);
  llvm::SmallVector<mlir::Value> findCaptures(const Ops &ops,
                                              mlir::ValueRange others);

  Part buildPrepare();
  Part buildExperts();
  Part buildCombine(const Ops &ops);

  nn::FunctionOp function;
  /// Whether each argument that is no parameter is a random key.
  llvm::SmallVector<bool> keys;
  ExpertRegions regions;
  ExpertSharing sharing;
  /// What the first part makes for the last one, or as a result of the layer.
  Values kept;
  Part prepare, experts, combine;
};

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_LAYERS_SPLITEXPERTS_H
