# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Several pipelines of CUDA devices train as one of the CPU does.

Gradients are added by NCCL while tasks run, from the second step on in a graph,
and by messages where all share a device. Of two pipelines the bits are the same.

Usage: test_cuda_replicas.py LIBRARY CASE...
"""

from __future__ import annotations

import dataclasses
import sys
import unittest

from cases import CASES, PRECISION_CASES
from cuda_double import largest_difference, run_in_every_way
from harness import EndToEndTest, Layout, build_case, train_case

LAYOUTS = [
    Layout(1, target="cuda", replicas=2),
    Layout(2, target="cuda", replicas=2),
    Layout(2, "interleaved-1f1b", chunks=2, target="cuda", replicas=2),
]


class CudaReplicas(EndToEndTest):
    library = ""

    def __init__(self, name: str):
        super().__init__("train")
        self.name = name

    def train(self) -> None:
        case = (CASES | PRECISION_CASES)[self.name]
        case = dataclasses.replace(case, steps=3)
        single = train_case(case, Layout(), self.folder)
        for layout in LAYOUTS:
            with self.subTest(str(layout)):
                output, _ = build_case(case, layout, self.folder)
                outcomes = run_in_every_way(
                    self.library, case, output, self.folder, layout
                )
                for outcome in outcomes:
                    self.assert_agrees(
                        outcome.losses, single.losses, case.loss_tolerance
                    )
                    self.assert_same_bits(outcome, outcomes[0])
                if self.name not in PRECISION_CASES:
                    largest = largest_difference(outcomes[0], single)
                    self.assertLess(largest, case.learning_rate / 10)


if __name__ == "__main__":
    CudaReplicas.library = sys.argv[1]
    tests = unittest.TestSuite(CudaReplicas(name) for name in sys.argv[2:])
    sys.exit(not unittest.TextTestRunner(verbosity=2).run(tests).wasSuccessful())
