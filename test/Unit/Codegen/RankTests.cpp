//===- RankTests.cpp - What a rank's objects hold and do
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Buffer.h"
#include "CompiledFunction.h"

#include "pipewright/Codegen/CodeGenerator.h"
#include "pipewright/Codegen/Passes.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

#include <gtest/gtest.h>

#include <cmath>

#include <dlfcn.h>

using namespace mlir;
using namespace pipewright;

// A stage that passes its input on, and adds up a gradient.
static constexpr llvm::StringLiteral rankText = R"(
  pp.parameter @w trainable : tensor<4x8xf32> = dense<0.0> : tensor<4x8xf32>
  nn.function @main(%x: tensor<2x8xf32>, %w: tensor<4x8xf32>) -> tensor<2x4xf32> {
    %0 = nn.matmul %x, %w transpose_rhs : tensor<2x8xf32>, tensor<4x8xf32> -> tensor<2x4xf32>
    %1 = nn.tanh %0 : tensor<2x4xf32>
    nn.return %1 : tensor<2x4xf32>
  }
  nn.function @main.w(%d: tensor<2x4xf32>, %x: tensor<2x8xf32>, %a: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %0 = nn.matmul %d, %x transpose_lhs : tensor<2x4xf32>, tensor<2x8xf32> -> tensor<4x8xf32>
    %1 = nn.accumulate %a, %0 : tensor<4x8xf32>
    nn.return %1 : tensor<4x8xf32>
  }
  pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["main"] parameters [@w]
  pp.stage @s1 index 1 rank 1 chunk 0 first_layer 1 layers ["end"] parameters []
  pp.channel @y activation from @s0 to @s1 : tensor<2x4xf32>
  pp.channel @skip activation from @s0 to @s1 : tensor<2x8xf32>
  pp.channel @dy gradient from @s1 to @s0 : tensor<2x4xf32>
  pp.task @s0.f role F stage @s0 (%x: tensor<2x8xf32> = <input "x">, %w: tensor<4x8xf32> = <parameter "w">)
      -> (tensor<2x4xf32> = <channel "y">, tensor<2x8xf32> = <channel "skip">) {
    %y = nn.call @main(%x, %w) : (tensor<2x8xf32>, tensor<4x8xf32>) -> tensor<2x4xf32>
    pp.yield %y, %x : tensor<2x4xf32>, tensor<2x8xf32>
  }
  pp.task @s0.bw role BW stage @s0
      (%d: tensor<2x4xf32> = <channel "dy">, %x: tensor<2x8xf32> = <input "x">, %a: tensor<4x8xf32> = <gradient "w">)
      -> (tensor<4x8xf32> = <gradient "w">) {
    %two = nn.constant dense<2.0> : tensor<2x4xf32>
    %e = nn.mul %d, %two : tensor<2x4xf32>
    %g = nn.add %e, %d : tensor<2x4xf32>
    %r = nn.call @main.w(%g, %x, %a) : (tensor<2x4xf32>, tensor<2x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    pp.yield %r : tensor<4x8xf32>
  }
  pp.program step rank 0 {
    pp.run @s0.f [0]
    pp.send @y [0]
    pp.repeat %i = 1 to 3 {
      pp.run @s0.f [%i]
      pp.recv @dy [%i + -1]
      pp.run @s0.bw [%i + -1]
    }
    pp.recv @dy [2]
    pp.run @s0.bw [2]
    pp.step
  }
  pp.program eval rank 0 {
    pp.run @s0.f [0]
  }
)";

namespace {
class CodegenRank : public testing::Test {
protected:
  CodegenRank()
      : target(*TargetRegistry::get().find("cpu")),
        generator(target, {testProcessor.str()}) {
    DialectRegistry registry;
    registry.insert<nn::NNDialect, pp::PPDialect>();
    context.appendDialectRegistry(registry);
    module = parseSourceString<ModuleOp>(rankText, &context);
    EXPECT_TRUE(module);
    describe();
  }

