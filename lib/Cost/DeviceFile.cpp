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

/// Pairs of a size and the part of the peak that ops of this size reach.
static bool readCurve(const json::Value &value, json::Path path,
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

static bool readPeaks(const json::Value &value, json::Path path,
                      Device &device) {
  static constexpr StringRef kinds[] = {"f64", "f32", "bf16", "f16"};
  if (!checkKeys(value, kinds, {}, path))
    return false;
  const json::Object &peaks = *value.getAsObject();
  for (auto [index, kind] : enumerate(kinds))
    if (!readNumber(*peaks.get(kind), path.field(kind), /*mayBeZero=*/false,
                    device.flopsPerSecond[index]))
      return false;
  return true;
}

static bool readSources(const json::Value &value, json::Path path,
                        Device &device) {
  if (!checkKeys(value, figures, {}, path))
    return false;
  const json::Object &sources = *value.getAsObject();
  for (StringRef figure : figures) {
    FigureSource &source = device.sources.emplace_back();
    source.figure = figure.str();
    if (!readText(*sources.get(figure), path.field(figure), source.source))
      return false;
  }
  return true;
}

static bool fromJSON(const json::Value &value, Device &device,
                     json::Path path) {
  SmallVector<StringRef> required(std::begin(figures), std::end(figures));
  required.append({"name", "sources"});
  if (!checkKeys(value, required, {"description"}, path))
    return false;
  const json::Object &table = *value.getAsObject();
  auto read = [&](StringLiteral key, auto &&reader) {
    const json::Value *field = table.get(key);
    return !field || reader(*field, path.field(key));
  };
  auto readInto = [](double &number, bool mayBeZero = false) {
    return [&number, mayBeZero](const json::Value &field, json::Path place) {
      return readNumber(field, place, mayBeZero, number);
    };
  };
  double memory = 0;
  bool isRead = read("name",
                     [&](auto &field, auto place) {
                       return readText(field, place, device.name);
                     }) &&
                read("description",
                     [&](auto &field, auto place) {
                       return readText(field, place, device.description);
                     }) &&
                read("flops_per_second",
                     [&](auto &field, auto place) {
                       return readPeaks(field, place, device);
                     }) &&
                read("bytes_per_second", readInto(device.bytesPerSecond)) &&
                read("memory_bytes", readInto(memory)) &&
                read("launch_seconds",
                     readInto(device.launchSeconds, /*mayBeZero=*/true)) &&
                read("compute_efficiency",
                     [&](auto &field, auto place) {
                       return readCurve(field, place, device.computeEfficiency);
                     }) &&
                read("memory_efficiency",
                     [&](auto &field, auto place) {
                       return readCurve(field, place, device.memoryEfficiency);
                     }) &&
                read("sources", [&](auto &field, auto place) {
                  return readSources(field, place, device);
                });
  if (isRead && memory >= 9e18) {
    path.field("memory_bytes").report("must be below 2^63");
    return false;
  }
  device.memoryBytes = static_cast<int64_t>(memory);
  return isRead;
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
