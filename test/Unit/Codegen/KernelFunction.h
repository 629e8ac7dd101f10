//===- KernelFunction.h - Layer functions as kernels on no GPU --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TEST_UNIT_CODEGEN_KERNELFUNCTION_H
#define PIPEWRIGHT_TEST_UNIT_CODEGEN_KERNELFUNCTION_H

#include "CompiledFunction.h"
#include "Ptx/Machine.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace pipewright {

/// What one launch did.
struct KernelRun {
  std::string kernel;
  int64_t threads;
  ptx::Counters counters;
  /// Bytes that it read, and those that it wrote, each once: what memory moves
  /// if caches keep everything.
  int64_t bytes;

  /// Bytes of global memory that its threads asked for, and those of the
  /// sectors that its warps touched.
  int64_t getAskedBytes() const;
  int64_t getSectorBytes() const;
};

/// What kernels run on.
class KernelDevice {
public:
  virtual ~KernelDevice();
  virtual ptx::Address allocate(const std::string &name, int64_t bytes) = 0;
  virtual void write(ptx::Address to, const void *from, int64_t bytes) = 0;
  virtual void read(ptx::Address from, void *to, int64_t bytes) = 0;
  virtual void launch(const ptx::Launch &launch) = 0;
};

/// One layer function whose ops, products included, are kernels in PTX. The
/// launches run one after the other on the interpreter of PTX.
class KernelFunction {
public:
  explicit KernelFunction(nn::FunctionOp function);

  /// Whether all of it has kernels; if not, errors were reported.
  bool hasKernels() const { return static_cast<bool>(kernels); }

  /// The results for \p arguments.
  Tensors run(llvm::ArrayRef<nn::HostTensor> arguments);

  /// The same on another device, which runs getText().
  Tensors runOn(KernelDevice &device, llvm::ArrayRef<nn::HostTensor> arguments);
  /// All its launches, of what is in that device's memory to begin with.
  void launchOn(KernelDevice &device);
  const std::string &getText() const { return text; }

  /// The launches of the last run on the interpreter.
  const std::vector<KernelRun> &getRuns() const { return runs; }
  /// What went wrong in it: accesses outside of the function's buffers, races,
  /// reads of what nobody wrote. Empty if nothing did.
  const std::string &getFaults() const { return faults; }

  /// Takes all barriers out of the kernels.
  void removeBarriers();

  /// Bytes of the workspace.
  int64_t getWorkspaceBytes();

private:
  void parse();
  llvm::SmallVector<ptx::Address> allocateOn(KernelDevice &device);
  void launch(KernelDevice &device, llvm::ArrayRef<ptx::Address> arguments);

  nn::FunctionOp function;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp host;
  std::string text;
  std::shared_ptr<const ptx::Module> kernels;
  std::vector<KernelRun> runs;
  std::string faults;
};

} // namespace pipewright

#endif // PIPEWRIGHT_TEST_UNIT_CODEGEN_KERNELFUNCTION_H
