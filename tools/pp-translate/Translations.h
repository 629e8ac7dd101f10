//===- Translations.h - Registration of the translations --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TOOLS_PPTRANSLATE_TRANSLATIONS_H
#define PIPEWRIGHT_TOOLS_PPTRANSLATE_TRANSLATIONS_H

namespace pipewright {

// One function per file of this folder, named as its flag.
void registerEmitSchedule();
void registerImportOnnx();
void registerImportScheduleCsv();
void registerMlirToLlvmir();

} // namespace pipewright

#endif // PIPEWRIGHT_TOOLS_PPTRANSLATE_TRANSLATIONS_H
