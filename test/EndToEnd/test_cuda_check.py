# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What gpu-check does with pipelines, on what stands in for CUDA: their traces
are those of events on streams, and tell the planned order.

Usage: test_cuda_check.py LIBRARY
"""

from __future__ import annotations

import sys
import unittest
import unittest.mock

from cuda_double import double
from harness import EndToEndTest
from pipewright.gpucheck import pipelines
from pipewright.gpucheck.machine import Deadline
from pipewright.gpucheck.report import PASSED, Part

SCHEDULES = ("zb-h1", "interleaved-1f1b")
SIZES = {"layers": 8, "width": 16, "heads": 2, "sequence": 8}


class CudaCheck(EndToEndTest):
    library = ""

    def test_pipelines(self) -> None:
        part = Part("pipelines")
        with (
            unittest.mock.patch.multiple(
                pipelines, SCHEDULES=SCHEDULES, SIZES=SIZES, STEPS=2
            ),
            double(self.library, pipelines.RANKS),
        ):
            pipelines.check(self.folder, "sm_90", Deadline(300), part)
        self.assertEqual(part.status, PASSED)
        self.assertEqual([row["schedule"] for row in part.rows], list(SCHEDULES))


if __name__ == "__main__":
    CudaCheck.library = sys.argv.pop(1)
    unittest.main()
