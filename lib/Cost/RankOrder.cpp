//===- RankOrder.cpp - Which rank runs on which device
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RankCosts.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

using namespace llvm;
using namespace pipewright;

/// Sums in another order differ by less.
static constexpr double rounding = 1e-9;

static constexpr double infinity = std::numeric_limits<double>::infinity();

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

RankCosts::RankCosts(const RankOrderProblem &problem)
    : problem(problem), groups(problem.topology.groupDevices()),
      groupOf(problem.topology.getDevices()) {
  for (auto [group, devices] : enumerate(groups))
    for (int64_t device : devices)
      groupOf[device] = group;
  addPairs();
  addLinks();
}

void RankCosts::addPairs() {
  std::map<std::pair<int64_t, int64_t>, RankPair> found;
  for (const RankTraffic &traffic : problem.traffic) {
    auto [first, second] = std::minmax(traffic.from, traffic.to);
    RankPair &pair = found[{first, second}];
    pair.first = first;
    pair.second = second;
    (traffic.from == first ? pair.forth : pair.back) = traffic;
  }
  for (const auto &[ranks, pair] : found)
    pairs.push_back(pair);
}

void RankCosts::addLinks() {
  const Topology &topology = problem.topology;
  linkOf.resize(getGroups() * getGroups(), -1);
  std::set<std::pair<int64_t, int64_t>> any, between;
  for (int64_t from = 0; from < getGroups(); ++from)
    for (int64_t to = 0; to < getGroups(); ++to) {
      if (from == to && groups[from].size() == 1)
        continue;
      int64_t source = groups[from][0], target = groups[to][from == to];
      int64_t link = topology.getLinkIndex(source, target);
      linkOf[from * getGroups() + to] = static_cast<int32_t>(link);
      std::pair links = {link, topology.getLinkIndex(target, source)};
      any.insert(links);
      if (topology.getPlace(source).node != topology.getPlace(target).node)
        between.insert(links);
    }
  joined.assign(any.begin(), any.end());
  joinedNodes.assign(between.begin(), between.end());
}

double RankCosts::getSeconds(const RankTraffic &traffic, int64_t link) const {
  const LinkClass &of = problem.topology.getLinks()[link];
  return traffic.messages * of.latencySeconds +
         traffic.bytes / of.bytesPerSecond;
}

double RankCosts::getSeconds(const RankPair &pair,
                             std::pair<int64_t, int64_t> links) const {
  return getSeconds(pair.forth, links.first) +
         getSeconds(pair.back, links.second);
}

double RankCosts::getSeconds(const RankPair &pair, int64_t first,
                             int64_t second) const {
  return getSeconds(pair, {getLink(first, second), getLink(second, first)});
}

int64_t RankCosts::getSlowerLink(const RankPair &pair, int64_t first,
                                 int64_t second) const {
  int64_t forth = getLink(first, second), back = getLink(second, first);
  return getSeconds(pair.forth, forth) < getSeconds(pair.back, back) ? back
                                                                     : forth;
}

double RankCosts::getComputing(int64_t group) const {
  if (problem.kindSeconds.empty())
    return 0;
  return problem.kindSeconds[problem.topology.getPlace(groups[group][0]).kind];
}

double RankCosts::getTotal(ArrayRef<int64_t> groupOfRank) const {
  double total = 0;
  for (int64_t group : groupOfRank)
    total += getComputing(group);
  for (const RankPair &pair : pairs)
    total +=
        getSeconds(pair, groupOfRank[pair.first], groupOfRank[pair.second]);
  return total;
}

double RankCosts::getFastest(const RankPair &pair, bool isBetweenNodes) const {
  double fastest = infinity;
  for (std::pair<int64_t, int64_t> links :
       isBetweenNodes ? joinedNodes : joined)
    fastest = std::min(fastest, getSeconds(pair, links));
  return fastest;
}

/// How many pairs of ranks have to be on two nodes. If messages join all ranks,
/// then they join the nodes that these take: by a tree at least, and by a ring
/// if every rank exchanges messages with two others.
int64_t RankCosts::countCrossings() const {
  const Topology &topology = problem.topology;
  std::vector<int64_t> sizes;
  for (int64_t node = 0; node < topology.getNodes(); ++node)
    sizes.push_back(topology.getDevices(node));
  llvm::sort(sizes, std::greater<>());
  int64_t nodes = 0;
  for (int64_t held = 0; held < problem.ranks; ++nodes)
    held += sizes[nodes];

  std::vector<int64_t> leader(problem.ranks), partners(problem.ranks);
  for (int64_t rank = 0; rank < problem.ranks; ++rank)
    leader[rank] = rank;
  auto find = [&](int64_t rank) {
    while (leader[rank] != rank)
      rank = leader[rank] = leader[leader[rank]];
    return rank;
  };
  int64_t parts = problem.ranks;
  for (const RankPair &pair : pairs) {
    ++partners[pair.first];
    ++partners[pair.second];
    int64_t first = find(pair.first), second = find(pair.second);
    parts -= first != second;
    leader[first] = second;
  }
  if (parts > 1 || nodes == 1)
    return 0;
  bool isRing = all_of(partners, [](int64_t others) { return others == 2; });
  return isRing ? nodes : nodes - 1;
}

