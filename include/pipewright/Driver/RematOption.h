//===- RematOption.h - What `--remat` takes ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_DRIVER_REMATOPTION_H
#define PIPEWRIGHT_DRIVER_REMATOPTION_H

#include "pipewright/Driver/BuildOptions.h"

#include "llvm/Support/Error.h"

namespace pipewright {

/// Takes over `--remat`: none, selective, full, auto, or the policies of all
/// layers in a row, such as "none*3,full*2".
llvm::Error parseRemat(llvm::StringRef text, BuildOptions &options);

/// What parseRemat takes for \p options: one policy where all layers agree.
std::string formatRemat(const BuildOptions &options);

} // namespace pipewright

#endif // PIPEWRIGHT_DRIVER_REMATOPTION_H
