//===- TextFile.cpp - Write text files
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Support/TextFile.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace llvm;
using namespace pipewright;

Error pipewright::writeTextFile(StringRef path,
                                function_ref<void(raw_ostream &)> print) {
  std::error_code error;
  ToolOutputFile file(path, error, sys::fs::OF_Text);
  if (!error) {
    print(file.os());
    file.os().flush();
    error = file.os().error();
  }
  if (error) {
    file.os().clear_error();
    return createStringError(error,
                             "cannot write '" + path + "': " + error.message());
  }
  file.keep();
  return Error::success();
}
