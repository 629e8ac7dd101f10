//===- FrequencyTables.h - Parameters that no framework trains --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_IMPORT_FREQUENCYTABLES_H
#define PIPEWRIGHT_LIB_IMPORT_FREQUENCYTABLES_H

#include "pipewright/Dialect/PP/PP.h"

namespace pipewright {

/// Does not train the frequencies of rotary embeddings, which exporters write
/// like weights: parameters that only sines and cosines read, multiplied with
/// nothing but positions, and so with no other parameter and no data. Tells the
/// user which they are.
void freezeFrequencyTables(pp::ModelOp model);

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_IMPORT_FREQUENCYTABLES_H
