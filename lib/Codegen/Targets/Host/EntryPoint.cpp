//===- EntryPoint.cpp - Where an executable begins
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Host.h"

#include "llvm/IR/Module.h"

using namespace pipewright;

// What a C compiler takes from crt1.o, which machines without a compiler lack.
// At entry the stack holds argc and argv, and rdx what to run at exit (x86-64
// psABI 3.4.1). __libc_start_main(main, argc, argv, init, fini, atexit, stack)
// does not return.
static constexpr llvm::StringLiteral startCode = R"(
  .text
  .globl _start
  .type _start, @function
_start:
  xorl %ebp, %ebp
  movq %rdx, %r9
  popq %rsi
  movq %rsp, %rdx
  andq $-16, %rsp
  pushq %rax
  pushq %rsp
  xorl %r8d, %r8d
  xorl %ecx, %ecx
  leaq main(%rip), %rdi
  callq *__libc_start_main@GOTPCREL(%rip)
  hlt
  .size _start, .-_start
)";

// A linker writes this section only into executables, but takes it as it is.
static constexpr llvm::StringLiteral interpreterCode = R"(
  .section .interp, "a", @progbits
  .asciz "/lib64/ld-linux-x86-64.so.2"
)";

void host::addEntryPoint(llvm::Module &module) {
  module.appendModuleInlineAsm(startCode);
  module.appendModuleInlineAsm(interpreterCode);
}
