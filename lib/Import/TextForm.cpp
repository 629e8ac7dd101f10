//===- TextForm.cpp - Models as protobuf text
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TextForm.h"

#include "Proto/Onnx.pb.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/text_format.h>

using namespace llvm;

namespace {
/// Keeps protobuf from writing to stderr.
class ErrorLines : public google::protobuf::io::ErrorCollector {
public:
  void AddError(int line, google::protobuf::io::ColumnNumber column,
                const std::string &message) override {
    text += (text.empty() ? "" : "; ") + ("line " + std::to_string(line + 1)) +
            ", column " + std::to_string(column + 1) + ": " + message;
  }

  std::string text;
};
} // namespace

Error pipewright::onnx::parseTextForm(StringRef text, ModelProto &model) {
  google::protobuf::io::ArrayInputStream stream(text.data(), text.size());
  google::protobuf::TextFormat::Parser parser;
  ErrorLines errors;
  parser.RecordErrorsTo(&errors);
  parser.SetRecursionLimit(100);
  if (parser.Parse(&stream, &model))
    return Error::success();
  return createStringError("is not a model in text form: %s",
                           errors.text.c_str());
}
