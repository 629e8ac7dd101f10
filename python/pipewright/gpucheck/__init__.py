# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks, on a machine with a GPU, what cannot be checked without one."""