  void describe() {
    description.toolVersion = "1.2.3";
    description.modelName = "tiny";
    description.planHash[0] = 17;
    description.planHash[31] = 200;
    description.ranks = 2;
    description.dataParallel = 6;
    description.expertParallel = 3;
    description.stages = 4;
    description.microbatches = 5;
    description.microbatchSize = 6;
    description.lossRank = 1;
    description.secondLossRank = 0;
    description.optimizer = PPRT_ADAMW;
    description.arenaBytes = 1ull << 40;
    description.messageBytes = 1ull << 39;
    description.reductionOffset = 1ull << 38;
    TensorDescription weight{"w", PPRT_F32, {4, 8}, 128};
    description.parameters = {{weight,
                               192,
                               true,
                               7,
                               320,
                               {448, 576},
                               true,
                               1,
                               {{0, 3, 640}, {1, 9, 768}},
                               3}};
    description.buffers = {
        {PPRT_BUFFER_OUTPUT, {896, 1 << 20}, 32, {0, 1, 0, 1, 0}, 1, -5}};
    TensorDescription value{"y", PPRT_BF16, {2, 4}, 16};
    description.channels = {
        {"y", PPRT_ACTIVATION, 10, 11, 12, 13, 14, value, 15},
        {"dy", PPRT_GRADIENT, 20, 21, 22, 23, 24, value, 25}};
    description.exchanges = {{"rows.0.0", 30, 31, 1ull << 36, 32, 33}};
    description.tasks = {{"s0.f", PPRT_ROLE_F, 2, {{PPRT_BIND_GRADIENT, 3, 4}}},
                         {"s0.bw", PPRT_ROLE_BW, 5, {}}};
    description.inputs = {
        {{"x", PPRT_I64, {2, 8}, 128}, -1, 50, -100, 60, true}};
    description.outputs = {{{"scalar", PPRT_F64, {}, 8}, UINT32_MAX}};
  }

  /// All objects of the rank, with the runtime's functions replaced.
  std::unique_ptr<llvm::orc::LLJIT> loadRank();

  /// Runs a task with one buffer per distinct binding and its workspace.
  void runTask(llvm::orc::LLJIT &loader, StringRef name,
               std::vector<Buffer> &buffers);

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  const CodegenTarget &target;
  CodeGenerator generator;
  RankDescription description;
};

/// What the rank's object hands to the runtime, and what it calls.
struct Calls {
  const PprtDescriptor *descriptor = nullptr;
  std::vector<std::string> actions;
};
} // namespace

static Calls *calls;

static int recordMain(int, char **, const PprtDescriptor *descriptor) {
  calls->descriptor = descriptor;
  return 42;
}
static void recordAction(const char *name, uint32_t index, uint32_t mb) {
  calls->actions.push_back(std::string(name) + " " + std::to_string(index) +
                           " [" + std::to_string(mb) + "]");
}
static void recordRun(PprtContext *, uint32_t task, uint32_t microbatch) {
  recordAction("run", task, microbatch);
}
static void recordSend(PprtContext *, uint32_t channel, uint32_t microbatch) {
  recordAction("send", channel, microbatch);
}
static void recordRecv(PprtContext *, uint32_t channel, uint32_t microbatch) {
  recordAction("recv", channel, microbatch);
}
static void recordUpdate(PprtContext *) { calls->actions.push_back("update"); }

std::unique_ptr<llvm::orc::LLJIT> CodegenRank::loadRank() {
  auto objects = generator.emitObjects(*module, /*rank=*/0, description);
  if (failed(objects))
    return nullptr;
  std::unique_ptr<llvm::orc::LLJIT> loader = createLoader();
  define(*loader, "pprtMain", reinterpret_cast<void *>(recordMain));
  define(*loader, "pprtRun", reinterpret_cast<void *>(recordRun));
  define(*loader, "pprtSend", reinterpret_cast<void *>(recordSend));
  define(*loader, "pprtRecv", reinterpret_cast<void *>(recordRecv));
  define(*loader, "pprtUpdate", reinterpret_cast<void *>(recordUpdate));
  for (const ObjectCode *object : *objects)
    load(*loader, *object);
  return loader;
}

