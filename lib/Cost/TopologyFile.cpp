//===- TopologyFile.cpp - Reads descriptions of topologies
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Cost/Profile.h"
#include "pipewright/Cost/Topology.h"
#include "pipewright/Support/Json.h"
#include "pipewright/Support/TableFile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace pipewright;

/// The files of lib/Cost/Topologies, sorted by name.
static constexpr NamedTable topologyTables[] = {
#include "pipewright/Cost/Topologies.inc"
};

/// More are a mistake in a count.
static constexpr size_t maxTopologyDevices = 8192;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {
class TopologyReader {
public:
  explicit TopologyReader(StringRef origin) : origin(origin) {}

  Expected<Topology> read(const json::Value &table);

private:
  bool readTopology(const json::Value &value, json::Path path);
  bool readLinks(const json::Value &value, json::Path path);
  bool readLink(const json::Value &value, json::Path path, LinkClass &link);
  bool readSharing(const json::Value &value, json::Path path, LinkClass &link);
  bool readFigures(const json::Object &table, json::Path path, LinkClass &link);
  bool readMeasured(const json::Value &value, json::Path path, LinkClass &link);
  bool readLinkName(const json::Value &value, json::Path path, int64_t &link);
  bool readNode(const json::Value &value, json::Path path);
  bool readDevices(const json::Value &value, json::Path path,
                   SmallVectorImpl<int64_t> &kinds);
  bool readKind(const json::Value &value, json::Path path, int64_t &kind);
  bool readCount(const json::Value *value, json::Path path, int64_t &count);
  bool readHosts(const json::Object &table, json::Path path,
                 std::vector<std::string> &hosts);
  bool readOverride(const json::Value &value, json::Path path);
  bool readSelector(const json::Value &value, json::Path path,
                    Topology::Selector &selector);

  /// Calls \p function with each element of a list and its path until one is
  /// refused.
  template <typename FunctionT>
  bool forEach(const json::Value &value, json::Path path, FunctionT function) {
    const json::Array *list = value.getAsArray();
    if (!list || list->empty()) {
      path.report("expected a list that is not empty");
      return false;
    }
    for (auto [index, element] : enumerate(*list))
      if (!function(element, path.index(index)))
        return false;
    return true;
  }

  /// Refuses what another file says; paths take fixed texts only.
  bool refuse(Error error, json::Path path) {
    path.report("is wrong");
    reason = toString(std::move(error));
    return false;
  }
  /// The path of a file that the topology names: beside it, if it is a file.
  std::string resolve(StringRef file) const;

  StringRef origin;
  Topology topology;
  StringMap<int64_t> linkIndices, kindIndices;
  std::string reason;
};
} // namespace

std::string TopologyReader::resolve(StringRef file) const {
  if (sys::path::is_absolute(file))
    return file.str();
  SmallString<128> path(sys::path::parent_path(origin));
  sys::path::append(path, file);
  return path.str().str();
}

bool TopologyReader::readMeasured(const json::Value &value, json::Path path,
                                  LinkClass &link) {
  std::string file;
  if (!readText(value, path, file))
    return false;
  Expected<Profile> profile = readProfile(resolve(file));
  if (!profile)
    return refuse(profile.takeError(), path);
  const MeasuredLink *measured = profile->getTypicalLink();
  if (!measured)
    return refuse(createStringError("'" + file + "' has no links"), path);
  link.latencySeconds = measured->latencySeconds;
  link.bytesPerSecond = measured->bytesPerSecond;
  if (link.source.empty())
    link.source = "measured: " + file;
  return true;
}

bool TopologyReader::readFigures(const json::Object &table, json::Path path,
                                 LinkClass &link) {
  const json::Value *latency = table.get("latency_seconds");
  const json::Value *bandwidth = table.get("bytes_per_second");
  if (const json::Value *profile = table.get("profile")) {
    if (!latency && !bandwidth)
      return readMeasured(*profile, path.field("profile"), link);
    path.report("has both figures and a profile that tells them");
    return false;
  }
  for (StringRef key : {"latency_seconds", "bytes_per_second"})
    if (!table.get(key)) {
      path.field(key).report("is missing");
      return false;
    }
  return readNumber(*latency, path.field("latency_seconds"),
                    /*mayBeZero=*/true, link.latencySeconds) &&
         readNumber(*bandwidth, path.field("bytes_per_second"),
                    /*mayBeZero=*/false, link.bytesPerSecond);
}

