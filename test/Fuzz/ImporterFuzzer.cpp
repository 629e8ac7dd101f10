//===- ImporterFuzzer.cpp - Any bytes as an ONNX model
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Each dimension without a size gets a small one. Sizes that the model itself
// asks for stay: a small file must not make the importer allocate much.
//
//===----------------------------------------------------------------------===//

#include "ModelMutator.h"
#include "Proto/Onnx.pb.h"
#include "pipewright/Import/Import.h"

#include "mlir/IR/MLIRContext.h"

#include <sys/mman.h>
#include <unistd.h>

using namespace pipewright;

/// What each symbolic dimension of the inputs is bound to.
constexpr int64_t symbolicSize = 2;

/// Rewrites a file in memory; its path.
static std::string writeFile(llvm::StringRef bytes) {
  static const int descriptor = ::memfd_create("model.onnx", MFD_CLOEXEC);
  bool isWritten = ::ftruncate(descriptor, 0) == 0 &&
                   ::pwrite(descriptor, bytes.data(), bytes.size(),
                            /*offset=*/0) == ssize_t(bytes.size());
  if (!isWritten)
    llvm::report_fatal_error("cannot write a file in memory");
  return "/proc/self/fd/" + std::to_string(descriptor);
}

static void bindInputs(llvm::StringRef bytes, ImportOptions &options) {
  onnx::ModelProto model;
  if (!model.ParsePartialFromArray(bytes.data(), bytes.size()))
    return;
  for (const onnx::ValueInfoProto &input : model.graph().input()) {
    const onnx::TensorShapeProto &shape = input.type().tensor_type().shape();
    for (int axis = 0; axis < shape.dim_size(); ++axis) {
      const onnx::TensorShapeProto::Dimension &dim = shape.dim(axis);
      if (dim.has_dim_value() && dim.dim_value() >= 0)
        continue;
      std::string symbol = dim.dim_param();
      if (symbol.empty())
        symbol = input.name() + "." + std::to_string(axis);
      options.bind[symbol] = symbolicSize;
    }
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef bytes(reinterpret_cast<const char *>(data), size);
  ImportOptions options;
  options.path = writeFile(bytes);
  bindInputs(bytes, options);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  mlir::ScopedDiagnosticHandler swallow(
      &context, [](mlir::Diagnostic &) { return mlir::success(); });
  importOnnx(options, &context);
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t maxSize, unsigned seed) {
  return mutateModel(data, size, maxSize, seed);
}