/// Runs the rank's `main`, which gives away its descriptor.
static void runMain(llvm::orc::LLJIT &loader) {
  auto main =
      llvm::cantFail(loader.lookup("main")).toPtr<int (*)(int, char **)>();
  EXPECT_EQ(main(0, nullptr), 42);
  ASSERT_TRUE(calls->descriptor);
}

// Each field is where a C compiler finds it.
TEST_F(CodegenRank, EmitsTheDescriptor) {
  Calls recorded;
  calls = &recorded;
  auto loader = loadRank();
  ASSERT_TRUE(loader);
  runMain(*loader);
  const PprtDescriptor &d = *calls->descriptor;
  EXPECT_EQ(d.abiVersion, PPRT_ABI_VERSION);
  EXPECT_STREQ(d.toolVersion, "1.2.3");
  EXPECT_STREQ(d.modelName, "tiny");
  EXPECT_EQ(d.planHash[0], 17);
  EXPECT_EQ(d.planHash[31], 200);
  EXPECT_EQ(d.rank, 0u);
  EXPECT_EQ(d.ranks, 2u);
  EXPECT_EQ(d.dataParallel, 6u);
  EXPECT_EQ(d.expertParallel, 3u);
  EXPECT_EQ(d.stages, 4u);
  EXPECT_EQ(d.microbatches, 5u);
  EXPECT_EQ(d.microbatchSize, 6u);
  EXPECT_EQ(d.forwardOnly, 0u);
  EXPECT_EQ(d.lossRank, 1u);
  EXPECT_EQ(d.secondLossRank, 0u);
  EXPECT_EQ(d.optimizer, PPRT_ADAMW);
  EXPECT_EQ(d.arenaBytes, 1ull << 40);
  EXPECT_EQ(d.messageBytes, 1ull << 39);
  EXPECT_EQ(d.reductionOffset, 1ull << 38);

  ASSERT_EQ(d.parameterCount, 1u);
  const PprtParameter &parameter = d.parameters[0];
  EXPECT_STREQ(parameter.tensor.name, "w");
  EXPECT_EQ(parameter.tensor.dtype, PPRT_F32);
  ASSERT_EQ(parameter.tensor.rank, 2u);
  EXPECT_EQ(parameter.tensor.shape[1], 8);
  EXPECT_EQ(parameter.tensor.bytes, 128u);
  EXPECT_EQ(parameter.offset, 192u);
  EXPECT_EQ(parameter.trainable, 1u);
  EXPECT_EQ(parameter.order, 7u);
  EXPECT_EQ(parameter.gradient, 320u);
  EXPECT_EQ(parameter.state[1], 576u);
  EXPECT_EQ(parameter.decayed, 1u);
  EXPECT_EQ(parameter.owner, 1u);
  ASSERT_EQ(parameter.contributionCount, 2u);
  EXPECT_EQ(parameter.contributions[1].rank, 1u);
  EXPECT_EQ(parameter.contributions[1].layer, 9u);
  EXPECT_EQ(parameter.contributions[1].offset, 768u);
  EXPECT_EQ(parameter.shards, 3u);

  ASSERT_EQ(d.bufferCount, 1u);
  EXPECT_EQ(d.buffers[0].kind, PPRT_BUFFER_OUTPUT);
  EXPECT_EQ(d.buffers[0].slots, 2u);
  EXPECT_EQ(d.buffers[0].offsets[0], 896u);
  EXPECT_EQ(d.buffers[0].offsets[1], 1u << 20);
  EXPECT_EQ(d.buffers[0].bytes, 32u);
  EXPECT_EQ(d.buffers[0].slotOf[3], 1);
  EXPECT_EQ(d.buffers[0].evalSlot, 1u);
  EXPECT_EQ(d.buffers[0].index, -5);

  ASSERT_EQ(d.channelCount, 2u);
  const PprtChannel &channel = d.channels[1];
  EXPECT_STREQ(channel.name, "dy");
  EXPECT_EQ(channel.kind, PPRT_GRADIENT);
  EXPECT_EQ(channel.id, 20u);
  EXPECT_EQ(channel.source, 21u);
  EXPECT_EQ(channel.target, 22u);
  EXPECT_EQ(channel.sourceStage, 23u);
  EXPECT_EQ(channel.targetStage, 24u);
  EXPECT_EQ(channel.tensor.dtype, PPRT_BF16);
  EXPECT_EQ(channel.buffer, 25u);

  ASSERT_EQ(d.exchangeCount, 1u);
  EXPECT_STREQ(d.exchanges[0].name, "rows.0.0");
  EXPECT_EQ(d.exchanges[0].id, 30u);
  EXPECT_EQ(d.exchanges[0].stage, 31u);
  EXPECT_EQ(d.exchanges[0].blockBytes, 1ull << 36);
  EXPECT_EQ(d.exchanges[0].sent, 32u);
  EXPECT_EQ(d.exchanges[0].received, 33u);

  ASSERT_EQ(d.taskCount, 2u);
  EXPECT_STREQ(d.tasks[1].name, "s0.bw");
  EXPECT_EQ(d.tasks[1].role, PPRT_ROLE_BW);
  EXPECT_EQ(d.tasks[1].stage, 5u);
  EXPECT_TRUE(d.tasks[1].function);
  EXPECT_EQ(d.tasks[1].bindingCount, 0u);
  ASSERT_EQ(d.tasks[0].bindingCount, 1u);
  EXPECT_EQ(d.tasks[0].bindings[0].kind, PPRT_BIND_GRADIENT);
  EXPECT_EQ(d.tasks[0].bindings[0].index, 3u);
  EXPECT_EQ(d.tasks[0].bindings[0].offset, 4u);

  ASSERT_EQ(d.inputCount, 1u);
  EXPECT_EQ(d.inputs[0].axis, -1);
  EXPECT_EQ(d.inputs[0].labelClasses, 50);
  EXPECT_EQ(d.inputs[0].ignoreIndex, -100);
  EXPECT_EQ(d.inputs[0].indexLimit, 60);
  EXPECT_EQ(d.inputs[0].read, 1u);
  ASSERT_EQ(d.outputCount, 1u);
  EXPECT_EQ(d.outputs[0].tensor.rank, 0u);
  EXPECT_EQ(d.outputs[0].buffer, UINT32_MAX);
}

