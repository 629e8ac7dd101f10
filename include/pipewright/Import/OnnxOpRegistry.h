//===- OnnxOpRegistry.h - The ONNX operators that we import -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An operator is one line in lib/Import/Ops/<Family>.cpp; nothing else knows
// an operator by name.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_IMPORT_ONNXOPREGISTRY_H
#define PIPEWRIGHT_IMPORT_ONNXOPREGISTRY_H

#include "pipewright/Import/OnnxNode.h"

#include "llvm/ADT/StringMap.h"

#include <string>
#include <vector>

namespace pipewright {

/// How many operands an operator has: those before `required` must be given.
struct Arity {
  static constexpr int64_t unlimited = -1;

  Arity(int64_t exactly) : required(exactly), most(exactly) {}
  Arity(int64_t required, int64_t most) : required(required), most(most) {}

  int64_t required;
  int64_t most;
};

/// Imports an operator with one result.
using ImportValueFn = mlir::FailureOr<mlir::Value> (*)(OnnxNode &node);
/// Imports an operator with several results, which it sets on the node.
using ImportNodeFn = mlir::LogicalResult (*)(OnnxNode &node);

struct OnnxOp {
  std::string domain; ///< empty: ONNX's own
  std::string name;
  int64_t since; ///< the oldest operator set that we know it of
  Arity arity;
  ImportValueFn importValue;
  ImportNodeFn importNode;

  mlir::LogicalResult import(OnnxNode &node) const;
};

class OnnxOpRegistry {
public:
  /// The registry with every operator of lib/Import/Ops.
  static const OnnxOpRegistry &get();

  void add(llvm::StringRef name, int64_t since, Arity arity, ImportValueFn fn) {
    addOp({domain, name.str(), since, arity, fn, nullptr});
  }
  void add(llvm::StringRef name, int64_t since, Arity arity, ImportNodeFn fn) {
    addOp({domain, name.str(), since, arity, nullptr, fn});
  }
  /// The domain of the operators that are added from now on.
  void setDomain(llvm::StringRef newDomain) { domain = newDomain.str(); }

  /// The operator, or null if we do not know it.
  const OnnxOp *find(llvm::StringRef domain, llvm::StringRef name) const;

  /// All operators, sorted by domain and name.
  std::vector<const OnnxOp *> getOps() const;

private:
  void addOp(OnnxOp op);

  std::string domain;
  llvm::StringMap<OnnxOp> ops;
};

} // namespace pipewright

#endif // PIPEWRIGHT_IMPORT_ONNXOPREGISTRY_H
