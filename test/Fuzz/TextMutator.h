//===- TextMutator.h - Changes a word of a text -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TEST_FUZZ_TEXTMUTATOR_H
#define PIPEWRIGHT_TEST_FUZZ_TEXTMUTATOR_H

#include <cstddef>
#include <cstdint>

namespace pipewright {

/// Changes the text in \p data, of \p size bytes, in place: a word becomes
/// another word of the text or a number, goes, or comes twice; every so often
/// some bytes change. The new size, at most \p maxSize.
size_t mutateText(uint8_t *data, size_t size, size_t maxSize, unsigned seed);

} // namespace pipewright

#endif // PIPEWRIGHT_TEST_FUZZ_TEXTMUTATOR_H
