//===- DeviceTests.cpp - The roofline model and its devices
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Cost/Device.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace llvm;
using namespace pipewright;

TEST(Device, IsBoundByTheSlowerOfArithmeticAndMemory) {
  Device device;
  device.flopsPerSecond = {50, 100, 200, 400};
  device.bytesPerSecond = 10;
  device.launchSeconds = 0.5;
  Work computing{/*flops=*/400, /*bytesRead=*/5, /*bytesWritten=*/5};
  EXPECT_DOUBLE_EQ(device.seconds(computing, FloatKind::F64), 8.5);
  EXPECT_DOUBLE_EQ(device.seconds(computing, FloatKind::F32), 4.5);
  EXPECT_DOUBLE_EQ(device.seconds(computing, FloatKind::BF16), 2.5);
  EXPECT_DOUBLE_EQ(device.seconds(computing, FloatKind::F16), 1.5);
  EXPECT_DOUBLE_EQ(device.seconds({/*flops=*/100, /*bytesRead=*/40,
                                   /*bytesWritten=*/20},
                                  FloatKind::F32),
                   6.5);
}

TEST(Device, ReachesThePartOfThePeakThatTheCurvesGive) {
  Device device;
  device.flopsPerSecond.fill(100);
  device.bytesPerSecond = 10;
  device.computeEfficiency = EfficiencyCurve({{10, 0.1}, {1000, 0.5}});
  device.memoryEfficiency = EfficiencyCurve({{1, 0.25}});
  // 100 is halfway between 10 and 1000 in the logarithm.
  EXPECT_DOUBLE_EQ(device.seconds({100, 0, 0}, FloatKind::F32), 1 / 0.3);
  EXPECT_DOUBLE_EQ(device.seconds({1, 0, 0}, FloatKind::F32), 0.01 / 0.1);
  EXPECT_DOUBLE_EQ(device.seconds({5000, 0, 0}, FloatKind::F32), 50 / 0.5);
  EXPECT_DOUBLE_EQ(device.seconds({0, 20, 20}, FloatKind::F32), 4 / 0.25);
  EXPECT_DOUBLE_EQ(device.seconds({0, 0, 0}, FloatKind::F32), 0);
}

TEST(Device, TakesTimeForProductsAndThenForAllElse) {
  Device device;
  device.flopsPerSecond.fill(100);
  device.vectorFlopsPerSecond = {1, 20, 1, 1};
  device.bytesPerSecond = 10;
  device.vectorEfficiency = EfficiencyCurve({{40, 0.5}});
  Work work{/*flops=*/240, /*bytesRead=*/20, /*bytesWritten=*/20,
            /*vectorFlops=*/40};
  EXPECT_DOUBLE_EQ(device.seconds(work, FloatKind::F32), 2 + 4);
}

TEST(Device, ComesWithWhatItsFilesSay) {
  EXPECT_TRUE(is_sorted(getDeviceNames()));
  for (StringRef name : getDeviceNames()) {
    Expected<Device> device = loadDevice(name);
    ASSERT_TRUE(bool(device)) << toString(device.takeError());
    EXPECT_EQ(device->name, name);
    EXPECT_FALSE(device->description.empty()) << name.str();
    EXPECT_EQ(device->sources.size(), 8u) << name.str();
  }
}