TEST_F(CodegenRank, ProgramsCallTheRuntime) {
  Calls recorded;
  calls = &recorded;
  auto loader = loadRank();
  ASSERT_TRUE(loader);
  runMain(*loader);
  calls->descriptor->step(nullptr);
  EXPECT_EQ(calls->actions,
            (std::vector<std::string>{"run 0 [0]", "send 0 [0]", "run 0 [1]",
                                      "recv 1 [0]", "run 1 [0]", "run 0 [2]",
                                      "recv 1 [1]", "run 1 [1]", "recv 1 [2]",
                                      "run 1 [2]", "update"}));
  calls->actions.clear();
  calls->descriptor->eval(nullptr);
  EXPECT_EQ(calls->actions, std::vector<std::string>{"run 0 [0]"});
}

void CodegenRank::runTask(llvm::orc::LLJIT &loader, StringRef name,
                          std::vector<Buffer> &buffers) {
  auto workspaces = generator.computeTaskWorkspaces(*module);
  ASSERT_TRUE(succeeded(workspaces));
  ASSERT_TRUE(workspaces->contains(name));
  buffers.emplace_back(workspaces->lookup(name));
  runMain(loader);
  std::vector<void *> pointers;
  for (Buffer &buffer : buffers)
    pointers.push_back(buffer.getData());
  for (uint32_t i = 0; i < calls->descriptor->taskCount; ++i)
    if (name == calls->descriptor->tasks[i].name)
      calls->descriptor->tasks[i].function(pointers.data());
  for (Buffer &buffer : buffers)
    EXPECT_TRUE(buffer.isIntact());
}