bool TopologyReader::readSharing(const json::Value &value, json::Path path,
                                 LinkClass &link) {
  auto sharing =
      StringSwitch<std::optional<LinkSharing>>(value.getAsString().value_or(""))
          .Case("pair", LinkSharing::Pair)
          .Case("device", LinkSharing::Device)
          .Case("node", LinkSharing::Node)
          .Default(std::nullopt);
  if (!sharing) {
    path.report("must be pair, device or node");
    return false;
  }
  link.sharing = *sharing;
  return true;
}

bool TopologyReader::readLink(const json::Value &value, json::Path path,
                              LinkClass &link) {
  if (!checkKeys(value, {},
                 {"latency_seconds", "bytes_per_second", "profile", "shared_by",
                  "source"},
                 path))
    return false;
  const json::Object &table = *value.getAsObject();
  if (const json::Value *source = table.get("source"))
    if (!readText(*source, path.field("source"), link.source))
      return false;
  if (const json::Value *sharing = table.get("shared_by"))
    if (!readSharing(*sharing, path.field("shared_by"), link))
      return false;
  return readFigures(table, path, link);
}

bool TopologyReader::readLinks(const json::Value &value, json::Path path) {
  const json::Object *table = value.getAsObject();
  if (!table) {
    path.report("expected a table of links by name");
    return false;
  }
  std::vector<StringRef> names;
  for (const auto &entry : *table)
    names.push_back(entry.first);
  llvm::sort(names); // The table has no order of its own.
  for (StringRef name : names) {
    LinkClass link;
    link.name = name.str();
    if (!readLink(*table->get(name), path.field(name), link))
      return false;
    linkIndices[name] = topology.addLink(std::move(link));
  }
  return true;
}

bool TopologyReader::readLinkName(const json::Value &value, json::Path path,
                                  int64_t &link) {
  auto found = linkIndices.find(value.getAsString().value_or(""));
  if (found == linkIndices.end()) {
    path.report("is not the name of one of the links");
    return false;
  }
  link = found->second;
  return true;
}

bool TopologyReader::readCount(const json::Value *value, json::Path path,
                               int64_t &count) {
  count = 1;
  if (!value)
    return true;
  count = value->getAsInteger().value_or(0);
  if (count >= 1 && count <= static_cast<int64_t>(maxTopologyDevices))
    return true;
  path.report("must be from 1 to 8192");
  return false;
}

/// The names of the nodes of one kind; empty where only their count is told.
bool TopologyReader::readHosts(const json::Object &table, json::Path path,
                               std::vector<std::string> &hosts) {
  const json::Value *names = table.get("hosts");
  int64_t count;
  if (!readCount(table.get("count"), path.field("count"), count))
    return false;
  if (!names) {
    hosts.resize(count);
    return true;
  }
  if (table.get("count")) {
    path.report("has both a count and hosts, which tell it");
    return false;
  }
  return forEach(*names, path.field("hosts"),
                 [&](const json::Value &name, json::Path place) {
                   return readText(name, place, hosts.emplace_back());
                 });
}

bool TopologyReader::readKind(const json::Value &value, json::Path path,
                              int64_t &kind) {
  std::string name;
  if (!readText(value, path, name))
    return false;
  auto [known, isNew] = kindIndices.try_emplace(name, 0);
  if (isNew) {
    bool isFile = StringRef(name).ends_with(".json") ||
                  StringRef(name).ends_with(".toml");
    std::string origin = isFile ? resolve(name) : name;
    Expected<Device> device = loadDevice(origin);
    if (!device)
      return refuse(device.takeError(), path);
    known->second = topology.addKind(std::move(*device), origin);
  }
  kind = known->second;
  return true;
}

bool TopologyReader::readDevices(const json::Value &value, json::Path path,
                                 SmallVectorImpl<int64_t> &kinds) {
  return forEach(value, path, [&](const json::Value &entry, json::Path here) {
    if (!checkKeys(entry, {"device"}, {"count"}, here))
      return false;
    const json::Object &table = *entry.getAsObject();
    int64_t count, kind;
    if (!readCount(table.get("count"), here.field("count"), count) ||
        !readKind(*table.get("device"), here.field("device"), kind))
      return false;
    kinds.append(count, kind);
    return true;
  });
}

