//===- KernelFile.cpp - The kernels of test/Ptx/Inputs
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelFile.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>

using namespace pipewright::ptx;

std::string pipewright::ptx::loadText(const std::string &name) {
  std::ifstream file(std::string(PIPEWRIGHT_PTX_INPUTS) + "/" + name + ".ptx");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::shared_ptr<const Module>
pipewright::ptx::parseModule(const std::string &text) {
  ModuleOrError module = Module::parse(text);
  if (module)
    return module.value;
  std::fprintf(stderr, "%s\n", module.error.c_str());
  std::abort();
}

std::shared_ptr<const Module>
pipewright::ptx::loadModule(const std::string &name) {
  return parseModule(loadText(name));
}

std::vector<float> pipewright::ptx::makeNormal(size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float &value : values)
    value = normal(random);
  return values;
}

std::string pipewright::ptx::replaceLine(const std::string &text,
                                         const std::string &part,
                                         unsigned which,
                                         const std::string &replacement) {
  std::stringstream lines(text);
  std::string result, line;
  unsigned found = 0;
  while (std::getline(lines, line)) {
    bool matches = line.find(part) != std::string::npos && ++found == which;
    result += (matches ? replacement : line) + "\n";
  }
  return found >= which ? result : std::string();
}

Counters pipewright::ptx::expectClean(const LaunchResult &result) {
  EXPECT_TRUE(result.ok()) << result.describe();
  return result.counters;
}

void pipewright::ptx::expectNear(const std::vector<float> &actual,
                                 const std::vector<double> &wanted,
                                 double relative, double absolute) {
  ASSERT_EQ(actual.size(), wanted.size());
  for (size_t i = 0; i < actual.size(); ++i)
    ASSERT_NEAR(actual[i], wanted[i],
                relative * std::fabs(wanted[i]) + absolute)
        << "element " << i;
}
