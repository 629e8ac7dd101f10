//===- CutTests.cpp - Where a model is cut changes no bit
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Makes a layer of each op of a model and cuts it into two stages at every
// border: the outputs have the bits that one stage computes.
//
//===----------------------------------------------------------------------===//

#include "CompiledFunction.h"
#include "ModelFunction.h"
#include "ModelTest.h"
#include "StageRunner.h"

#include "pipewright/Driver/Phases.h"
#include "pipewright/Layers/Passes.h"

#include "mlir/IR/Builders.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace pipewright;

/// Enough that ops of all families are at borders.
constexpr size_t leastModels = 50;

static std::vector<std::string> listModels() {
  std::vector<std::string> models;
  auto buffer = llvm::MemoryBuffer::getFile(PIPEWRIGHT_CUT_MODELS);
  EXPECT_TRUE(buffer) << "cannot read " << PIPEWRIGHT_CUT_MODELS;
  for (StringRef line : llvm::split((*buffer)->getBuffer(), '\n'))
    if (!line.empty() && !line.starts_with("#"))
      models.push_back(line.str());
  return models;
}

namespace {

/// Counts what the tests of this process did.
class Count : public testing::Environment {
public:
  void TearDown() override {
    if (models > 0)
      llvm::outs() << "cut " << models << " models at " << cuts
                   << " positions\n";
  }

  int models = 0, cuts = 0;
};

/// Owned by GoogleTest.
Count *const count = new Count;
const testing::Environment *const registered =
    testing::AddGlobalTestEnvironment(count);

class Cut : public ModelTest, public testing::WithParamInterface<std::string> {
protected:
  Cut()
      : generator(*TargetRegistry::get().find("cpu"), {testProcessor.str()}) {}

  void makeLayers();
  /// The outputs of the model, with a second stage that begins at \p layer, or
  /// with one stage if that is empty.
  std::map<std::string, std::vector<char>> run(StringRef layer);

  std::optional<SuiteTest> test;
  OwningOpRef<ModuleOp> module;
  CodeGenerator generator;
};

} // namespace

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

/// What every layer that uses it has a copy of.
static bool isSource(Operation *op) {
  return isa_and_nonnull<nn::ConstantOp, pp::GetParameterOp>(op);
}

/// Puts \p op, and its own copies of constants and parameters, into a block.
static void putIntoBlock(Operation *op, int index) {
  OpBuilder builder(op);
  auto block = pp::BlockOp::create(builder, op->getLoc(), op->getResultTypes(),
                                   "op." + std::to_string(index));
  Block &body = block.getBody().emplaceBlock();
  op->replaceAllUsesWith(block.getOutputs());
  op->moveBefore(&body, body.end());
  for (OpOperand &operand : op->getOpOperands())
    if (isSource(operand.get().getDefiningOp())) {
      builder.setInsertionPoint(op);
      operand.set(builder.clone(*operand.get().getDefiningOp())->getResult(0));
    }
  builder.setInsertionPointToEnd(&body);
  pp::YieldOp::create(builder, op->getLoc(), op->getResults());
}

/// In place of the phase's own way, which joins what has no parameter.
static void formLayerOfEachOp(pp::ModelOp model) {
  Block &body = model.getBody().front();
  int index = 0;
  for (Operation &op : llvm::make_early_inc_range(body.without_terminator())) {
    bool isReturned = llvm::is_contained(op.getUsers(), body.getTerminator());
    if (!isSource(&op) || isReturned)
      putIntoBlock(&op, index++);
  }
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (isSource(&op))
      op.erase();
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

static LogicalResult runPhase(StringRef name, ModuleOp module,
                              const BuildOptions &options) {
  PassManager pm(module.getContext());
  for (const PhaseInfo &phase : getPhases())
    if (phase.name == name)
      phase.build(pm, options);
  return pm.run(module);
}

void Cut::makeLayers() {
  test = SuiteTest::read(getSuite() + "/" + GetParam());
  ASSERT_TRUE(test) << "is not in " << getSuite();
  module = importEither(*test);
  ASSERT_TRUE(module) << llvm::join(errors, "; ");
  ASSERT_TRUE(succeeded(runPhase("Import", *module, BuildOptions())));
  formLayerOfEachOp(pp::getModel(*module));
  PassManager pm(&context);
  pm.addPass(createOutlineLayers());
  pm.addPass(createVerifyLayers());
  ASSERT_TRUE(succeeded(pm.run(*module)));
}

std::map<std::string, std::vector<char>> Cut::run(StringRef layer) {
  BuildOptions options;
  options.forwardOnly = true;
  options.balance = "uniform";
  options.chunks = 1;
  options.ranks = layer.empty() ? 1 : 2;
  if (!layer.empty())
    options.splitAt = {layer.str()};
  OwningOpRef<ModuleOp> cut = module->clone();
  if (failed(runPhase("Stages", *cut, options)) ||
      failed(runPhase("Comm", *cut, options))) {
    ADD_FAILURE() << "cannot be cut at " << layer.str();
    return {};
  }
  SymbolTable symbols(*cut);
  return StageRunner(*cut, generator).run([&](pp::BindingAttr binding) {
    if (binding.getKind() == pp::BindingKind::Input)
      return test->readInput(binding.getName(), &context);
    return readParameter(symbols.lookup<pp::ParameterOp>(binding.getName()));
  });
}

TEST_P(Cut, ChangesNoBit) {
  ASSERT_NO_FATAL_FAILURE(makeLayers());
  std::map<std::string, std::vector<char>> whole = run("");
  ASSERT_EQ(whole.size(), test->outputs.size());
  int cuts = 0;
  for (auto layer : pp::getModel(*module).getBody().getOps<pp::LayerOp>()) {
    if (layer.getName() == "op.0")
      continue;
    SCOPED_TRACE("second stage from " + layer.getName().str() + " on");
    EXPECT_EQ(run(layer.getName()), whole);
    ++cuts;
  }
  EXPECT_GT(cuts, 0) << "has one layer alone";
  ++count->models;
  count->cuts += cuts;
}

INSTANTIATE_TEST_SUITE_P(Models, Cut, testing::ValuesIn(listModels()),
                         describeParam);

TEST(CutModels, AreEnough) { EXPECT_GE(listModels().size(), leastModels); }
