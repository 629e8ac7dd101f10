//===- KernelFile.h - The kernels of test/Ptx/Inputs ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TEST_UNIT_PTX_KERNELFILE_H
#define PIPEWRIGHT_TEST_UNIT_PTX_KERNELFILE_H

#include "Ptx/Machine.h"

namespace pipewright::ptx {

/// The text of test/Ptx/Inputs/NAME.ptx, NAME such as "nvcc/rows".
std::string loadText(const std::string &name);
/// That file as a module; ends the process with a message if it is none.
std::shared_ptr<const Module> loadModule(const std::string &name);
std::shared_ptr<const Module> parseModule(const std::string &text);

/// \p count numbers of a standard normal distribution.
std::vector<float> makeNormal(size_t count, unsigned seed);

/// That a launch had no fault. Returns what it counted.
Counters expectClean(const LaunchResult &result);

/// That each number is as wanted, within a relative and an absolute error.
void expectNear(const std::vector<float> &actual,
                const std::vector<double> &wanted, double relative,
                double absolute = 1e-7);

/// \p text with its line number \p which (from 1) that holds \p part replaced.
std::string replaceLine(const std::string &text, const std::string &part,
                        unsigned which, const std::string &replacement);

} // namespace pipewright::ptx

#endif // PIPEWRIGHT_TEST_UNIT_PTX_KERNELFILE_H
