# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of all kinds train on CUDA devices as on the CPU: those of the other
tests, in their types of floats, and those that frameworks have exported.

Usage: test_cuda_models.py LIBRARY CASE...
"""

from __future__ import annotations

import dataclasses
import sys
import unittest

from cases import CASES, EXPORTS, PRECISION_CASES
from cuda_double import largest_difference, run_on_double
from harness import EndToEndTest, Layout, build_case, train_case

RANKS = 2


class CudaModels(EndToEndTest):
    library = ""

    def __init__(self, name: str):
        super().__init__("train")
        self.name = name

    def train(self) -> None:
        case = (CASES | EXPORTS | PRECISION_CASES)[self.name]
        case = dataclasses.replace(case, steps=2)
        single = train_case(case, Layout(), self.folder)
        output, _ = build_case(case, Layout(RANKS, "1f1b", target="cuda"), self.folder)
        outcome = run_on_double(self.library, case, output, self.folder, RANKS)
        self.assert_agrees(outcome.losses, single.losses, case.loss_tolerance)
        self.assert_agrees(outcome.grad_norms, single.grad_norms, case.norm_tolerance)
        # With 16 bits a gradient near zero may have another sign, which is all
        # that AdamW sees of it at first.
        if self.name not in PRECISION_CASES:
            largest = largest_difference(outcome, single)
            self.assertLessEqual(largest, case.learning_rate / 10)


if __name__ == "__main__":
    CudaModels.library = sys.argv[1]
    tests = unittest.TestSuite(CudaModels(name) for name in sys.argv[2:])
    sys.exit(not unittest.TextTestRunner(verbosity=2).run(tests).wasSuccessful())
