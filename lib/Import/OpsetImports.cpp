//===- OpsetImports.cpp - Which version of an operator is meant
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpsetImports.h"

using namespace llvm;
using namespace pipewright::onnx;

StringRef pipewright::onnx::normalizeDomain(StringRef domain) {
  return domain == "ai.onnx" ? "" : domain;
}

std::optional<int64_t>
pipewright::onnx::getOpsetVersion(const OpsetImports &imports,
                                  StringRef domain) {
  for (const OperatorSetIdProto &opset : imports)
    if (normalizeDomain(opset.domain()) == normalizeDomain(domain))
      return opset.version();
  return std::nullopt;
}
