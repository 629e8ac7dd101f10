//===- RunCorpus.cpp - The main of a fuzzer without libFuzzer
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Gives each file named to the fuzzer once, as libFuzzer does with files.
//
//===----------------------------------------------------------------------===//

#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <vector>

using namespace llvm;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/// The fuzzers' own mutators have no other caller; nothing mutates here.
extern "C" size_t LLVMFuzzerMutate(uint8_t *, size_t size, size_t) {
  return size;
}

int main(int argc, char **argv) {
  if (argc < 2) {
    errs() << argv[0] << ": name the files to run\n";
    return 1;
  }
  for (int i = 1; i < argc; ++i) {
    errs() << "Running: " << argv[i] << "\n";
    ErrorOr<std::unique_ptr<MemoryBuffer>> file = MemoryBuffer::getFile(
        argv[i], /*IsText=*/false, /*RequiresNullTerminator=*/false);
    if (!file) {
      errs() << argv[i] << ": " << file.getError().message() << "\n";
      return 1;
    }
    // Of just that size, so that a sanitizer sees each read past the end.
    StringRef bytes = (*file)->getBuffer();
    std::vector<uint8_t> copy(bytes.begin(), bytes.end());
    LLVMFuzzerTestOneInput(copy.data(), copy.size());
  }
  return 0;
}
