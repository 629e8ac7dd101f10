# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Several pipelines train as one does with all of the micro-batches.

Sums of gradients have another order, so that numbers are the same within
rounding; they are the same bits each time, and on all pipelines.

Usage: test_replicas.py CASE...
"""

from __future__ import annotations

import dataclasses
import sys
import unittest

from cases import CASES, PRECISION_CASES, Case
from cuda_double import largest_difference
from harness import (
    EndToEndTest,
    Layout,
    Outcome,
    build_case,
    evaluate_case,
    run_case,
    train_case,
)

STEPS = 8
MICROBATCHES = 12
LAYOUTS = [
    Layout(1, replicas=2),
    Layout(2, replicas=2),
    Layout(2, "interleaved-1f1b", chunks=2, replicas=3),
    Layout(2, "dualpipev", chunks=2, replicas=2),
    Layout(2, "chimera", replicas=2),
    Layout(2, "zb-h1", "full", replicas=3),
]
# Of as few layers as two stages need.
SHALLOW = ("two-outputs",)


def prepare(name: str) -> Case:
    case = (CASES | PRECISION_CASES)[name]
    return dataclasses.replace(case, steps=STEPS, microbatches=MICROBATCHES)


class Replicas(EndToEndTest):
    def __init__(self, name: str):
        super().__init__("train")
        self.name = name

    def assert_close(self, case: Case, actual: Outcome, expected: Outcome) -> None:
        self.assert_agrees(actual.losses, expected.losses, case.loss_tolerance)
        self.assert_agrees(actual.grad_norms, expected.grad_norms, case.norm_tolerance)
        if self.name not in PRECISION_CASES:
            largest = largest_difference(actual, expected)
            self.assertLess(largest, case.learning_rate / 10)

    def train(self) -> None:
        case = prepare(self.name)
        single = train_case(case, Layout(), self.folder)
        for layout in LAYOUTS:
            if self.name in SHALLOW and layout.chunks:
                continue
            with self.subTest(str(layout)):
                output, manifest = build_case(case, layout, self.folder)
                self.assertEqual(manifest["mesh"]["dp"], layout.replicas)
                samples = MICROBATCHES * case.microbatch_size
                self.assertEqual(manifest["schedule"]["global_batch"], samples)
                outcome = run_case(case, output, self.folder)
                self.assert_close(case, outcome, single)
                again = run_case(case, output, self.folder, delays=5)
                self.assert_same_bits(again, outcome)
                threads = run_case(case, output, self.folder, transport="threads")
                self.assert_same_bits(threads, outcome)


class Evaluation(EndToEndTest):
    """The outputs of all pipelines are in one file, in the samples' order."""

    def __init__(self) -> None:
        super().__init__("evaluate")

    def evaluate(self) -> None:
        case = prepare("two-outputs")
        results = []
        for layout in (Layout(), Layout(2, replicas=3)):
            output, _ = build_case(case, layout, self.folder)
            losses, files = evaluate_case(case, output, self.folder, steps=3)
            self.assertEqual(len(losses), 3)
            results.append((losses, files))
        self.assertEqual(results[0], results[1])
        self.assertTrue(results[0][1])


if __name__ == "__main__":
    tests = unittest.TestSuite(Replicas(name) for name in sys.argv[1:])
    tests.addTest(Evaluation())
    sys.exit(not unittest.TextTestRunner(verbosity=2).run(tests).wasSuccessful())