TEST_F(CodegenRank, ForwardComputesAndPassesOn) {
  Calls recorded;
  calls = &recorded;
  auto loader = loadRank();
  ASSERT_TRUE(loader);
  // x, w, y, skip: as they appear.
  std::vector<Buffer> buffers;
  for (int64_t bytes : {64, 128, 32, 64})
    buffers.emplace_back(bytes);
  Type element = Float32Type::get(&context);
  buffers[0].write(element,
                   nn::HostTensor({2, 8}, std::vector<double>(16, 0.5)));
  buffers[1].write(element,
                   nn::HostTensor({4, 8}, std::vector<double>(32, 0.25)));
  runTask(*loader, "s0.f", buffers);
  auto *y = static_cast<float *>(buffers[2].getData());
  auto *skip = static_cast<float *>(buffers[3].getData());
  for (int i = 0; i < 8; ++i)
    EXPECT_NEAR(y[i], std::tanh(1.0), 1e-6);
  for (int i = 0; i < 16; ++i)
    EXPECT_EQ(skip[i], 0.5f);
}

TEST_F(CodegenRank, BackwardAddsToTheGradient) {
  Calls recorded;
  calls = &recorded;
  auto loader = loadRank();
  ASSERT_TRUE(loader);
  // dy, x and the gradient, which is an argument and a result.
  std::vector<Buffer> buffers;
  for (int64_t bytes : {32, 64, 128})
    buffers.emplace_back(bytes);
  Type element = Float32Type::get(&context);
  buffers[0].write(element, nn::HostTensor({2, 4}, std::vector<double>(8, 1)));
  buffers[1].write(element,
                   nn::HostTensor({2, 8}, std::vector<double>(16, 0.5)));
  buffers[2].write(element,
                   nn::HostTensor({4, 8}, std::vector<double>(32, 10)));
  runTask(*loader, "s0.bw", buffers);
  auto *gradient = static_cast<float *>(buffers[2].getData());
  for (int i = 0; i < 32; ++i)
    EXPECT_EQ(gradient[i], 13.0f);
}

// Layers are compiled once, whoever runs them.
TEST_F(CodegenRank, RanksShareObjects) {
  auto first = generator.emitObjects(*module, /*rank=*/0, description);
  auto second = generator.emitObjects(*module, /*rank=*/0, description);
  ASSERT_TRUE(succeeded(first));
  ASSERT_TRUE(succeeded(second));
  ASSERT_GT(first->size(), 2u);
  EXPECT_TRUE(std::equal(first->begin() + 1, first->end(), second->begin() + 1,
                         second->end()));
}

TEST_F(CodegenRank, RefusesUnknownTasks) {
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    message = diagnostic.str();
    return success();
  });
  description.tasks.push_back({"s9.f", PPRT_ROLE_F, 9, {}});
  EXPECT_TRUE(failed(generator.emitObjects(*module, /*rank=*/0, description)));
  EXPECT_EQ(message, "the rank's descriptor lists a task 's9.f' that the "
                     "module does not have");
}

namespace {
/// A folder as a build makes it, with the runtime library of these tests.
class Installation {
public:
  Installation() {
    EXPECT_FALSE(
        llvm::sys::fs::createUniqueDirectory("pipewright-rank", folder));
    for (StringRef name : {"bin", "lib"})
      EXPECT_FALSE(llvm::sys::fs::create_directory(getPath(name)));
    EXPECT_FALSE(
        llvm::sys::fs::copy_file(STUB_RUNTIME, getPath("lib/libpprt.so")));
  }
  ~Installation() { llvm::sys::fs::remove_directories(folder); }

  std::string getPath(StringRef name) const {
    return (folder + "/" + name).str();
  }
  /// The exit status of \p program.
  int run(const std::string &program) {
    std::string output = getPath("output");
    std::optional<StringRef> redirects[] = {std::nullopt, StringRef(output),
                                            std::nullopt};
    return llvm::sys::ExecuteAndWait(program, {program}, std::nullopt,
                                     redirects);
  }
  std::string readOutput() const {
    auto text = llvm::MemoryBuffer::getFile(getPath("output"));
    return text ? (*text)->getBuffer().str() : "no output";
  }

private:
  llvm::SmallString<128> folder;
};
} // namespace

