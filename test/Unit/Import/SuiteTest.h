//===- SuiteTest.h - A model with what it must compute ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TEST_UNIT_IMPORT_SUITETEST_H
#define PIPEWRIGHT_TEST_UNIT_IMPORT_SUITETEST_H

#include "Proto/Onnx.pb.h"

#include "pipewright/Dialect/NN/HostTensor.h"

#include <optional>
#include <string>
#include <vector>

namespace pipewright {

/// A test in the layout of ONNX's own: a folder with a model, its inputs and
/// the outputs that they lead to.
struct SuiteTest {
  /// Reads the test in the folder \p path; nothing if it has no model.
  static std::optional<SuiteTest> read(llvm::StringRef path);

  /// Whether inputs and outputs are tensors of the types that the model says.
  bool hasTensors() const;

  /// Whether we claim to compute it: its operators are among those that we
  /// import, and its values are tensors of types that we have.
  bool isInReach() const;

  /// The model with the inputs known that are known in real models: shapes,
  /// axes, bounds.
  onnx::ModelProto promoteInputs() const;

  /// The value of the input \p name, which the model has.
  nn::HostTensor readInput(llvm::StringRef name,
                           mlir::MLIRContext *context) const;

  /// Says where \p actual, computed by \p what, differs from the outputs; empty
  /// if it does not.
  std::string findDifference(llvm::StringRef what,
                             llvm::ArrayRef<nn::HostTensor> actual,
                             mlir::MLIRContext *context) const;

  onnx::ModelProto model;
  /// The inputs of the model that have no initializers.
  std::vector<onnx::ValueInfoProto> inputInfos;
  std::vector<onnx::TensorProto> inputs, outputs;
  /// An output may differ from what is expected by `absolute` plus `relative`
  /// times that. These are the bounds of ONNX's own runner of tests.
  double relative = 1e-3, absolute = 1e-7;
};

/// The values of \p tensor, of a type that constants may have.
nn::HostTensor readTensor(const onnx::TensorProto &tensor,
                          mlir::MLIRContext *context);

/// The names of the folders in \p path, sorted.
std::vector<std::string> listFolders(const llvm::Twine &path);

} // namespace pipewright

#endif // PIPEWRIGHT_TEST_UNIT_IMPORT_SUITETEST_H
