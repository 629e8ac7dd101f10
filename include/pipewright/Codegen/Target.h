//===- Target.h - What code generation asks of a target ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A target is a folder of lib/Codegen/Targets. Nothing outside that folder
// knows a target by name: the command line, the driver and the tests walk the
// registry.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_CODEGEN_TARGET_H
#define PIPEWRIGHT_CODEGEN_TARGET_H

#include "pipewright/Dialect/NN/NN.h"

#include "mlir/IR/Builders.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/Error.h"

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace llvm {
class Module;
} // namespace llvm

namespace pipewright {

/// The bytes of an object file.
using ObjectCode = llvm::SmallVector<char, 0>;

/// What a user can choose about the code that a target emits.
struct TargetOptions {
  /// The processor, by the target's own names, or several; `native` is what
  /// the target takes if nothing is said.
  std::string processor = "native";
  /// Whether convolutions and pooling are calls of the target's library,
  /// instead of code that is generated; absent: as `resolveOptions` says.
  std::optional<bool> libraryConvolutions = std::nullopt;
  /// Whether attention is, where the library has it.
  bool libraryAttention = false;
};

/// How the executable of a rank is put together.
struct LinkOptions {
  /// The object files, by path.
  std::vector<std::string> objects;
  /// The runtime library to link with, by path.
  std::string runtimeLibrary;
  /// Where the executable looks for the runtime library; `$ORIGIN` is the
  /// executable's folder.
  std::string runtimePath = "$ORIGIN/../lib";
};

/// `batch` products of m x k by k x n matrices, row-major. Operands and result
/// are contiguous memrefs; the strides between batches are in elements.
struct MatMulCall {
  mlir::Value lhs, rhs, result;
  int64_t batch, m, n, k;
  int64_t strideLhs, strideRhs, strideResult;
  /// The operand is stored with its two dimensions swapped.
  bool transposeLhs, transposeRhs;
  /// The products are added to what the result holds.
  bool accumulate;
};

/// The forms of a call that computes an op of the family Experts.
enum class ExpertForm {
  Product, ///< `nn.expert_matmul`: the result has rows * n elements
  Outer    ///< `nn.expert_outer`: the result has experts * m * n elements
};

/// An op of the family Experts on contiguous memrefs, row-major, one expert a
/// row. A product is of a row of m elements and an m x n matrix; an outer
/// product is of a row of m and a row of n elements.
struct ExpertCall {
  ExpertForm form;
  mlir::Value lhs, rhs, experts, result;
  /// Room for all rows of lhs, and for those of the result of a product or of
  /// rhs, in which the rows of an expert are brought together.
  mlir::Value packedLhs, packedOther;
  int64_t rows, expertCount, m, n;
  /// The matrices of a product are stored with their two dimensions swapped.
  bool transposeRhs;
  /// Outer products are added to what the result holds.
  bool accumulate;
};

/// Windows that slide over two axes of images [batch, channels, height, width].
struct SlidingWindows {
  int64_t batch, channels;
  std::array<int64_t, 2> input, kernel, output;
  /// `padding` elements are on both sides of an axis.
  std::array<int64_t, 2> padding, strides, dilations;
};

enum class ConvolutionForm { Forward, InputGradient, WeightGradient };

/// A convolution, or one of its gradients, on contiguous memrefs. Padding is
/// zeros. Weights are [output channels, input channels of a group, height,
/// width].
struct ConvolutionCall : SlidingWindows {
  ConvolutionForm form;
  /// Forward: the image and the weights. InputGradient: the output's gradient
  /// and the weights. WeightGradient: the output's gradient and the image.
  mlir::Value lhs, rhs;
  mlir::Value result;
  int64_t groups, outputChannels;
  /// The numbers are added to what the result holds.
  bool accumulate;
};

enum class PoolingForm {
  Max,         ///< the largest element; padding is never it
  Sum,         ///< of all elements; padding is zeros
  Average,     ///< the sum by the number of elements, those of padding as well
  MaxGradient, ///< the first of the largest elements has it
  SumGradient,
  AverageGradient
};

/// Pooling of each channel, or the gradient for the image, on contiguous
/// memrefs.
struct PoolingCall : SlidingWindows {
  PoolingForm form;
  /// Null where they are not read: the image is by all but the gradients of
  /// sums and averages, what was pooled of it by MaxGradient, and the gradient
  /// of that by all gradients.
  mlir::Value image, pooled, pooledGradient;
  mlir::Value result;
};

/// What follows a product and its bias.
enum class Activation {
  None,
  Relu,
  Gelu,        ///< by tanh
  GeluGradient ///< times the derivative of that GELU
};

/// A product of one batch, and what the library computes of it in the same
/// call, in the product's own shape.
struct EpilogueCall {
  MatMulCall product;
  /// A vector that is added to each row, or null.
  mlir::Value bias;
  Activation activation;
  /// Gelu: null, or where its operand is written. GeluGradient: where the
  /// derivative is taken.
  mlir::Value auxiliary;
  /// Null, or where the sums of an operand over the product's terms are
  /// written: m of the left operand, or n of the right one.
  mlir::Value sums = {};
  bool sumsLhs = false;
};

/// softmax(scale Q K^T) V of each head on contiguous memrefs. Queries are
/// [batch, heads, queries, size], keys [batch, groups, keys, size], values
/// [batch, groups, keys, valueSize], and the result is [batch, heads, queries,
/// valueSize].
struct AttentionCall {
  mlir::Value query, key, value, result;
  /// For each query the logarithm of the sum of its scores' exponentials.
  mlir::Value statistics;
  int64_t batch, heads, groups, queries, keys, size, valueSize;
  double scale;
  /// Query i sees the keys up to keys - queries + i.
  bool causal;
};

/// The gradients of the operands of `attention`, which has been computed.
struct AttentionGradientCall {
  AttentionCall attention;
  mlir::Value gradient; ///< that of the result
  mlir::Value queryGradient, keyGradient, valueGradient;
  mlir::Value workspace;
  int64_t workspaceBytes;
};

/// A copy of bytes. Operands are in the LLVM dialect.
struct CopyCall {
  mlir::Value target, source, bytes;
};

class CodegenTarget {
public:
  virtual ~CodegenTarget();