// The executable is started by the system's loader, with nothing of a C
// compiler in it, and finds the runtime library from where it lies itself.
TEST_F(CodegenRank, ExecutableRuns) {
  Installation installation;
  std::string path = installation.getPath("bin/rank-000");
  ASSERT_TRUE(succeeded(generator.emitExecutable(
      *module, /*rank=*/0, description, STUB_RUNTIME, path)));
  EXPECT_EQ(installation.run(path), 7);
  EXPECT_EQ(installation.readOutput(),
            "tiny: 1 arguments, 2 tasks, 1 actions\n");
}

/// Whether kernels can be assembled on this machine.
static bool isAvailable(const CodegenTarget &target,
                        const TargetOptions &options) {
  llvm::Expected<TargetOptions> resolved = target.resolveOptions(options);
  if (resolved)
    return true;
  llvm::consumeError(resolved.takeError());
  return false;
}

// The executable for devices is started as any other, and can also be loaded
// into a process, where a task calls the runtime.
TEST_F(CodegenRank, LoadableExecutableRuns) {
  const CodegenTarget &devices = *TargetRegistry::get().find("cuda");
  TargetOptions options{"sm_90,sm_80"};
  if (!isAvailable(devices, options))
    GTEST_SKIP() << "there is no CUDA toolkit";
  Installation installation;
  CodeGenerator compiler(devices, options);
  std::string path = installation.getPath("bin/rank-000");
  ASSERT_TRUE(succeeded(compiler.emitExecutable(
      *module, /*rank=*/0, description, STUB_RUNTIME, path)));
  EXPECT_EQ(installation.run(path), 7);
  EXPECT_EQ(installation.readOutput(),
            "tiny: 1 arguments, 2 tasks, 1 actions\n");

  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_TRUE(library) << dlerror();
  auto *loaded =
      static_cast<const PprtDescriptor *>(dlsym(library, "pprtDescriptor"));
  ASSERT_TRUE(loaded);
  EXPECT_STREQ(loaded->modelName, "tiny");
  // x, w, y, skip, and a workspace that is large enough.
  std::vector<std::vector<float>> buffers(5, std::vector<float>(64, 0.5f));
  buffers[2][0] = 3;
  std::vector<void *> pointers;
  for (std::vector<float> &buffer : buffers)
    pointers.push_back(buffer.data());
  for (int times = 0; times < 2; ++times)
    loaded->tasks[0].function(pointers.data());
  auto getCalls =
      reinterpret_cast<const char *(*)()>(dlsym(library, "getStubCalls"));
  ASSERT_TRUE(getCalls);
  EXPECT_STREQ(getCalls(),
               "product\n"
               "layer_main_kernels: elements_0, new, code for 80, code for 90, "
               "PTX for 80, on 3\n"
               "copy of 64 bytes\n"
               "product\n"
               "layer_main_kernels: elements_0, known, code for 80, code for "
               "90, PTX for 80, on 3\n"
               "copy of 64 bytes\n");
  dlclose(library);
}

TEST_F(CodegenRank, SaysWhyItCannotLink) {
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    message = diagnostic.str();
    return success();
  });
  EXPECT_TRUE(failed(generator.emitExecutable(
      *module, /*rank=*/0, description, "/nonexistent/libpprt.so", "/tmp/x")));
  EXPECT_NE(message.find("cannot open /nonexistent/libpprt.so"),
            std::string::npos)
      << message;
}

TEST_F(CodegenRank, RefusesUnknownProcessors) {
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    message = diagnostic.str();
    return success();
  });
  CodeGenerator other(target, {"pentium-9"});
  EXPECT_TRUE(failed(other.emitObjects(*module, /*rank=*/0, description)));
  EXPECT_EQ(message, "there is no x86-64 processor 'pentium-9'");
}
