//===- RaiseReport.cpp - What was raised, and what was left
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RaiseReport.h"

#include "Diagnostics.h"

#include "mlir/IR/Remarks.h"
#include "llvm/Support/FormatVariadic.h"

#include <map>

using namespace llvm;
using namespace pipewright;

namespace {
class Collector : public mlir::remark::detail::MLIRRemarkStreamerBase {
public:
  explicit Collector(RaiseReport &report) : report(report) {}

  void streamOptimizationRemark(
      const mlir::remark::detail::Remark &remark) override {
    bool passed = remark.getRemarkType() == remarks::Type::Passed;
    mlir::StringAttr node = findNode(remark.getLocation());
    StringRef reason = passed ? "" : StringRef(remark.getArgs().front().val);
    (passed ? report.raised : report.left)
        .push_back({remark.getRemarkName().str(), node ? node.str() : "",
                    reason.str()});
  }

private:
  RaiseReport &report;
};
} // namespace

void RaiseReport::listen(mlir::MLIRContext &context) {
  mlir::remark::RemarkCategories categories;
  categories.passed = categories.missed = "raise";
  // Fails only where a context listens already.
  (void)mlir::remark::enableOptimizationRemarks(
      context, std::make_unique<Collector>(*this),
      std::make_unique<mlir::remark::RemarkEmittingPolicyAll>(), categories);
}

void RaiseReport::print(raw_ostream &stream) const {
  std::map<std::string, int> counts;
  for (const Entry &entry : raised)
    ++counts[entry.op];
  stream << "\nraised from what the model spells out\n";
  for (const auto &[op, count] : counts)
    stream << formatv("  {0,-26}{1,6}\n", op, count);
  if (counts.empty())
    stream << "  nothing\n";
  if (!left.empty())
    stream << "left as it is\n";
  for (const Entry &entry : left)
    stream << formatv("  {0} of node '{1}': {2}\n", entry.op, entry.node,
                      entry.reason);
}

void pipewright::addTo(json::Object &object, const RaiseReport &report) {
  json::Array raised, left;
  for (const RaiseReport::Entry &entry : report.raised)
    raised.push_back(json::Object{{"op", entry.op}, {"node", entry.node}});
  for (const RaiseReport::Entry &entry : report.left)
    left.push_back(json::Object{
        {"op", entry.op}, {"node", entry.node}, {"reason", entry.reason}});
  object["raised"] = std::move(raised);
  object["left"] = std::move(left);
}
