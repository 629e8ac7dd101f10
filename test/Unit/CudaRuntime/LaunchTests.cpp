//===- LaunchTests.cpp - Kernels and copies of layers on a device ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceTest.h"

#include "Modules.h"

#include <cstdlib>
#include <thread>

using namespace pprt;
using namespace pprt::cuda;

/// data[i] = factor * data[i] + 1, for up to 64 threads a block.
static const char text[] = R"(
.version 7.0
.target sm_80
.address_size 64
.visible .entry grow(.param .u64 data, .param .f32 factor)
.maxntid 64, 1, 1
{
  .reg .f32 %f<4>;
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [data];
  ld.param.f32 %f1, [factor];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %tid.x;
  mad.lo.u32 %r3, %r1, 64, %r2;
  mul.wide.u32 %rd2, %r3, 4;
  add.u64 %rd3, %rd1, %rd2;
  ld.global.f32 %f2, [%rd3];
  fma.rn.f32 %f3, %f1, %f2, 0f3F800000;
  st.global.f32 [%rd3], %f3;
  ret;
}
)";

namespace {
/// A module as compiled ranks have it.
class Launch : public DeviceTest {
protected:
  void grow(float *data, float factor, uint32_t blocks = 2,
            uint32_t threads = 64) {
    void *arguments[] = {&data, &factor};
    pprtCudaLaunch(&module, 0, blocks, 1, 1, threads, 1, 1, arguments);
  }

  const PprtKernelImage *choose(int chip, std::vector<PprtKernelImage> images) {
    chosen = std::move(images);
    module.images = chosen.data();
    module.imageCount = static_cast<uint32_t>(chosen.size());
    return chooseImage(module, chip);
  }

  PprtKernelImage image = {80, 1, text, sizeof text - 1};
  const char *const kernels[1] = {"grow"};
  void *handles[1] = {nullptr};
  PprtKernelModule module = {"layer.0", 1, 1, &image, kernels, handles};
  std::vector<PprtKernelImage> chosen;
};

using LaunchDeathTest = Launch;
} // namespace

TEST_F(Launch, LoadsWhileItPreparesAndThenRuns) {
  float *data = upload(std::vector<float>(128, 2));
  prepare(true);
  grow(data, 3);
  grow(data, 3);
  EXPECT_NE(handles[0], nullptr);
  EXPECT_EQ(download(data, 128), std::vector<float>(128, 2));
  prepare(false);
  grow(data, 3);
  EXPECT_EQ(download(data, 128), std::vector<float>(128, 7));
}

TEST_F(Launch, LoadsAnewAfterItWasReleased) {
  float *data = upload(std::vector<float>(128, 2));
  prepareAndRun([&] { grow(data, 3); });
  prepare(true);
  release();
  EXPECT_EQ(handles[0], nullptr);
  prepareAndRun([&] { grow(data, 3); });
  EXPECT_EQ(download(data, 128), std::vector<float>(128, 22));
}

// Ranks are threads, and one is done before another.
TEST_F(Launch, KeepsWhatAnotherThreadNeeds) {
  float *data = upload(std::vector<float>(128, 2));
  prepare(true);
  grow(data, 3);
  std::thread other([&, stream = to] {
    getComputeStream() = stream;
    grow(data, 3);
    release();
  });
  other.join();
  prepare(false);
  grow(data, 3);
  EXPECT_EQ(download(data, 128), std::vector<float>(128, 7));
}

TEST_F(Launch, ReadsTheEnvironment) {
  EXPECT_FALSE(ComputeStream().allowsTf32);
  setenv("PIPEWRIGHT_TF32", "1", /*overwrite=*/1);
  EXPECT_TRUE(ComputeStream().allowsTf32);
  unsetenv("PIPEWRIGHT_TF32");
}

TEST_F(Launch, CopiesInTheOrderOfTheStream) {
  float *data = upload<float>({1, 2, 3}), *other = upload<float>({0, 0, 0});
  prepareAndRun([&] { pprtCudaCopy(other, data, 2 * sizeof(float)); });
  EXPECT_EQ(download(other, 3), (std::vector<float>{1, 2, 0}));
}

TEST_F(Launch, ChoosesMachineCodeOfTheChip) {
  PprtKernelImage ptx80 = {80, 1, "", 0}, ptx90 = {90, 1, "", 0};
  PprtKernelImage code80 = {80, 0, "", 0}, code86 = {86, 0, "", 0},
                  code90 = {90, 0, "", 0};
  std::vector<PprtKernelImage> all = {ptx90, code80, ptx80, code86, code90};
  EXPECT_EQ(choose(90, all), &chosen[4]);
  EXPECT_EQ(choose(80, all), &chosen[1]);
  EXPECT_EQ(choose(86, all), &chosen[3]);
  // An older chip of the generation.
  EXPECT_EQ(choose(89, all), &chosen[3]);
  EXPECT_EQ(choose(87, {ptx80, code80}), &chosen[1]);
  // Machine code of another generation does not run.
  EXPECT_EQ(choose(100, all), &chosen[0]);
  EXPECT_EQ(choose(100, {code90, ptx80}), &chosen[1]);
  EXPECT_EQ(choose(75, all), nullptr);
  EXPECT_EQ(choose(80, {code86, ptx90}), nullptr);
}

TEST_F(LaunchDeathTest, SaysWhichChipToBuildFor) {
  prepare(true);
  to.chip = 75;
  to.rank = 2;
  EXPECT_EXIT(grow(nullptr, 1), testing::ExitedWithCode(3),
              "^pprt: rank 2: error: the kernels of 'layer.0' are for sm_80, "
              "and this device is sm_75; build with '--arch sm_75'\n$");
}

TEST_F(LaunchDeathTest, SaysHowManyThreadsABlockMayHave) {
  prepare(true);
  EXPECT_EXIT(grow(nullptr, 1, /*blocks=*/1, /*threads=*/65),
              testing::ExitedWithCode(3),
              "kernel 'grow' of 'layer.0' has 65 threads a block, of which "
              "this device allows 64");
}

TEST_F(LaunchDeathTest, EndsWhenTheDeviceFails) {
  EXPECT_EXIT(check(cudaErrorIllegalAddress, "cannot add"),
              testing::ExitedWithCode(12),
              "^pprt: rank 0: error: cannot add: .*\n$");
  EXPECT_EXIT(check(cudaErrorNoDevice, "cannot start"),
              testing::ExitedWithCode(3), "cannot start");
}
