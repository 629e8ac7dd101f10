//===- Completion.cpp - pipewright completion: for bash and zsh
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Subcommands.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

static const char bashScript[] =
#include "pipewright/Tools/pipewright.bash.inc"
    ;
static const char zshScript[] =
#include "pipewright/Tools/pipewright.zsh.inc"
    ;

int pipewright::runCompletion(int argc, char **argv) {
  llvm::StringRef shell = argc == 2 ? argv[1] : "";
  if (shell == "bash" || shell == "zsh") {
    llvm::outs() << (shell == "bash" ? bashScript : zshScript);
    return 0;
  }
  bool wantsHelp = shell == "--help";
  (wantsHelp ? llvm::outs() : llvm::errs())
      << "OVERVIEW: print the completion script of a shell\n\n"
         "USAGE: pipewright completion bash|zsh\n\n"
         "EXAMPLE: source <(pipewright completion bash)\n";
  return wantsHelp ? 0 : 2;
}
