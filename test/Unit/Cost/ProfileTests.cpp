//===- ProfileTests.cpp - Measurements, and the line of a link
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Cost/Profile.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace pipewright;

// numpy.percentile([8, 1, 4, 2], [25, 50, 75]) is [1.75, 3, 5].
TEST(Measurement, IsMeanAndDistanceOfQuartiles) {
  Measurement time = Measurement::of({8, 1, 4, 2});
  EXPECT_DOUBLE_EQ(time.seconds, 3.75);
  EXPECT_DOUBLE_EQ(time.spread, 3.25);
  EXPECT_EQ(time.samples, 4);
  Measurement single = Measurement::of({7});
  EXPECT_DOUBLE_EQ(single.seconds, 7);
  EXPECT_DOUBLE_EQ(single.spread, 0);
}

TEST(Measurement, LeavesOutWhatSomethingElseInterrupted) {
  Measurement time = Measurement::of({2, 2, 3, 6.1, 50});
  EXPECT_DOUBLE_EQ(time.seconds, (2 + 2 + 3 + 6.1) / 4);
  EXPECT_EQ(time.samples, 5);
  EXPECT_DOUBLE_EQ(Measurement::of({2, 2, 2, 6.1}).seconds, 2);
}

static MeasuredLink makeLink(ArrayRef<std::pair<int64_t, double>> points) {
  MeasuredLink link;
  for (auto [bytes, seconds] : points)
    link.points.push_back({bytes, {seconds, 0, 1}});
  fitLink(link);
  return link;
}

TEST(Profile, HasATypicalLinkOfMiddleSpeed) {
  Profile profile;
  EXPECT_FALSE(profile.getTypicalLink());
  for (double bandwidth : {1e9, 4e9, 2e9})
    profile.links.push_back({{0, 1}, 0, bandwidth, {}});
  EXPECT_EQ(profile.getTypicalLink()->bytesPerSecond, 2e9);
}

TEST(FitLink, FindsTheLineThatItsPointsLieOn) {
  // 2 us and 1 GB/s.
  MeasuredLink link =
      makeLink({{8, 2.008e-6}, {1000, 3e-6}, {1000000, 1.002e-3}});
  EXPECT_NEAR(link.latencySeconds, 2e-6, 1e-12);
  EXPECT_NEAR(link.bytesPerSecond, 1e9, 1);
}

TEST(FitLink, LetsSmallMessagesCount) {
  // The large message is off the line by more than the latency.
  MeasuredLink link =
      makeLink({{8, 1e-6}, {16, 1e-6}, {32, 1e-6}, {1000000000, 1.1}});
  EXPECT_NEAR(link.latencySeconds, 1e-6, 1e-7);
  EXPECT_NEAR(link.bytesPerSecond, 1e9 / 1.1, 1e7);
}

TEST(FitLink, HasNoLatencyBelowZero) {
  MeasuredLink link = makeLink({{1000, 1e-6}, {2000, 3e-6}});
  EXPECT_EQ(link.latencySeconds, 0);
  EXPECT_GT(link.bytesPerSecond, 0);
  MeasuredLink even = makeLink({{1000, 2e-6}, {2000, 1e-6}});
  EXPECT_DOUBLE_EQ(even.bytesPerSecond, 2e9);
}

static Profile makeProfile() {
  Profile profile;
  profile.toolVersion = "0.1";
  profile.date = "2026-01-02T03:04:05Z";
  profile.model = "m.onnx";
  profile.modelSha256 = "ab";
  profile.bindings["batch"] = 2;
  profile.inputs["x"] = {2, 3};
  profile.microbatchSize = 2;
  profile.precision = "bf16";
  profile.loss = "mse:y,t";
  profile.ranks = 2;
  profile.device = "EPYC";
  profile.target = "cpu";
  profile.targetCpu = "native";
  MeasuredLayer layer;
  layer.function = "fc";
  layer.key = "0123";
  layer.layers = {"fc.0", "fc.1"};
  layer.forward = {1e-3, 1e-5, 20};
  layer.backwardWeight = Measurement{3e-3, 0, 20};
  layer.recompute = Measurement{5e-4, 0, 20};
  profile.layers.push_back(layer);
  profile.updates.push_back({"adamw", 2000, {4e-3, 1e-4, 10}});
  MeasuredLink link;
  link.ranks = {0, 1};
  link.latencySeconds = 1e-6;
  link.bytesPerSecond = 5e9;
  link.points.push_back({8, {1e-6, 1e-7, 30}});
  profile.links.push_back(link);
  profile.hosts = {"here", "there"};
  return profile;
}

namespace {
class ProfileFile : public testing::Test {
protected:
  ProfileFile() {
    cantFail(errorCodeToError(
        sys::fs::createTemporaryFile("pipewright-profile", "json", path)));
  }
  ~ProfileFile() override { sys::fs::remove(path); }

  Expected<Profile> read(const json::Value &value) {
    std::error_code error;
    raw_fd_ostream(path, error) << formatv("{0:2}", value);
    return readProfile(path);
  }
  /// The error, with "FILE" for the path.
  std::string getError(json::Value value) {
    Expected<Profile> profile = read(value);
    if (profile)
      return "";
    std::string message = toString(profile.takeError());
    size_t at = message.find(path.str().str());
    return at == std::string::npos ? message
                                   : message.replace(at, path.size(), "FILE");
  }

  SmallString<128> path;
};
} // namespace

TEST_F(ProfileFile, ReadsWhatItWrites) {
  Profile profile = cantFail(read(toJSON(makeProfile())));
  EXPECT_EQ(toJSON(profile), toJSON(makeProfile()));
  ASSERT_TRUE(profile.find("0123"));
  EXPECT_EQ(profile.find("0123")->layers.back(), "fc.1");
  EXPECT_FALSE(profile.find("0123")->backwardInput);
  EXPECT_EQ(profile.find("0123")->backwardWeight->seconds, 3e-3);
  EXPECT_EQ(profile.find("0123")->recompute->seconds, 5e-4);
  EXPECT_FALSE(profile.find("4567"));
  EXPECT_DOUBLE_EQ(profile.updates.front().getSeconds(500), 1e-3);
}

TEST_F(ProfileFile, NamesFileAndKeyOfAFault) {
  auto spoil = [](auto change) {
    json::Value value = toJSON(makeProfile());
    change(*value.getAsObject());
    return value;
  };
  auto getLayer = [](json::Object &object) -> json::Object & {
    return *(*object.getArray("layers"))[0].getAsObject();
  };
  EXPECT_EQ(getError(spoil([](auto &object) { object.erase("date"); })),
            "is missing at FILE.date");
  EXPECT_EQ(getError(spoil([](auto &object) { object["more"] = 1; })),
            "is not a key that is known at FILE.more");
  EXPECT_EQ(getError(spoil([](auto &object) { object["format_version"] = 1; })),
            "is not a version that is known at FILE.format_version");
  EXPECT_EQ(getError(spoil([](auto &object) { object["model"] = 2; })),
            "expected string at FILE.model");
  EXPECT_EQ(getError(spoil([&](auto &object) {
              (*getLayer(object).getObject("forward"))["seconds"] = -1;
            })),
            "must be above 0 at FILE.layers[0].forward.seconds");
  EXPECT_EQ(
      getError(spoil([&](auto &object) { getLayer(object).erase("forward"); })),
      "is missing at FILE.layers[0].forward");
  EXPECT_EQ(getError(spoil(
                [](auto &object) { object["hosts"] = json::Array{"here"}; })),
            "joins a rank without a host at FILE.links[0]");
}
