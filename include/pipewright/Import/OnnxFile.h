//===- OnnxFile.h - Reads ONNX model files ----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An ONNX model as its file says it, without MLIR. Weights stay in their files:
// the values of tensors are byte ranges of mapped memory.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_IMPORT_ONNXFILE_H
#define PIPEWRIGHT_IMPORT_ONNXFILE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pipewright::onnx {

class ModelProto;
class TensorProto;

struct OnnxFileOptions {
  /// External data may be reached through symbolic links, as in the cache of
  /// the Hugging Face hub.
  bool allowExternalSymlinks = false;
};

/// Where the values of a tensor lie, if they lie in a file as in memory:
/// little-endian, row-major, dense.
struct FileRange {
  std::string file; ///< absolute path
  int64_t offset;   ///< bytes
  int64_t length;   ///< bytes
};

/// The values of a tensor.
struct TensorContents {
  int32_t dataType; ///< a TensorProto::DataType
  llvm::SmallVector<int64_t> dims;
  /// Little-endian, row-major, dense; not necessarily aligned. Lives as long
  /// as the OnnxFile and `decoded` do.
  llvm::StringRef bytes;
  std::optional<FileRange> range;
  std::vector<char> decoded; ///< what `bytes` refers to if there is no file
};

/// The size of an element of \p dataType in bytes; 0 if we have no tensors of
/// that type.
int64_t getElementBytes(int32_t dataType);

/// The name of \p dataType in the ONNX specification, in lower case.
std::string getDataTypeName(int32_t dataType);

class OnnxFile {
public:
  /// Reads the model in \p path: the text form of the protobuf message if the
  /// name ends in `.onnxtxt` or `.textproto`, else the binary form.
  static llvm::Expected<std::unique_ptr<OnnxFile>>
  open(llvm::StringRef path, const OnnxFileOptions &options = {});
  ~OnnxFile();

  const ModelProto &getModel() const { return *model; }
  ModelProto &getModel() { return *model; }
  llvm::StringRef getPath() const { return path; }

  /// Maps the file \p path, which is not the model's own to name.
  llvm::Expected<llvm::StringRef> mapWeights(llvm::StringRef path);
  /// Adds \p initializer to the model, with the values that lie in \p range of
  /// a file that was mapped.
  void addInitializer(TensorProto initializer, const FileRange &range);
  /// Adds \p initializer to the model, without values.
  void addInitializer(TensorProto initializer);
  /// Adds an initializer called \p name with the values of \p tensor, one of
  /// the model's.
  void addCopy(const TensorProto &tensor, llvm::StringRef name);

  /// Whether there are values to read of \p tensor.
  bool hasValues(const TensorProto &tensor) const;
  /// The values of \p tensor, wherever they are. Fails if there are not as
  /// many as its shape asks for, or none.
  llvm::Expected<TensorContents> read(const TensorProto &tensor);
  /// All but the values of \p tensor, which has none: a range of no file.
  llvm::Expected<TensorContents> describe(const TensorProto &tensor) const;

private:
  OnnxFile(llvm::StringRef path, const OnnxFileOptions &options);
  llvm::Error parse();
  llvm::Error parseText();
  llvm::Error readExternal(const TensorProto &tensor, TensorContents &contents);
  llvm::Error readLeft(const TensorProto &tensor, TensorContents &contents);
  llvm::Expected<const llvm::MemoryBuffer *> mapExternal(llvm::StringRef path);
  llvm::Error readAdded(const FileRange &range, TensorContents &contents);

  std::string path; ///< absolute
  OnnxFileOptions options;
  bool isText;
  std::unique_ptr<llvm::MemoryBuffer> buffer;
  std::unique_ptr<ModelProto> model;
  llvm::StringMap<std::unique_ptr<llvm::MemoryBuffer>> externalFiles;
  /// Where the values of initializers that were added are, if they have any.
  llvm::DenseMap<const TensorProto *, std::optional<FileRange>> added;
};

} // namespace pipewright::onnx

#endif // PIPEWRIGHT_IMPORT_ONNXFILE_H
