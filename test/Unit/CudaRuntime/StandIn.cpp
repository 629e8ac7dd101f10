//===- StandIn.cpp - Tests on no device -----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine.h"

#include "CudaDouble/Double.h"

using namespace pprt;

const bool cuda::isStandIn = true;

void cuda::startMachine() {
  cudadouble::reset({});
  cudadouble::setKernelRunner(cudadouble::makePtxRunner());
  cudadouble::setKernelLimits(cudadouble::makePtxLimits());
}

/// The interpreter runs PTX only, and there is no machine code for this one.
int cuda::getChip() { return 120; }

void cuda::beginSteps() { cudadouble::beginSteadyState(); }
void cuda::endSteps() { cudadouble::endSteadyState(); }

std::vector<std::string> cuda::getProblems() {
  std::vector<std::string> problems = cudadouble::getFaults();
  for (std::string &leak : cudadouble::getLeaks())
    problems.push_back(std::move(leak));
  return problems;
}
