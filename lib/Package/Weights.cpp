//===- Weights.cpp - Initial values of all parameters in one file
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Package/Weights.h"

#include "pipewright/Dialect/PP/PP.h"
#include "pipewright/Package/Dtypes.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <cstring>

using namespace mlir;
using namespace pipewright;

/// The JSON header, padded so that the bytes after it are aligned.
static std::string makeHeader(ModuleOp module) {
  std::string header;
  llvm::raw_string_ostream stream(header);
  llvm::json::OStream json(stream);
  int64_t offset = 0;
  json.object([&] {
    for (auto parameter : module.getOps<pp::ParameterOp>()) {
      RankedTensorType type = parameter.getWholeType();
      int64_t bytes = pp::getBytes(type);
      json.attributeObject(parameter.getSymName(), [&] {
        json.attribute("dtype", getDtypeName(type.getElementType()));
        json.attributeArray("shape", [&] {
          for (int64_t extent : type.getShape())
            json.value(extent);
        });
        json.attributeArray("data_offsets", [&] {
          json.value(offset);
          json.value(offset + bytes);
        });
      });
      offset += bytes;
    }
  });
  // With the 8 bytes before it, a whole number of cache lines.
  header.resize(llvm::alignTo(header.size() + 8, 64) - 8, ' ');
  return header;
}

namespace {
/// Writes values read in pieces, f16 and bf16 as f32 where that is asked for.
class ValueWriter {
public:
  /// \p stored is null for values that are copied.
  ValueWriter(raw_ostream &stream, Type stored)
      : stream(stream), stored(stored) {}

  void write(ArrayRef<char> piece) {
    if (!stored) {
      stream.write(piece.data(), piece.size());
      return;
    }
    // A piece may end in the middle of a value.
    for (char byte : piece) {
      value[valueBytes++] = byte;
      if (valueBytes == sizeof(value))
        writeValue();
    }
  }

private:
  void writeValue() {
    uint16_t bits;
    std::memcpy(&bits, value, sizeof bits);
    // The upper half of an f32 is a bf16.
    uint32_t wide = uint32_t(bits) << 16;
    if (stored.isF16()) {
      APFloat number(APFloat::IEEEhalf(), APInt(16, bits));
      bool losesInfo;
      number.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven,
                     &losesInfo);
      wide = number.bitcastToAPInt().getZExtValue();
    }
    stream.write(reinterpret_cast<const char *>(&wide), sizeof wide);
    valueBytes = 0;
  }

  raw_ostream &stream;
  Type stored;
  char value[2];
  size_t valueBytes = 0;
};
} // namespace

/// Copies a byte range of another file.
static LogicalResult copyExternal(pp::ParameterOp parameter,
                                  pp::ExternalAttr external,
                                  raw_ostream &stream) {
  auto fail = [&](const Twine &message) {
    return parameter.emitError("cannot read the values of '")
           << parameter.getSymName() << "' from '" << external.getFile()
           << "': " << message;
  };
  llvm::Expected<llvm::sys::fs::file_t> file =
      llvm::sys::fs::openNativeFileForRead(external.getFile());
  if (!file)
    return fail(llvm::toString(file.takeError()));

  SmallVector<char, 0> piece(1 << 20);
  ValueWriter writer(stream, external.getStored());
  int64_t copied = 0;
  LogicalResult result = success();
  while (copied < external.getLength() && succeeded(result)) {
    size_t wanted =
        std::min<int64_t>(piece.size(), external.getLength() - copied);
    llvm::Expected<size_t> count = llvm::sys::fs::readNativeFileSlice(
        *file, MutableArrayRef<char>(piece.data(), wanted),
        external.getOffset() + copied);
    if (!count)
      result = fail(llvm::toString(count.takeError()));
    else if (*count == 0)
      result = fail("it ends after " + Twine(copied) + " of " +
                    Twine(external.getLength()) + " bytes");
    else
      writer.write(ArrayRef<char>(piece).take_front(*count));
    copied += count ? *count : 0;
  }
  llvm::sys::fs::closeFile(*file);
  return result;
}

/// Writes values held in the IR, one byte per i1.
static LogicalResult writeInline(pp::ParameterOp parameter,
                                 raw_ostream &stream) {
  auto elements = dyn_cast<DenseElementsAttr>(parameter.getValue());
  if (!elements)
    return parameter.emitError("holds its values in an attribute that is not "
                               "dense");
  if (elements.getElementType().isInteger(1)) {
    for (bool value : elements.getValues<bool>())
      stream << static_cast<char>(value);
    return success();
  }
  ArrayRef<char> bytes = elements.getRawData();
  int64_t repeats = elements.isSplat() ? elements.getNumElements() : 1;
  for (int64_t i = 0; i < repeats; ++i)
    stream.write(bytes.data(), bytes.size());
  return success();
}

LogicalResult pipewright::writeWeights(ModuleOp module, StringRef path) {
  std::error_code error;
  llvm::raw_fd_ostream stream(path, error);
  if (error)
    return module.emitError("cannot write '")
           << path << "': " << error.message();
  std::string header = makeHeader(module);
  uint64_t length = header.size();
  stream.write(reinterpret_cast<const char *>(&length), sizeof(length));
  stream << header;
  for (auto parameter : module.getOps<pp::ParameterOp>()) {
    auto external = dyn_cast<pp::ExternalAttr>(parameter.getValue());
    if (failed(external ? copyExternal(parameter, external, stream)
                        : writeInline(parameter, stream)))
      return failure();
  }
  stream.close();
  if (!stream.has_error())
    return success();
  InFlightDiagnostic diag = module.emitError("cannot write '")
                            << path << "': " << stream.error().message();
  stream.clear_error();
  return diag;
}
