//===- CompiledFunction.cpp - Layer functions as callable code
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompiledFunction.h"

#include "Buffer.h"

#include "pipewright/Codegen/Passes.h"
#include "pipewright/Codegen/TaskSignature.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace pipewright;

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

// Kernels work on bits: those of f32, or of a type of 16 bits.

using Semantics = const llvm::fltSemantics &();

template <typename BitsTy>
static double decode(BitsTy bits, Semantics *type) {
  APFloat value(type(), APInt(8 * sizeof bits, bits));
  bool losesInfo;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                &losesInfo);
  return value.convertToDouble();
}

template <typename BitsTy>
static void encode(double number, Semantics *type, BitsTy &bits) {
  APFloat value(number);
  bool losesInfo;
  value.convert(type(), APFloat::rmNearestTiesToEven, &losesInfo);
  bits = value.bitcastToAPInt().getZExtValue();
}

/// What the runtime's kernels compute, in the plainest way.
template <Semantics *operand, typename OperandTy, Semantics *result,
          typename ResultTy>
static void multiplyMatrices(const OperandTy *a, const OperandTy *b,
                             ResultTy *c, int64_t batch, int64_t m, int64_t n,
                             int64_t k, int64_t strideA, int64_t strideB,
                             int64_t strideC, int32_t transposeA,
                             int32_t transposeB, int32_t accumulate) {
  for (int64_t t = 0; t < batch; ++t)
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (int64_t l = 0; l < k; ++l)
          sum += decode(a[t * strideA + (transposeA ? l * m + i : i * k + l)],
                        operand) *
                 decode(b[t * strideB + (transposeB ? j * k + l : l * n + j)],
                        operand);
        ResultTy &target = c[t * strideC + i * n + j];
        encode(accumulate ? decode(target, result) + sum : sum, result, target);
      }
}

/// The expert that \p number names, or null.
template <typename BitsTy>
static BitsTy *getMatrix(BitsTy *matrices, int64_t number, int64_t expertCount,
                         int64_t size) {
  if (number < -expertCount || number >= expertCount)
    return nullptr;
  return matrices + (number < 0 ? number + expertCount : number) * size;
}

template <Semantics *operand, typename OperandTy, Semantics *result,
          typename ResultTy>
static void multiplyByExpert(const OperandTy *a, const OperandTy *b,
                             const int64_t *experts, ResultTy *c, OperandTy *,
                             ResultTy *, int64_t rows, int64_t expertCount,
                             int64_t m, int64_t n, int32_t transposeB) {
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < n; ++j) {
      const OperandTy *matrix = getMatrix(b, experts[i], expertCount, m * n);
      double sum = 0;
      for (int64_t l = 0; matrix && l < m; ++l)
        sum += decode(a[i * m + l], operand) *
               decode(matrix[transposeB ? j * m + l : l * n + j], operand);
      encode(sum, result, c[i * n + j]);
    }
}

template <Semantics *operand, typename OperandTy, Semantics *result,
          typename ResultTy>
static void sumByExpert(const OperandTy *a, const OperandTy *b,
                        const int64_t *experts, ResultTy *c, OperandTy *,
                        OperandTy *, int64_t rows, int64_t expertCount,
                        int64_t m, int64_t n, int32_t accumulate) {
  std::vector<double> sums(expertCount * m * n);
  for (int64_t i = 0; i < rows; ++i)
    if (double *matrix = getMatrix(sums.data(), experts[i], expertCount, m * n))
      for (int64_t at = 0; at < m * n; ++at)
        matrix[at] += decode(a[i * m + at / n], operand) *
                      decode(b[i * n + at % n], operand);
  for (auto [at, sum] : llvm::enumerate(sums))
    encode(accumulate ? decode(c[at], result) + sum : sum, result, c[at]);
}

/// Defines the kernels whose names end in \p types.
template <Semantics *operand, typename OperandTy, Semantics *result,
          typename ResultTy>
static void defineKernels(llvm::orc::LLJIT &loader, const char *types) {
  auto define = [&](const char *stem, auto *kernel) {
    pipewright::define(loader, std::string(stem) + types,
                       reinterpret_cast<void *>(kernel));
  };
  define("pprtCpuMatmul",
         multiplyMatrices<operand, OperandTy, result, ResultTy>);
  define("pprtCpuExpertMatmul",
         multiplyByExpert<operand, OperandTy, result, ResultTy>);
  define("pprtCpuExpertOuter",
         sumByExpert<operand, OperandTy, result, ResultTy>);
}

std::unique_ptr<llvm::orc::LLJIT> pipewright::createLoader() {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  std::unique_ptr<llvm::orc::LLJIT> loader =
      llvm::cantFail(llvm::orc::LLJITBuilder().create());
  loader->getMainJITDylib().addGenerator(llvm::cantFail(
      llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
          loader->getDataLayout().getGlobalPrefix())));
  constexpr Semantics *f32 = APFloat::IEEEsingle, *bf16 = APFloat::BFloat,
                      *f16 = APFloat::IEEEhalf;
  defineKernels<f32, uint32_t, f32, uint32_t>(*loader, "F32");
  defineKernels<bf16, uint16_t, bf16, uint16_t>(*loader, "BF16");
  defineKernels<bf16, uint16_t, f32, uint32_t>(*loader, "BF16F32");
  defineKernels<f16, uint16_t, f16, uint16_t>(*loader, "F16");
  defineKernels<f16, uint16_t, f32, uint32_t>(*loader, "F16F32");
  return loader;
}

