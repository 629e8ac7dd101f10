//===- RankCosts.h - What an order of ranks costs ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_COST_RANKCOSTS_H
#define PIPEWRIGHT_LIB_COST_RANKCOSTS_H

#include "pipewright/Cost/RankOrder.h"

#include "llvm/ADT/SmallVector.h"

namespace pipewright {

/// Two ranks, the first with the lower number, and what they send each other.
struct RankPair {
  int64_t first = 0, second = 0;
  RankTraffic forth = {}, back = {};
};

/// The costs of a problem by groups of devices that nothing tells apart.
class RankCosts {
public:
  explicit RankCosts(const RankOrderProblem &problem);

  int64_t getRanks() const { return problem.ranks; }
  int64_t getGroups() const { return groups.size(); }
  /// The devices of \p group, ascending.
  llvm::ArrayRef<int64_t> getDevices(int64_t group) const {
    return groups[group];
  }
  int64_t getGroup(int64_t device) const { return groupOf[device]; }
  llvm::ArrayRef<RankPair> getPairs() const { return pairs; }

  /// What \p pair costs with its first rank in one group and its second rank
  /// in another place of it, or in another group.
  double getSeconds(const RankPair &pair, int64_t first, int64_t second) const;
  /// What the link costs: the slower one of both directions.
  int64_t getSlowerLink(const RankPair &pair, int64_t first,
                        int64_t second) const;
  /// What a rank in \p group computes.
  double getComputing(int64_t group) const;
  /// Of \p groups, one for each rank.
  double getTotal(llvm::ArrayRef<int64_t> groups) const;

  /// No order costs less: each pair on its fastest links, as many of them
  /// between nodes as there have to be, and the ranks on the fastest devices.
  double getBound() const;
  /// What \p pair costs on the fastest links of the topology; between nodes
  /// only if that is asked for.
  double getFastest(const RankPair &pair, bool isBetweenNodes) const;

private:
  int64_t getLink(int64_t from, int64_t to) const {
    return linkOf[from * getGroups() + to];
  }
  double getSeconds(const RankTraffic &traffic, int64_t link) const;
  double getSeconds(const RankPair &pair,
                    std::pair<int64_t, int64_t> links) const;
  int64_t countCrossings() const;
  void addPairs();
  void addLinks();

  const RankOrderProblem &problem;
  std::vector<std::vector<int64_t>> groups;
  std::vector<int64_t> groupOf;
  std::vector<RankPair> pairs;
  /// By two groups, the class of the link; -1 from a device to itself.
  std::vector<int32_t> linkOf;
  /// The links there and back that join any two devices, and those that join
  /// devices of two nodes.
  std::vector<std::pair<int64_t, int64_t>> joined, joinedNodes;
};

/// The best groups for the ranks, or nothing if they send messages to others
/// than their neighbours, or there are too many sets of devices to look at.
std::optional<std::vector<int64_t>> orderExactly(const RankCosts &costs);

/// Good groups for the ranks, from \p start if it is not empty: no exchange of
/// two ranks, or of a device in use and one that is not, makes them better.
std::vector<int64_t> improveOrder(const RankCosts &costs,
                                  std::vector<int64_t> start);

/// Groups for the ranks such that each follows the one before on the fastest
/// link that is left, from a device of group \p first on.
std::vector<int64_t> orderGreedily(const RankCosts &costs, int64_t first);

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_COST_RANKCOSTS_H
