//===- NameScope.h - Module paths in the names of nodes ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Exporters name nodes and parameters after the module that holds them:
// `/transformer/h.3/attn/MatMul`, `transformer.h.3.attn.weight`,
// `bert/encoder/layer_3/output/add`. This file finds layers in such names and
// includes no MLIR header.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LAYERS_NAMESCOPE_H
#define PIPEWRIGHT_LAYERS_NAMESCOPE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"

#include <optional>
#include <string>

namespace pipewright {

/// The modules that hold a node or a parameter, outermost first.
class NameScope {
public:
  NameScope() = default;
  /// The scope of the node or parameter \p name, whose own (last) component
  /// is dropped. A flat name (`MatMul_27`) has the empty scope.
  explicit NameScope(llvm::StringRef name);

  bool empty() const { return components.empty(); }
  size_t size() const { return components.size(); }

  /// The first \p length components as people write them: `transformer/h.3`.
  std::string str(size_t length) const;
  std::string str() const { return str(size()); }

  /// The container that component \p index numbers an entry of (`transformer/h`
  /// for the 3 of `transformer/h.3`), or none if it has no number.
  std::optional<std::string> container(size_t index) const;

  /// How many components \p other begins with like this scope.
  size_t commonLength(const NameScope &other) const;

private:
  llvm::SmallVector<std::string> components;
};

/// Finds the level of numbered scopes that a model's layers are.
class ScopeLevels {
public:
  void add(const NameScope &scope);

  /// How many components of \p scope name its layer, or none if it is in no
  /// numbered layer. The outermost container with two entries or more counts;
  /// a container with one entry only if the model has no other.
  std::optional<size_t> findLayer(const NameScope &scope) const;

private:
  llvm::StringMap<llvm::StringSet<>> entries;
  bool repeats = false;
};

} // namespace pipewright

#endif // PIPEWRIGHT_LAYERS_NAMESCOPE_H
