//===- OnnxNode.h - A node that is being imported ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_IMPORT_ONNXNODE_H
#define PIPEWRIGHT_IMPORT_ONNXNODE_H

#include "pipewright/Import/NNBuilder.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringSet.h"

#include <optional>
#include <string>

namespace pipewright {

namespace onnx {
class AttributeProto;
class GraphProto;
class NodeProto;
class TensorProto;
} // namespace onnx

struct ConditionalRows;

/// What the importer gives to a node besides operands.
class ImportContext {
public:
  virtual ~ImportContext() = default;
  /// The values of a tensor, as a constant.
  virtual mlir::FailureOr<mlir::Value>
  importConstant(const onnx::TensorProto &tensor, llvm::StringRef name) = 0;
  /// The random numbers of the layer that the node will belong to.
  virtual mlir::Value getRandomKey() = 0;
  /// A number that no other node has: sets its random numbers apart.
  virtual int64_t takeRandomStream() = 0;
  /// The values of \p value if they are in the file, be it as a parameter; null
  /// otherwise.
  virtual mlir::DenseElementsAttr getKnown(mlir::Value value) = 0;
  /// Does not train the parameter, if it is one, that \p value is.
  virtual void keepFixed(mlir::Value value) = 0;
  /// The tensors of the sequence that \p value stands for; none if it is a
  /// tensor.
  virtual llvm::ArrayRef<mlir::Value> getSequence(mlir::Value value) = 0;
  /// A value that stands for the sequence of \p elements, of which there is at
  /// least one.
  virtual mlir::Value makeSequence(llvm::ArrayRef<mlir::Value> elements) = 0;
  /// Notes that absent rows must be removed when all nodes are imported.
  virtual void addConditionalRows(ConditionalRows rows) = 0;
  /// How many bits the unsigned integers of \p value have, which are held in
  /// the next wider signed type; 0 if it has others.
  virtual unsigned getUnsignedBits(mlir::Value value) = 0;
  /// Tells the user \p message, once for all nodes of a model.
  virtual void remarkOnce(llvm::StringRef message) = 0;
  /// Imports a graph that the node holds, with \p arguments for its inputs, and
  /// returns its outputs. It sees the values around the node.
  virtual mlir::FailureOr<llvm::SmallVector<mlir::Value>>
  importGraph(const onnx::GraphProto &graph,
              llvm::ArrayRef<mlir::Value> arguments) = 0;
};

/// A node, with the values of its operands. Operands and results that the
/// model leaves out (named "") have no value, at whatever position.
class OnnxNode {
public:
  OnnxNode(const onnx::NodeProto &proto, int64_t index, int64_t opset,
           NNBuilder &builder, ImportContext &context)
      : proto(proto), index(index), opset(opset), builder(builder),
        context(context) {}

  NNBuilder &getBuilder() { return builder; }
  ImportContext &getContext() { return context; }
  llvm::StringRef getOpType() const;
  /// The version of the operator set that the node's domain is imported with.
  int64_t getOpset() const { return opset; }

  /// The node as diagnostics name it: `node #3 (NonZero)`.
  std::string describe() const;
  /// Starts a diagnostic that says which node it is about.
  mlir::InFlightDiagnostic emitError() const;

  //===--------------------------------------------------------------------===//
  // Operands and results
  //===--------------------------------------------------------------------===//

  void addOperand(mlir::Value value) { operands.push_back(value); }
  int64_t getNumOperands() const { return operands.size(); }
  llvm::ArrayRef<mlir::Value> getOperands() const { return operands; }
  bool hasOperand(unsigned i) const {
    return i < operands.size() && operands[i];
  }
  /// Operand \p i, or null if it is left out.
  mlir::Value operand(unsigned i) const {
    return hasOperand(i) ? operands[i] : mlir::Value();
  }

  int64_t getNumResults() const;
  bool hasResult(unsigned i) const;
  llvm::StringRef getResultName(unsigned i) const;
  void setResult(unsigned i, mlir::Value value);
  mlir::Value getResult(unsigned i) const {
    return i < results.size() ? results[i] : mlir::Value();
  }

  /// The elements of operand \p i, which must be a sequence.
  mlir::FailureOr<llvm::ArrayRef<mlir::Value>> getSequence(unsigned i) const;
  /// Sets result 0 to the sequence of \p elements.
  void setSequence(llvm::ArrayRef<mlir::Value> elements) {
    setResult(0, context.makeSequence(elements));
  }

