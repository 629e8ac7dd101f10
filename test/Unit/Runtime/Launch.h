//===- Launch.h - Runs programs and looks at how they end -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_TEST_LAUNCH_H
#define PPRT_TEST_LAUNCH_H

#include "pprt/Tensor.h"

#include <string>
#include <vector>

/// A folder that is removed with the object.
class TemporaryFolder {
public:
  TemporaryFolder();
  ~TemporaryFolder();
  std::string getPath(const std::string &name) const {
    return path + "/" + name;
  }

private:
  std::string path;
};

/// How the ranks of a run ended.
struct Outcome {
  bool succeeded;            ///< all of it
  std::vector<int> statuses; ///< per fake rank; -1: by a signal
  std::string output;        ///< stdout
  std::string messages;      ///< stderr
  double seconds;
};

/// Runs \p command on \p ranks ranks: by mpirun if there are several.
Outcome launch(int ranks, const std::string &command,
               const TemporaryFolder &folder);

std::string readFile(const std::string &path);
void writeNpy(const std::string &path, const std::vector<int64_t> &shape,
              const std::vector<float> &values);
void writeWeights(const std::string &path,
                  const std::vector<std::string> &names, int64_t elements,
                  float value);
/// The f32 tensor of a safetensors file; empty if there is none.
std::vector<float> readTensor(const std::string &path, const std::string &name);

#endif // PPRT_TEST_LAUNCH_H
