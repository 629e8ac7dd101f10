//===- ModelMutator.h - Changes a field of a model --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TEST_FUZZ_MODELMUTATOR_H
#define PIPEWRIGHT_TEST_FUZZ_MODELMUTATOR_H

#include <cstddef>
#include <cstdint>

namespace pipewright {

/// Changes the model in \p data, of \p size bytes, in place, and most often so
/// that it still is one: a field becomes another number or a name from
/// elsewhere in the model, or a part of it goes or comes twice. Bytes that are
/// no model, and every so often a model too, are changed as bytes. The new
/// size, at most \p maxSize.
size_t mutateModel(uint8_t *data, size_t size, size_t maxSize, unsigned seed);

} // namespace pipewright

#endif // PIPEWRIGHT_TEST_FUZZ_MODELMUTATOR_H