  virtual llvm::StringRef getName() const = 0;
  virtual llvm::StringRef getDescription() const = 0;

  /// The file name of the runtime library that executables are linked with.
  virtual llvm::StringRef getRuntimeLibrary() const = 0;

  /// The device, of those that costs are known of, that a build is planned for
  /// if nobody names one.
  virtual llvm::StringRef getDevice(const TargetOptions &options) const = 0;

  /// Whether messages have memory of their own, behind that of all else.
  virtual bool keepsMessagesApart() const { return false; }

  /// \p options with the processors by name, where the target knows which they
  /// are, and all else that was left to the target; an error if code for them
  /// cannot be emitted on this machine, or by this build of Pipewright.
  virtual llvm::Expected<TargetOptions>
  resolveOptions(const TargetOptions &options) const = 0;

  /// Whether the target's library multiplies matrices of \p element, also by
  /// expert, with any type of the result. If not, contractions are lowered as
  /// any other op.
  virtual bool hasMatMul(mlir::Type element) const = 0;

  /// Emits \p call as a call of the target's library.
  virtual void emitMatMul(const MatMulCall &call, mlir::Location loc,
                          mlir::OpBuilder &builder) const = 0;

  virtual void emitExpertCall(const ExpertCall &call, mlir::Location loc,
                              mlir::OpBuilder &builder) const = 0;

  /// Whether the target's library computes \p call, which still has tensors.
  /// By default it has none.
  virtual bool hasEpilogue(const EpilogueCall &call) const;