double RankCosts::getBound() const {
  double bound = 0;
  std::vector<double> computing;
  for (int64_t group = 0; group < getGroups(); ++group)
    computing.insert(computing.end(), groups[group].size(),
                     getComputing(group));
  llvm::sort(computing);
  for (double seconds : ArrayRef(computing).take_front(problem.ranks))
    bound += seconds;
  std::vector<double> more;
  for (const RankPair &pair : pairs) {
    double fastest = getFastest(pair, /*isBetweenNodes=*/false);
    bound += fastest;
    more.push_back(getFastest(pair, /*isBetweenNodes=*/true) - fastest);
  }
  llvm::sort(more);
  for (double seconds : ArrayRef(more).take_front(countCrossings()))
    bound += seconds;
  return bound;
}

//===----------------------------------------------------------------------===//
// Orders
//===----------------------------------------------------------------------===//

/// The groups of the first devices in their own order.
static std::vector<int64_t> getNaturalOrder(const RankCosts &costs) {
  std::vector<int64_t> groups;
  for (int64_t rank = 0; rank < costs.getRanks(); ++rank)
    groups.push_back(costs.getGroup(rank));
  return groups;
}

/// A device of its group for each rank, the first ones first.
static std::vector<int64_t> takeDevices(const RankCosts &costs,
                                        ArrayRef<int64_t> groups) {
  std::vector<int64_t> devices, taken(costs.getGroups());
  for (int64_t group : groups)
    devices.push_back(costs.getDevices(group)[taken[group]++]);
  return devices;
}

/// The best of several starts, which ends early where it meets the bound.
static std::vector<int64_t> searchOrder(const RankCosts &costs, double bound) {
  constexpr int64_t mostStarts = 16;
  std::vector<int64_t> best = improveOrder(costs, getNaturalOrder(costs));
  double least = costs.getTotal(best);
  for (int64_t first = 0; first < std::min(costs.getGroups(), mostStarts) &&
                          least > bound * (1 + rounding);
       ++first) {
    std::vector<int64_t> order =
        improveOrder(costs, orderGreedily(costs, first));
    double total = costs.getTotal(order);
    if (total >= least * (1 - rounding))
      continue;
    least = total;
    best = std::move(order);
  }
  return best;
}

Expected<RankOrder> pipewright::orderRanks(const RankOrderProblem &problem) {
  int64_t devices = problem.topology.getDevices();
  if (problem.ranks > devices)
    return createStringError("the topology '" + problem.topology.name +
                             "' has " + Twine(devices) + " devices for " +
                             Twine(problem.ranks) + " ranks");
  RankCosts costs(problem);
  RankOrder order;
  order.bound = costs.getBound();
  std::vector<int64_t> best = getNaturalOrder(costs);
  order.seconds = costs.getTotal(best);
  order.isOptimal = order.seconds <= order.bound * (1 + rounding);
  if (!order.isOptimal) {
    std::optional<std::vector<int64_t>> exact = orderExactly(costs);
    std::vector<int64_t> other =
        exact ? std::move(*exact) : searchOrder(costs, order.bound);
    double total = costs.getTotal(other);
    order.isOptimal = exact || total <= order.bound * (1 + rounding);
    if (exact)
      order.bound = std::min(total, order.seconds);
    if (total < order.seconds * (1 - rounding)) {
      order.seconds = total;
      best = std::move(other);
    }
  }
  order.devices = takeDevices(costs, best);
  return order;
}

double pipewright::getOrderSeconds(const RankOrderProblem &problem,
                                   ArrayRef<int64_t> devices) {
  RankCosts costs(problem);
  std::vector<int64_t> groups;
  for (int64_t device : devices)
    groups.push_back(costs.getGroup(device));
  return costs.getTotal(groups);
}

std::vector<SlowCrossing>
pipewright::listSlowCrossings(const RankOrderProblem &problem,
                              ArrayRef<int64_t> devices) {
  RankCosts costs(problem);
  std::vector<SlowCrossing> crossings;
  for (const RankPair &pair : costs.getPairs()) {
    int64_t first = costs.getGroup(devices[pair.first]);
    int64_t second = costs.getGroup(devices[pair.second]);
    double fastest = costs.getFastest(pair, /*isBetweenNodes=*/false);
    if (costs.getSeconds(pair, first, second) > fastest * (1 + rounding))
      crossings.push_back(
          {pair.first, pair.second, costs.getSlowerLink(pair, first, second)});
  }
  return crossings;
}
