//===- DeviceFile.cpp - Reads descriptions of devices
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Cost/Device.h"

#include "pipewright/Support/Json.h"
#include "pipewright/Support/TableFile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace pipewright;

/// The files of lib/Cost/Devices, sorted by name.
static constexpr NamedTable deviceTables[] = {
#include "pipewright/Cost/Devices.inc"
};

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static constexpr StringRef figures[] = {
    "flops_per_second", "bytes_per_second",   "memory_bytes",
    "launch_seconds",   "compute_efficiency", "memory_efficiency"};

/// What may be left out: it is then as for products of matrices.
static constexpr StringRef vectorFigures[] = {"vector_flops_per_second",
                                              "vector_efficiency"};

static bool readField(const json::Value &value, json::Path path,
                      std::string &text) {
  return readText(value, path, text);
}

static bool readField(const json::Value &value, json::Path path,
                      double &number) {
  return readNumber(value, path, /*mayBeZero=*/false, number);
}

/// Pairs of a size and the part of the peak that ops of this size reach.
static bool readField(const json::Value &value, json::Path path,
                      EfficiencyCurve &curve) {
  const json::Array *list = value.getAsArray();
  if (!list || list->empty()) {
    path.report("expected a list of pairs of a size and a fraction");
    return false;
  }
  std::vector<EfficiencyCurve::Point> points;
  for (auto [index, element] : enumerate(*list)) {
    json::Path here = path.index(index);
    const json::Array *pair = element.getAsArray();
    EfficiencyCurve::Point point;
    if (!pair || pair->size() != 2) {
      here.report("expected a pair of a size and a fraction");
      return false;
    }
    if (!readNumber((*pair)[0], here.index(0), /*mayBeZero=*/false,
                    point.size) ||
        !readNumber((*pair)[1], here.index(1), /*mayBeZero=*/false,
                    point.fraction))
      return false;
    if (point.fraction > 1) {
      here.index(1).report("must be at most 1");
      return false;
    }
    if (!points.empty() && point.size <= points.back().size) {
      here.index(0).report("must be above the size before it");
      return false;
    }
    points.push_back(point);
  }
  curve = EfficiencyCurve(std::move(points));
  return true;
}

/// Peaks by type.
static bool readField(const json::Value &value, json::Path path,
                      std::array<double, 4> &flopsPerSecond) {
  static constexpr StringRef kinds[] = {"f64", "f32", "bf16", "f16"};
  if (!checkKeys(value, kinds, {}, path))
    return false;
  const json::Object &peaks = *value.getAsObject();
  for (auto [index, kind] : enumerate(kinds))
    if (!readNumber(*peaks.get(kind), path.field(kind), /*mayBeZero=*/false,
                    flopsPerSecond[index]))
      return false;
  return true;
}

/// A source for each of \p wanted.
static bool readSources(const json::Value &value, json::Path path,
                        ArrayRef<StringRef> wanted, Device &device) {
  if (!checkKeys(value, wanted, {}, path))
    return false;
  const json::Object &sources = *value.getAsObject();
  for (StringRef figure : wanted) {
    FigureSource &source = device.sources.emplace_back();
    source.figure = figure.str();
    if (!readText(*sources.get(figure), path.field(figure), source.source))
      return false;
  }
  return true;
}

/// The figures that \p value has; nothing if it has keys that it must not, or
/// lacks one.
static std::optional<SmallVector<StringRef>>
listFigures(const json::Value &value, json::Path path) {
  SmallVector<StringRef> given(std::begin(figures), std::end(figures));
  SmallVector<StringRef> required = given;
  required.append({"name", "sources"});
  SmallVector<StringRef> optional(std::begin(vectorFigures),
                                  std::end(vectorFigures));
  optional.push_back("description");
  if (!checkKeys(value, required, optional, path))
    return std::nullopt;
  for (StringRef figure : vectorFigures)
    if (value.getAsObject()->get(figure))
      given.push_back(figure);
  return given;
}

static bool fromJSON(const json::Value &value, Device &device,
                     json::Path path) {
  std::optional<SmallVector<StringRef>> given = listFigures(value, path);
  if (!given)
    return false;
  const json::Object &table = *value.getAsObject();
  auto read = [&](StringLiteral key, auto &field) {
    const json::Value *found = table.get(key);
    return !found || readField(*found, path.field(key), field);
  };
  double memory = 0;
  if (!read("name", device.name) || !read("description", device.description) ||
      !read("flops_per_second", device.flopsPerSecond) ||
      !read("bytes_per_second", device.bytesPerSecond) ||
      !read("memory_bytes", memory) ||
      !readNumber(*table.get("launch_seconds"), path.field("launch_seconds"),
                  /*mayBeZero=*/true, device.launchSeconds) ||
      !read("compute_efficiency", device.computeEfficiency) ||
      !read("memory_efficiency", device.memoryEfficiency))
    return false;
  device.vectorFlopsPerSecond = device.flopsPerSecond;
  device.vectorEfficiency = device.computeEfficiency;
  if (!read("vector_flops_per_second", device.vectorFlopsPerSecond) ||
      !read("vector_efficiency", device.vectorEfficiency) ||
      !readSources(*table.get("sources"), path.field("sources"), *given,
                   device))
    return false;
  if (memory >= 9e18) {
    path.field("memory_bytes").report("must be below 2^63");
    return false;
  }
  device.memoryBytes = static_cast<int64_t>(memory);
  return true;
}

//===----------------------------------------------------------------------===//
// Finding
//===----------------------------------------------------------------------===//

ArrayRef<StringRef> pipewright::getDeviceNames() {
  static const std::vector<StringRef> names = getNames(deviceTables);
  return names;
}

Expected<Device> pipewright::loadDevice(StringRef nameOrFile) {
  Expected<json::Value> table =
      readNamedTable("device", nameOrFile, deviceTables);
  if (!table)
    return table.takeError();
  Device device;
  json::Path::Root root(nameOrFile);
  if (fromJSON(*table, device, root))
    return device;
  return root.getError();
}
