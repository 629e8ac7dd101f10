# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes ONNX models in the node forms that exporters emit."""
