# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads and writes Pipewright's files and calls its programs.

Standard library only: nothing here is needed to build or to run a model, and
nothing has to be installed to use it.
"""