void pipewright::define(llvm::orc::LLJIT &loader, StringRef name,
                        void *function) {
  llvm::cantFail(loader.getMainJITDylib().define(
      llvm::orc::absoluteSymbols({{loader.mangleAndIntern(name),
                                   {llvm::orc::ExecutorAddr::fromPtr(function),
                                    llvm::JITSymbolFlags::Exported}}})));
}

void pipewright::load(llvm::orc::LLJIT &loader, ArrayRef<char> object) {
  llvm::cantFail(loader.addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(
      StringRef(object.data(), object.size()))));
}

/// Adds `entry(pointers)`, which passes each of \p count pointers to
/// \p symbol.
static void addEntry(llvm::orc::LLJIT &loader, StringRef symbol, size_t count) {
  auto context = std::make_unique<llvm::LLVMContext>();
  auto module = std::make_unique<llvm::Module>("entry", *context);
  llvm::IRBuilder<> builder(*context);
  llvm::Type *pointer = builder.getPtrTy();
  auto *callee = llvm::Function::Create(
      llvm::FunctionType::get(builder.getVoidTy(),
                              llvm::SmallVector<llvm::Type *>(count, pointer),
                              false),
      llvm::Function::ExternalLinkage, symbol, *module);
  auto *entry = llvm::Function::Create(
      llvm::FunctionType::get(builder.getVoidTy(), {pointer}, false),
      llvm::Function::ExternalLinkage, "entry", *module);
  builder.SetInsertPoint(llvm::BasicBlock::Create(*context, "", entry));
  llvm::SmallVector<llvm::Value *> operands;
  for (size_t i = 0; i < count; ++i)
    operands.push_back(builder.CreateLoad(
        pointer, builder.CreateConstGEP1_32(pointer, entry->getArg(0), i)));
  builder.CreateCall(callee, operands);
  builder.CreateRetVoid();
  llvm::cantFail(loader.addIRModule(
      llvm::orc::ThreadSafeModule(std::move(module), std::move(context))));
}

//===----------------------------------------------------------------------===//
// CompiledFunction
//===----------------------------------------------------------------------===//

CompiledFunction::CompiledFunction(nn::FunctionOp function,
                                   const CodegenTarget &target)
    : function(function), loader(createLoader()) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(function.getLoc());
  OpBuilder::atBlockEnd(module->getBody()).clone(*function);
  PassManager bufferize(function.getContext());
  buildBufferizePipeline(bufferize, &target, TargetOptions());
  if (failed(bufferize.run(*module)))
    return;
  std::string symbol = getLayerSymbol(function.getSymName());
  auto lowered = module->lookupSymbol<func::FuncOp>(symbol);
  size_t count = lowered.getNumArguments();
  workspaceBytes =
      cast<MemRefType>(lowered.getArgumentTypes().back()).getNumElements();

  PassManager lower(function.getContext());
  TargetOptions options;
  options.processor = testProcessor.str();
  target.addLoweringPasses(lower, options);
  if (failed(lower.run(*module)))
    return;
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> llvmModule =
      translateModuleToLLVMIR(*module, context);
  load(*loader, llvm::cantFail(target.emitObject(*llvmModule, options)));
  addEntry(*loader, symbol, count);
  entry = llvm::cantFail(loader->lookup("entry")).toPtr<void (*)(void **)>();
}

Tensors CompiledFunction::run(ArrayRef<nn::HostTensor> arguments) {
  if (!entry) {
    ADD_FAILURE() << "did not compile";
    return {};
  }
  std::vector<Buffer> buffers;
  auto addBuffer = [&](Type type) -> Buffer & {
    return buffers.emplace_back(pp::getBytes(type));
  };
  for (auto [type, tensor] :
       llvm::zip_equal(function.getArgumentTypes(), arguments))
    addBuffer(type).write(cast<RankedTensorType>(type).getElementType(),
                          tensor);
  SmallVector<size_t> resultBuffers;
  LayerSignature signature(function);
  for (auto [type, shared] :
       llvm::zip_equal(function.getResultTypes(), signature.sharedArguments)) {
    resultBuffers.push_back(shared ? *shared : buffers.size());
    if (!shared)
      addBuffer(type);
  }
  buffers.emplace_back(workspaceBytes);

  SmallVector<void *> pointers;
  for (Buffer &buffer : buffers)
    pointers.push_back(buffer.getData());
  entry(pointers.data());
  for (auto [index, buffer] : llvm::enumerate(buffers))
    EXPECT_TRUE(buffer.isIntact()) << "a write beside buffer " << index;

  Tensors results;
  for (auto [type, index] :
       llvm::zip_equal(function.getResultTypes(), resultBuffers))
    results.push_back(buffers[index].read(cast<RankedTensorType>(type)));
  return results;
}
