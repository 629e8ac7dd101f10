//===- ImportScheduleCsv.cpp - pp-translate --import-schedule-csv
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Translations.h"

#include "pipewright/Driver/Registration.h"
#include "pipewright/Schedule/Formats.h"
#include "pipewright/Schedule/ProgramSchedule.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace pipewright;

static OwningOpRef<ModuleOp> importCsv(llvm::SourceMgr &sources,
                                       MLIRContext *context) {
  const llvm::MemoryBuffer *buffer =
      sources.getMemoryBuffer(sources.getMainFileID());
  llvm::Expected<Schedule> schedule = parseScheduleCsv(buffer->getBuffer());
  if (!schedule) {
    auto loc = FileLineColLoc::get(context, buffer->getBufferIdentifier(),
                                   /*line=*/0, /*column=*/0);
    emitError(loc) << toString(schedule.takeError());
    return {};
  }
  return buildSkeletonModule(*schedule, context);
}

void pipewright::registerImportScheduleCsv() {
  static TranslateToMLIRRegistration registration(
      "import-schedule-csv",
      "read a schedule in PyTorch's pipelining format, on stages without a "
      "model",
      [](llvm::SourceMgr &sources, MLIRContext *context) {
        return importCsv(sources, context);
      },
      registerDialects);
}