  /// Emits the call of \p call, which has buffers.
  virtual void emitEpilogue(const EpilogueCall &call, mlir::Location loc,
                            mlir::OpBuilder &builder) const;

  /// Emits a loop with both ways to compute \p call: what \p emitLibrary emits
  /// calls the library, and \p emitOthers does without its epilogue. The bias
  /// need not be a buffer yet.
  virtual void
  emitEpilogueChoice(const EpilogueCall &call,
                     llvm::function_ref<void(mlir::OpBuilder &)> emitLibrary,
                     llvm::function_ref<void(mlir::OpBuilder &)> emitOthers,
                     mlir::Location loc, mlir::OpBuilder &builder) const;

  /// Whether the target's library computes \p call, which still has tensors;
  /// if not, it is lowered as the ops that it was. By default it has none. A
  /// result of another type than the operands' is what the library's is
  /// converted to.
  virtual bool hasConvolution(const ConvolutionCall &call) const;

  virtual void emitConvolution(const ConvolutionCall &call, mlir::Location loc,
                               mlir::OpBuilder &builder) const;

  /// The same for pooling.
  virtual bool hasPooling(const PoolingCall &call) const;

  virtual void emitPooling(const PoolingCall &call, mlir::Location loc,
                           mlir::OpBuilder &builder) const;

  /// Whether the target's library computes \p call, which still has tensors and
  /// no statistics, and its gradient. By default it does not.
  virtual bool hasAttention(const AttentionCall &call) const;

  virtual void emitAttention(const AttentionCall &call, mlir::Location loc,
                             mlir::OpBuilder &builder) const;

  /// The bytes of the workspace that the gradient of \p call has.
  virtual int64_t getAttentionWorkspace(const AttentionCall &call) const;

  virtual void emitAttentionGradient(const AttentionGradientCall &call,
                                     mlir::Location loc,
                                     mlir::OpBuilder &builder) const;

  /// Adds passes on bufferized layer functions that run before their workspace
  /// is planned: it has the buffers that they leave, each of which shares
  /// memory with no other until then.
  virtual void addBufferPasses(mlir::OpPassManager &functions) const;

  /// Emits \p call as the code of a task, which passes a value on.
  virtual void emitCopy(const CopyCall &call, mlir::Location loc,
                        mlir::OpBuilder &builder) const = 0;

  /// Adds the passes that take a layer function from bufferized linalg ops,
  /// with its workspace planned, to the LLVM dialect.
  virtual void addLoweringPasses(mlir::OpPassManager &pm,
                                 const TargetOptions &options) const = 0;

  /// Optimizes \p module and emits it as an object file. The module's triple
  /// and data layout are set here.
  virtual llvm::Expected<ObjectCode>
  emitObject(llvm::Module &module, const TargetOptions &options) const = 0;

  /// Adds to \p module, which defines `main`, what the loader starts.
  virtual void addEntryPoint(llvm::Module &module) const = 0;

  /// Links an executable that needs no other tool on the user's machine.
  virtual llvm::Error linkExecutable(const LinkOptions &options,
                                     llvm::StringRef path) const = 0;
};

class TargetRegistry {
public:
  /// The registry with all targets of this build.
  static const TargetRegistry &get();

  void add(std::unique_ptr<CodegenTarget> target) {
    targets.push_back(std::move(target));
  }

  /// The target named \p name, or null.
  const CodegenTarget *find(llvm::StringRef name) const;
  /// The same; if there is none, an error says so at \p loc.
  const CodegenTarget *findOrReport(llvm::StringRef name,
                                    mlir::Location loc) const;

  llvm::ArrayRef<std::unique_ptr<CodegenTarget>> getTargets() const {
    return targets;
  }

private:
  std::vector<std::unique_ptr<CodegenTarget>> targets;
};

} // namespace pipewright

#endif // PIPEWRIGHT_CODEGEN_TARGET_H