// NVIDIA's datasheets: dense bf16 peak, bandwidth, memory; its whitepaper: the
// peak without Tensor Cores.
TEST(Device, HasTheFiguresOfTheDatasheet) {
  Device device = cantFail(loadDevice("a100"));
  EXPECT_EQ(device.flopsPerSecond[size_t(FloatKind::BF16)], 312e12);
  EXPECT_EQ(device.flopsPerSecond[size_t(FloatKind::F32)], 19.5e12);
  EXPECT_EQ(device.vectorFlopsPerSecond[size_t(FloatKind::BF16)], 39e12);
  EXPECT_EQ(device.bytesPerSecond, 2039e9);
  EXPECT_EQ(device.memoryBytes, 80'000'000'000);
}

namespace {
/// A description in a file, of which tests spoil one line.
class DeviceFile : public testing::Test {
protected:
  DeviceFile() {
    for (StringRef figure :
         {"flops_per_second", "bytes_per_second", "memory_bytes",
          "launch_seconds", "compute_efficiency", "memory_efficiency"})
      sources += formatLine(figure, "\"measured\"");
    cantFail(errorCodeToError(
        sys::fs::createUniqueDirectory("pipewright-device", folder)));
  }
  ~DeviceFile() override { sys::fs::remove_directories(folder); }

  static std::string formatLine(StringRef key, StringRef value) {
    return (key + " = " + value + "\n").str();
  }

  /// The description with \p value for \p key; without it if \p value is "".
  std::string makeText(StringRef key = "name", StringRef value = "\"mine\"") {
    std::pair<StringRef, StringRef> lines[] = {
        {"name", "\"mine\""},
        {"flops_per_second", "{f64 = 1e9, f32 = 2e9, bf16 = 3e9, f16 = 4e9}"},
        {"bytes_per_second", "5e9"},
        {"memory_bytes", "6000000000"},
        {"launch_seconds", "0"},
        {"compute_efficiency", "[[1000, 0.5], [1e6, 1]]"},
        {"memory_efficiency", "[[1, 0.5]]"}};
    std::string text;
    for (auto [name, usual] : lines)
      if (name != key)
        text += formatLine(name, usual);
    if (!value.empty())
      text += formatLine(key, value);
    return text + "[sources]\n" + sources;
  }

  /// The error that reading \p text as a file of that name gives, from the
  /// name on; "" if it is read.
  std::string getError(StringRef text, StringRef name = "mine.toml") {
    std::string path = (folder + "/" + name).str();
    std::error_code error;
    raw_fd_ostream(path, error) << text;
    Expected<Device> read = loadDevice(path);
    if (read) {
      device = *read;
      return "";
    }
    std::string message = toString(read.takeError());
    size_t at = message.find(folder.str().str());
    return at == std::string::npos ? message
                                   : message.erase(at, folder.size() + 1);
  }

  SmallString<64> folder;
  std::string sources;
  Device device;
};
} // namespace

TEST_F(DeviceFile, IsRead) {
  ASSERT_EQ(getError(makeText()), "");
  EXPECT_EQ(device.name, "mine");
  EXPECT_EQ(device.flopsPerSecond, (std::array<double, 4>{1e9, 2e9, 3e9, 4e9}));
  EXPECT_EQ(device.bytesPerSecond, 5e9);
  EXPECT_EQ(device.memoryBytes, 6'000'000'000);
  EXPECT_DOUBLE_EQ(device.computeEfficiency.at(1e9), 1);
  EXPECT_DOUBLE_EQ(device.memoryEfficiency.at(1e9), 0.5);
  // Without figures of their own, other FLOPs are as those of products.
  EXPECT_EQ(device.vectorFlopsPerSecond, device.flopsPerSecond);
  EXPECT_DOUBLE_EQ(device.vectorEfficiency.at(1000), 0.5);
  EXPECT_EQ(device.sources.front().source, "measured");
}

TEST_F(DeviceFile, HasPeaksForWhatIsNoProduct) {
  sources += formatLine("vector_flops_per_second", "\"measured\"");
  EXPECT_EQ(getError(makeText("vector_flops_per_second",
                              "{f64 = 1, f32 = 2, bf16 = 3, f16 = 4}")),
            "");
  EXPECT_EQ(device.vectorFlopsPerSecond, (std::array<double, 4>{1, 2, 3, 4}));
  // A source is there for each figure, and for no others.
  EXPECT_EQ(getError(makeText()), "is not a key that is known at "
                                  "mine.toml.sources.vector_flops_per_second");
  EXPECT_EQ(getError(makeText("vector_efficiency", "[[1, 1]]")),
            "is not a key that is known at "
            "mine.toml.sources.vector_flops_per_second");
}

TEST_F(DeviceFile, NamesFileAndKeyOfAFault) {
  EXPECT_EQ(getError(makeText("bandwidth", "1")),
            "is not a key that is known at mine.toml.bandwidth");
  EXPECT_EQ(getError(makeText("bytes_per_second", "")),
            "is missing at mine.toml.bytes_per_second");
  EXPECT_EQ(getError(makeText("bytes_per_second", "\"fast\"")),
            "expected a number at mine.toml.bytes_per_second");
  EXPECT_EQ(getError(makeText("bytes_per_second", "-1")),
            "must be above 0 at mine.toml.bytes_per_second");
  EXPECT_EQ(getError(makeText("launch_seconds", "-1e-6")),
            "must be at least 0 at mine.toml.launch_seconds");
  EXPECT_EQ(getError(makeText("memory_bytes", "1e30")),
            "must be below 2^63 at mine.toml.memory_bytes");
  EXPECT_EQ(getError(makeText("name", "7")),
            "expected a text at mine.toml.name");
  EXPECT_EQ(getError(makeText("flops_per_second", "1e9")),
            "expected a table at mine.toml.flops_per_second");
  EXPECT_EQ(
      getError(makeText("flops_per_second", "{f64 = 1, f32 = 1, bf16 = 1}")),
      "is missing at mine.toml.flops_per_second.f16");
  EXPECT_EQ(getError(makeText("flops_per_second",
                              "{f64 = 0, f32 = 1, bf16 = 1, f16 = 1}")),
            "must be above 0 at mine.toml.flops_per_second.f64");
}

TEST_F(DeviceFile, HasCurvesThatAscend) {
  auto getFault = [&](StringRef curve) {
    std::string error = getError(makeText("compute_efficiency", curve));
    size_t at = error.find(" at mine.toml.compute_efficiency");
    return at == std::string::npos ? "elsewhere: " + error
                                   : error.substr(0, at);
  };
  EXPECT_EQ(getFault("[]"),
            "expected a list of pairs of a size and a fraction");
  EXPECT_EQ(getFault("[[1, 0.5, 2]]"),
            "expected a pair of a size and a fraction");
  EXPECT_EQ(getFault("[[0, 0.5]]"), "must be above 0");
  EXPECT_EQ(getFault("[[1, 1.5]]"), "must be at most 1");
  EXPECT_EQ(getFault("[[1, 0]]"), "must be above 0");
  EXPECT_EQ(getFault("[[2, 0.5], [2, 0.6]]"),
            "must be above the size before it");
}

TEST_F(DeviceFile, NamesAnUnknownDevice) {
  Expected<Device> unknown = loadDevice("h1000");
  ASSERT_FALSE(bool(unknown));
  EXPECT_EQ(toString(unknown.takeError()),
            "there is no device 'h1000'; expected a100, b200, cpu, h100, h200, "
            "or a .json or .toml file");
  EXPECT_EQ(getError("{", "mine.json").substr(0, 11), "mine.json: ");
  EXPECT_EQ(getError("x = = 1").substr(0, 14), "mine.toml:1:5:");
}
