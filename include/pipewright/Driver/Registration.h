//===- Registration.h - Everything a tool needs to know ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_DRIVER_REGISTRATION_H
#define PIPEWRIGHT_DRIVER_REGISTRATION_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace pipewright {

/// Our dialects and the upstream ones that code generation passes through.
void registerDialects(mlir::DialectRegistry &registry);

/// Every pass of every phase, under its command-line name.
void registerPasses();

} // namespace pipewright

#endif // PIPEWRIGHT_DRIVER_REGISTRATION_H
