//===- ZeroBubbleTable.h - Published rates of idle time ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TEST_ZEROBUBBLETABLE_H
#define PIPEWRIGHT_TEST_ZEROBUBBLETABLE_H

#include "pipewright/Schedule/ScheduleRegistry.h"

namespace pipewright {

/// What the zero-bubble paper (Qi et al., ICLR 2024, arXiv:2401.10241) measured
/// of a model and computed from that.
struct ZeroBubbleRow {
  int64_t ranks, microbatches;
  /// In milliseconds, as the time of a hop.
  StageCost cost;
  double latency;
  /// The share of the longest span of any rank in which it idles, in four
  /// digits. ZB-2p comes out of a search in twice the memory of 1F1B.
  double oneFOneB, zbh1, zbh2, zb2p;

  /// The search that ZB-2p is the result of.
  ScheduleRequest getRequest() const {
    ScheduleRequest request(ranks, microbatches, /*chunks=*/1);
    request.costs.share = cost;
    request.costs.latency = latency;
    request.objective = Objective::Span;
    return request;
  }
};

/// Models of 1.5, 6.2, 14.6 and 28.3 billion parameters, three rows each.
inline const ZeroBubbleRow zeroBubbleTable[] = {
    {8, 24, {18.522, 18.086, 9.337}, .601, .2431, .1585, .1083, .0433},
    {8, 32, {18.513, 18.086, 9.331}, .626, .1985, .1242, .0837, .0039},
    {8, 64, {18.546, 18.097, 9.321}, .762, .1240, .0674, .0444, .0026},
    {8, 24, {29.718, 29.444, 19.927}, .527, .2347, .1323, .0698, .0029},
    {8, 32, {29.802, 29.428, 19.530}, .577, .1898, .1045, .0559, .0022},
    {8, 64, {29.935, 29.621, 19.388}, .535, .1091, .0554, .0294, .0010},
    {16, 48, {11.347, 11.248, 8.132}, .377, .2552, .1397, .0672, .0066},
    {16, 64, {11.307, 11.254, 8.101}, .379, .2082, .1088, .0516, .0054},
    {16, 128, {11.325, 11.308, 8.109}, .378, .1251, .0576, .0266, .0028},
    {32, 96, {10.419, 10.207, 7.715}, .408, .2646, .1421, .0641, .0038},
    {32, 128, {10.408, 10.204, 7.703}, .408, .2168, .1106, .0490, .0029},
    {32, 256, {10.402, 10.248, 7.698}, .460, .1352, .0594, .0257, .0018}};

} // namespace pipewright

#endif // PIPEWRIGHT_TEST_ZEROBUBBLETABLE_H
