//===- EmitObject.cpp - Machine code for x86-64
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Host.h"

#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;
using namespace pipewright;

static constexpr StringLiteral tripleName = "x86_64-pc-linux-gnu";

static void initializeTarget() {
  static const bool once = [] {
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
    InitializeNativeTargetAsmParser();
    return true;
  }();
  (void)once;
}

namespace {
/// A processor as LLVM names it.
struct Processor {
  std::string name;
  std::string features;
};
} // namespace

static Processor getProcessor(StringRef name) {
  if (name != "native")
    return {name.str(), ""};
  SubtargetFeatures features;
  for (const auto &[feature, enabled] : sys::getHostCPUFeatures())
    features.AddFeature(feature, enabled);
  // Whole registers: the loops are long, and the clock does not suffer.
  features.AddFeature("prefer-256-bit", /*Enable=*/false);
  return {sys::getHostCPUName().str(), features.getString()};
}

static Expected<std::unique_ptr<TargetMachine>>
createMachine(const Processor &processor) {
  initializeTarget();
  Triple triple(tripleName);
  std::string message;
  const Target *target = llvm::TargetRegistry::lookupTarget(triple, message);
  if (!target)
    return createStringError(message);
  std::unique_ptr<MCSubtargetInfo> processors(
      target->createMCSubtargetInfo(triple, "", ""));
  if (!processors->isCPUStringValid(processor.name))
    return createStringError("there is no x86-64 processor '" + processor.name +
                             "'");
  return std::unique_ptr<TargetMachine>(target->createTargetMachine(
      triple, processor.name, processor.features, llvm::TargetOptions(),
      Reloc::PIC_, std::nullopt, CodeGenOptLevel::Aggressive));
}

/// Optimization passes look at the attributes of functions, not at the machine.
static void setProcessor(Module &module, const Processor &processor) {
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", processor.name);
    if (!processor.features.empty())
      function.addFnAttr("target-features", processor.features);
    function.addFnAttr("prefer-vector-width", "512");
    function.addFnAttr(Attribute::NoUnwind);
  }
}

static void optimize(Module &module, TargetMachine &machine) {
  PipelineTuningOptions tuning;
  // Loops are widened while they are loops: once unrolled, a row that is
  // reduced is one long chain.
  tuning.LoopUnrolling = false;
  tuning.LoopInterleaving = true;
  tuning.LoopVectorization = true;
  tuning.SLPVectorization = true;
  PassBuilder builder(&machine, tuning);
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager components;
  ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.buildPerModuleDefaultPipeline(OptimizationLevel::O3)
      .run(module, modules);
}

Error host::checkProcessor(StringRef processor) {
  return createMachine(getProcessor(processor)).takeError();
}

Expected<ObjectCode> host::emitObject(Module &module, StringRef processorName) {
  Processor processor = getProcessor(processorName);
  Expected<std::unique_ptr<TargetMachine>> machine = createMachine(processor);
  if (!machine)
    return machine.takeError();
  module.setTargetTriple((*machine)->getTargetTriple());
  module.setDataLayout((*machine)->createDataLayout());
  module.setPICLevel(PICLevel::BigPIC);
  setProcessor(module, processor);
  optimize(module, **machine);

  ObjectCode object;
  raw_svector_ostream stream(object);
  legacy::PassManager emission;
  if ((*machine)->addPassesToEmitFile(emission, stream, /*DwoOut=*/nullptr,
                                      CodeGenFileType::ObjectFile))
    return createStringError("cannot emit object files");
  emission.run(module);
  return object;
}
