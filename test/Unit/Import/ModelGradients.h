//===- ModelGradients.h - A model's function, differentiated ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TEST_UNIT_IMPORT_MODELGRADIENTS_H
#define PIPEWRIGHT_TEST_UNIT_IMPORT_MODELGRADIENTS_H

#include "ModelFunction.h"

namespace pipewright {

/// The results of \p model for \p inputs, which are all of its arguments and of
/// floating-point types, and then the gradients for them of the sum of all
/// elements of all results. Nothing, and a failure of the test, if it has none.
llvm::SmallVector<nn::HostTensor>
evaluateGradients(ModelFunction &model, llvm::ArrayRef<nn::HostTensor> inputs);

} // namespace pipewright

#endif // PIPEWRIGHT_TEST_UNIT_IMPORT_MODELGRADIENTS_H
