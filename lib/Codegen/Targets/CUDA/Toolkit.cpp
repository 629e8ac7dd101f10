//===- Toolkit.cpp - Where the CUDA toolkit is
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Toolkit.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"

using namespace llvm;
using namespace pipewright;

static std::string getAssembler(StringRef folder) {
  SmallString<128> assembler(folder);
  sys::path::append(assembler, "bin", "ptxas");
  return assembler.str().str();
}

static bool hasAssembler(StringRef folder) {
  return sys::fs::can_execute(getAssembler(folder));
}

Expected<std::string> cuda::findToolkit() {
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"}) {
    std::optional<std::string> folder = sys::Process::GetEnv(variable);
    if (!folder)
      continue;
    if (hasAssembler(*folder))
      return *folder;
    return createStringError("the CUDA toolkit is not in '" + *folder +
                             "', which " + variable +
                             " names: there is no 'bin/ptxas'");
  }
  std::string standard = "/usr/local/cuda";
  return hasAssembler(standard) ? standard : std::string();
}

Expected<std::string> cuda::findAssembler() {
  Expected<std::string> toolkit = findToolkit();
  if (!toolkit)
    return toolkit.takeError();
  if (toolkit->empty())
    return createStringError(StringRef(missingToolkit));
  return getAssembler(*toolkit);
}