bool TopologyReader::readNode(const json::Value &value, json::Path path) {
  if (!checkKeys(value, {"devices"}, {"count", "hosts", "inside"}, path))
    return false;
  const json::Object &table = *value.getAsObject();
  int64_t inside = -1;
  std::vector<std::string> hosts;
  SmallVector<int64_t> kinds;
  if (!readHosts(table, path, hosts) ||
      !readDevices(*table.get("devices"), path.field("devices"), kinds))
    return false;
  if (const json::Value *link = table.get("inside")) {
    if (!readLinkName(*link, path.field("inside"), inside))
      return false;
  } else if (kinds.size() > 1) {
    path.field("inside").report("is missing: what joins the node's devices");
    return false;
  }
  if (topology.getDevices() + hosts.size() * kinds.size() >
      maxTopologyDevices) {
    path.report("makes more than 8192 devices");
    return false;
  }
  for (const std::string &host : hosts)
    topology.addNode(kinds, inside, host);
  return true;
}

bool TopologyReader::readSelector(const json::Value &value, json::Path path,
                                  Topology::Selector &selector) {
  if (!checkKeys(value, {"node"}, {"device"}, path))
    return false;
  const json::Object &table = *value.getAsObject();
  selector.node = table.getInteger("node").value_or(-1);
  if (selector.node < 0 || selector.node >= topology.getNodes()) {
    path.field("node").report("is not the number of a node, from 0");
    return false;
  }
  if (!table.get("device"))
    return true;
  selector.slot = table.getInteger("device").value_or(-1);
  if (*selector.slot >= 0 &&
      *selector.slot < topology.getDevices(selector.node))
    return true;
  path.field("device").report("is not the number of a device of the node, "
                              "from 0");
  return false;
}

bool TopologyReader::readOverride(const json::Value &value, json::Path path) {
  if (!checkKeys(value, {"from", "to", "link"}, {}, path))
    return false;
  const json::Object &table = *value.getAsObject();
  Topology::Selector from = {0}, to = {0};
  int64_t link;
  if (!readSelector(*table.get("from"), path.field("from"), from) ||
      !readSelector(*table.get("to"), path.field("to"), to) ||
      !readLinkName(*table.get("link"), path.field("link"), link))
    return false;
  topology.addOverride(from, to, link);
  return true;
}

bool TopologyReader::readTopology(const json::Value &value, json::Path path) {
  if (!checkKeys(value, {"name", "nodes"},
                 {"description", "links", "between", "overrides"}, path))
    return false;
  const json::Object &table = *value.getAsObject();
  auto read = [&](StringLiteral key, auto reader) {
    const json::Value *field = table.get(key);
    return !field || reader(*field, path.field(key));
  };
  auto readEach = [&](StringLiteral key, auto element) {
    return read(key, [&](const json::Value &field, json::Path place) {
      return forEach(field, place, [&](const json::Value &entry, json::Path p) {
        return (this->*element)(entry, p);
      });
    });
  };
  auto readBetween = [&](const json::Value &field, json::Path place) {
    int64_t link;
    if (!readLinkName(field, place, link))
      return false;
    topology.setBetween(link);
    return true;
  };
  if (!read("name",
            [&](auto &field, auto place) {
              return readText(field, place, topology.name);
            }) ||
      !read("description",
            [&](auto &field, auto place) {
              return readText(field, place, topology.description);
            }) ||
      !read("links",
            [&](auto &field, auto place) { return readLinks(field, place); }) ||
      !readEach("nodes", &TopologyReader::readNode) ||
      !read("between", readBetween) ||
      !readEach("overrides", &TopologyReader::readOverride))
    return false;
  if (topology.getNodes() == 1 || table.get("between"))
    return true;
  path.field("between").report("is missing: what joins the nodes");
  return false;
}

Expected<Topology> TopologyReader::read(const json::Value &table) {
  json::Path::Root root(origin);
  if (readTopology(table, root))
    return std::move(topology);
  Error error = root.getError();
  if (reason.empty())
    return error;
  return createStringError(reason + "; " + toString(std::move(error)));
}

//===----------------------------------------------------------------------===//
// Finding
//===----------------------------------------------------------------------===//

ArrayRef<StringRef> pipewright::getTopologyNames() {
  static const std::vector<StringRef> names = getNames(topologyTables);
  return names;
}

Expected<Topology> pipewright::loadTopology(StringRef nameOrFile) {
  Expected<json::Value> table =
      readNamedTable("topology", nameOrFile, topologyTables);
  if (!table)
    return table.takeError();
  return TopologyReader(nameOrFile).read(*table);
}
