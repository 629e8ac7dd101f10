# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pipelines of CUDA devices that share experts out train as one of the CPU does.

Rows move by NCCL on a stream of their own, and by copies where all share a
device. Whoever moves them, the bits are the same; sums of gradients over more
than two pipelines have another order by NCCL.

Usage: test_cuda_experts.py LIBRARY CASE...
"""

from __future__ import annotations

import dataclasses
import sys
import unittest

from cases import CASES, EXPORTS
from cuda_double import largest_difference, run_in_every_way
from harness import EndToEndTest, Layout, build_case, train_case

LAYOUTS = [
    Layout(1, target="cuda", replicas=2, peers=2),
    Layout(1, target="cuda", replicas=4, peers=2),
    Layout(2, "dualpipev", chunks=2, target="cuda", replicas=2, peers=2),
]


class CudaExperts(EndToEndTest):
    library = ""

    def __init__(self, name: str):
        super().__init__("train")
        self.name = name

    def train(self) -> None:
        case = (CASES | EXPORTS)[self.name]
        case = dataclasses.replace(case, steps=3, microbatches=8)
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
                    largest = largest_difference(outcome, single)
                    self.assertLess(largest, case.learning_rate / 10)
                # The others are by NCCL.
                same = outcomes if layout.replicas == 2 else outcomes[:2]
                for outcome in same:
                    self.assert_same_bits(outcome, same[0])


if __name__ == "__main__":
    CudaExperts.library = sys.argv[1]
    tests = unittest.TestSuite(CudaExperts(name) for name in sys.argv[2:])
    sys.exit(not unittest.TextTestRunner(verbosity=2).run(tests).wasSuccessful())
