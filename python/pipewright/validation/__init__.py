# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares what `pipewright` computes with published results."""
