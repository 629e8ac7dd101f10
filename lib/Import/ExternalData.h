//===- ExternalData.h - Weights in files beside the model -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_IMPORT_EXTERNALDATA_H
#define PIPEWRIGHT_LIB_IMPORT_EXTERNALDATA_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <string>

namespace pipewright::onnx {

class TensorProto;

/// What the `external_data` entries of a tensor say.
struct ExternalData {
  std::string location;
  uint64_t offset = 0;
  uint64_t length = 0;
  bool hasLength = false;

  static llvm::Expected<ExternalData> parse(const TensorProto &tensor);
};

/// The absolute path of \p location, which a model in \p folder names. A model
/// comes from anywhere, so it may name only files below its own folder.
///
/// Fails for an absolute path, for `..` and, unless \p allowSymlinks, for a
/// symbolic link on the way.
llvm::Expected<std::string> resolveExternal(llvm::StringRef folder,
                                            llvm::StringRef location,
                                            bool allowSymlinks);

/// Maps the file \p path. Fails for anything but a regular file, since opening
/// a FIFO may block for ever, and, if \p contained, for a file with a second
/// name (a hard link), which may be outside of the model's folder.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
mapRegularFile(llvm::StringRef path, bool contained);

} // namespace pipewright::onnx

#endif // PIPEWRIGHT_LIB_IMPORT_EXTERNALDATA_H
