//===- Manifest.h - manifest.json: what a build directory holds -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_PACKAGE_MANIFEST_H
#define PIPEWRIGHT_PACKAGE_MANIFEST_H

#include "pipewright/Package/PlanSummary.h"
#include "pipewright/Package/PredictedStep.h"

namespace pipewright {

/// What the manifest says beside the plan.
struct ManifestSource {
  std::string modelFile;
  std::string modelSha256;
  std::string planSha256;
  std::string target;
  std::string targetCpu;
  std::string pipeline;
};

/// The manifest as JSON, version 1; described in docs/Manifest.md.
std::string makeManifest(const PlanSummary &plan, const PredictedStep &step,
                         const ManifestSource &source);

} // namespace pipewright

#endif // PIPEWRIGHT_PACKAGE_MANIFEST_H
