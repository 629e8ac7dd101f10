//===- EntryPoint.cpp - Where an executable begins
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CPU.h"

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

void cpu::addEntryPoint(llvm::Module &module) {
  module.appendModuleInlineAsm(startCode);
}