  /// Says that result \p i has unsigned integers of \p bits bits, or signed
  /// ones with 0. If nothing is said it has those of the operands of its type.
  void setUnsignedBits(unsigned i, unsigned bits) { resultBits[i] = bits; }
  /// Sets result \p i to a value whose integers are known to be unsigned or
  /// not.
  void setKnownResult(unsigned i, mlir::Value value) {
    setResult(i, value);
    setUnsignedBits(i, context.getUnsignedBits(value));
  }
  unsigned getUnsignedBits(unsigned i) const;

  //===--------------------------------------------------------------------===//
  // Values that must be known
  //===--------------------------------------------------------------------===//

  /// Fails if \p count numbers are too many to be listed one by one while a
  /// model is imported: a wrong size must not take all memory.
  mlir::LogicalResult checkListed(int64_t count) const;

  /// The integers in operand \p i.
  mlir::FailureOr<llvm::SmallVector<int64_t>> getIntegers(unsigned i) const;
  /// The only number in operand \p i.
  mlir::FailureOr<double> getNumber(unsigned i) const;

  /// The integers in attribute \p name before opset \p since and in operand
  /// \p i from then on; none if the model leaves them out.
  mlir::FailureOr<std::optional<llvm::SmallVector<int64_t>>>
  getIntegers(llvm::StringRef name, unsigned i, int64_t since) const;

  /// Does not train operands 1 and 2 of a norm, its scale and its bias, if they
  /// are ones and zeros that an exporter has made up because it has neither.
  void keepMadeUpFixed() const;

  /// \p axis, which may count from the end, as an axis of \p rank.
  mlir::FailureOr<int64_t> getAxis(int64_t axis, int64_t rank) const;
  mlir::LogicalResult normalizeAxes(llvm::MutableArrayRef<int64_t> axes,
                                    int64_t rank) const;

  //===--------------------------------------------------------------------===//
  // Attributes
  //===--------------------------------------------------------------------===//

  const onnx::AttributeProto *findAttribute(llvm::StringRef name) const;
  /// Says that the attributes \p names mean nothing to us, if they are there.
  void leaveOut(llvm::ArrayRef<llvm::StringRef> names) const;
  /// The attributes that were neither asked for nor left out, but for graphs,
  /// of which a node may not need all.
  llvm::SmallVector<llvm::StringRef> getUnusedAttributes() const;
  /// What an exporter has noted about the node under \p key; empty if nothing.
  llvm::StringRef getMetadata(llvm::StringRef key) const;
  bool hasAttribute(llvm::StringRef name) const { return findAttribute(name); }
  int64_t getInt(llvm::StringRef name, int64_t otherwise) const;
  double getFloat(llvm::StringRef name, double otherwise) const;
  llvm::StringRef getString(llvm::StringRef name,
                            llvm::StringRef otherwise) const;
  std::optional<llvm::SmallVector<int64_t>> getInts(llvm::StringRef name) const;
  /// The numbers in attribute \p name; none without it.
  llvm::SmallVector<double> getFloats(llvm::StringRef name) const;
  llvm::SmallVector<llvm::StringRef> getStrings(llvm::StringRef name) const;

  //===--------------------------------------------------------------------===//
  // Types
  //===--------------------------------------------------------------------===//

  /// Our element type for ONNX's \p dataType; an error if there is none.
  mlir::FailureOr<mlir::Type> getElementType(int64_t dataType) const;
  /// The same for elements of result \p i, which may be unsigned.
  mlir::FailureOr<mlir::Type> getResultType(unsigned i, int64_t dataType);

  /// Broadcasts \p values to one shape; fails if their element types differ.
  mlir::LogicalResult
  broadcastTogether(llvm::MutableArrayRef<mlir::Value> values) const;

private:
  const onnx::NodeProto &proto;
  int64_t index;
  int64_t opset;
  NNBuilder &builder;
  ImportContext &context;
  llvm::SmallVector<mlir::Value> operands;
  llvm::SmallVector<mlir::Value> results;
  llvm::SmallDenseMap<unsigned, unsigned> resultBits;
  /// The attributes that getUnusedAttributes leaves out. To ask for one is no
  /// change of the node.
  mutable llvm::StringSet<> asked;
};

} // namespace pipewright

#endif // PIPEWRIGHT_IMPORT_ONNXNODE_H
