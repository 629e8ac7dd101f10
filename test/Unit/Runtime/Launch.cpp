//===- Launch.cpp - Runs programs and looks at how they end ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Launch.h"
#include "data/Npy.h"
#include "data/Safetensors.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

using namespace pprt;

TemporaryFolder::TemporaryFolder() {
  std::string pattern = std::filesystem::temp_directory_path() / "pprt-XXXXXX";
  path = mkdtemp(pattern.data());
}

TemporaryFolder::~TemporaryFolder() { std::filesystem::remove_all(path); }

std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

static void writeBytes(const std::string &path, const std::string &start,
                       const std::vector<float> &values) {
  std::ofstream file(path, std::ios::binary);
  file << start;
  file.write(reinterpret_cast<const char *>(values.data()),
             values.size() * sizeof(float));
}

void writeNpy(const std::string &path, const std::vector<int64_t> &shape,
              const std::vector<float> &values) {
  writeBytes(path, formatNpyHeader(PPRT_F32, shape), values);
}

void writeWeights(const std::string &path,
                  const std::vector<std::string> &names, int64_t elements,
                  float value) {
  SafetensorsIndex index;
  for (const std::string &name : names)
    index[name] = {PPRT_F32, {elements}, 0, uint64_t(elements) * 4};
  writeBytes(path, layOutSafetensors(index),
             std::vector<float>(names.size() * elements, value));
}

std::vector<float> readTensor(const std::string &path,
                              const std::string &name) {
  SafetensorsIndex index;
  if (readSafetensorsIndex(path, index).failed() || !index.count(name))
    return {};
  const SafetensorsEntry &entry = index[name];
  std::string bytes = readFile(path).substr(entry.offset, entry.bytes);
  std::vector<float> values(bytes.size() / sizeof(float));
  memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

Outcome launch(int ranks, const std::string &command,
               const TemporaryFolder &folder) {
  std::string line = command;
  if (ranks != 1)
    // With recovery the launcher lets ranks end by themselves when one is lost,
    // instead of killing them; so each one's status can be seen. A folder of
    // its own keeps it apart from runs that begin or end at the same time.
    line = "mpirun --allow-run-as-root --oversubscribe --bind-to none "
           "--enable-recovery --mca orte_tmpdir_base " +
           folder.getPath("session") + " -n " + std::to_string(ranks) + " " +
           command;
  line += " > " + folder.getPath("stdout") + " 2> " + folder.getPath("stderr");
  setenv("FAKE_RANK_STATUS", folder.getPath("status.").c_str(), 1);
  for (int rank = 0; rank < ranks; ++rank)
    std::filesystem::remove(folder.getPath("status." + std::to_string(rank)));

  auto begin = std::chrono::steady_clock::now();
  Outcome outcome;
  outcome.succeeded = system(line.c_str()) == 0;
  outcome.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
          .count();
  for (int rank = 0; rank < ranks; ++rank) {
    std::string status =
        readFile(folder.getPath("status." + std::to_string(rank)));
    outcome.statuses.push_back(status.empty() ? -1 : atoi(status.c_str()));
  }
  outcome.output = readFile(folder.getPath("stdout"));
  outcome.messages = readFile(folder.getPath("stderr"));
  return outcome;
}
