//===- LayerTimes.cpp - Times of layers that a file gives
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Cost/LayerTimes.h"

#include "pipewright/Support/Json.h"
#include "pipewright/Support/TableFile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/GlobPattern.h"

using namespace llvm;
using namespace pipewright;

bool LayerTime::matches(StringRef layer) const {
  // It was one when it was read.
  return cantFail(GlobPattern::create(pattern)).match(layer);
}

const LayerTime *LayerTimes::find(StringRef layer) const {
  auto found =
      find_if(rows, [&](const LayerTime &row) { return row.matches(layer); });
  return found == rows.end() ? nullptr : &*found;
}

static bool readSeconds(const json::Object &table, StringLiteral key,
                        json::Path path, std::optional<double> &seconds) {
  const json::Value *value = table.get(key);
  return !value || readNumber(*value, path.field(key), /*mayBeZero=*/true,
                              seconds.emplace());
}

static bool readRow(const json::Value &value, json::Path path, LayerTime &row) {
  if (!checkKeys(value, {"layer"},
                 {"forward", "backward_input", "backward_weight", "recompute"},
                 path))
    return false;
  const json::Object &table = *value.getAsObject();
  if (!readText(*table.get("layer"), path.field("layer"), row.pattern))
    return false;
  if (errorToBool(GlobPattern::create(row.pattern).takeError())) {
    path.field("layer").report("is not a pattern of names");
    return false;
  }
  return readSeconds(table, "forward", path, row.forward) &&
         readSeconds(table, "backward_input", path, row.backwardInput) &&
         readSeconds(table, "backward_weight", path, row.backwardWeight) &&
         readSeconds(table, "recompute", path, row.recompute);
}

static bool readTable(const json::Value &value, json::Path path,
                      LayerTimes &times) {
  if (!checkKeys(value, {"microbatch_size", "layers"}, {}, path))
    return false;
  const json::Object &table = *value.getAsObject();
  times.microbatchSize = table.getInteger("microbatch_size").value_or(0);
  if (times.microbatchSize < 1) {
    path.field("microbatch_size").report("must be at least 1");
    return false;
  }
  const json::Array *rows = table.getArray("layers");
  if (!rows || rows->empty()) {
    path.field("layers").report("expected a list that is not empty");
    return false;
  }
  for (auto [index, row] : enumerate(*rows))
    if (!readRow(row, path.field("layers").index(index),
                 times.rows.emplace_back()))
      return false;
  return true;
}

Expected<LayerTimes> pipewright::readLayerTimes(StringRef path) {
  Expected<json::Value> table = readTableFile(path);
  if (!table)
    return table.takeError();
  LayerTimes times;
  json::Path::Root root(path);
  if (readTable(*table, root, times))
    return times;
  return root.getError();
}
