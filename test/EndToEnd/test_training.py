# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training agrees with PyTorch, and is the same, bit for bit, in every layout.

Usage: test_training.py CASE...
"""

import itertools
import sys
import unittest

from cases import CASES, EXPORTS, PRECISION_CASES, Case
from harness import (
    EndToEndTest,
    Layout,
    Outcome,
    reference,
    run_case,
    train_case,
)

STEPS = 20
EVERY_LAYOUT = [
    Layout(*choice)
    for choice in itertools.product((1, 2, 3, 4), ("gpipe", "1f1b"), ("none", "full"))
] + [
    Layout(ranks, schedule) for ranks in (3, 4) for schedule in ("eager-1f1b", "zb-h1")
]
SOME_LAYOUTS = [Layout(2, "gpipe", "full"), Layout(2, "1f1b"), Layout(3, "1f1b", "full")]
# Four stages on two ranks, in loops or there and back: values are passed on
# within a rank, and both ends of a tied weight may be on one.
CHUNKED_LAYOUTS = [
    Layout(2, "interleaved-1f1b", "full", chunks=2),
    Layout(2, "zb-v", chunks=2),
    Layout(2, "dualpipev", chunks=2),
]
# Models of fewer layers than that.
SHALLOW = ("two-outputs", "pooling", *EXPORTS)
DELAYED_STEPS = 3
# The cases that the promise names are trained in every layout.
PROMISED = ("gpt-adamw", "gpt-bf16", "skip-mlp-adamw")


class Training(EndToEndTest):
    def __init__(self, name: str):
        super().__init__("train")
        self.name = name

    def train(self) -> None:
        case = (CASES | EXPORTS | PRECISION_CASES)[self.name]
        single = train_case(case, Layout(), self.folder, STEPS)
        self.assertEqual(len(single.losses), STEPS)
        expected = reference(self.name)
        self.assert_agrees(single.losses, expected["losses"], case.loss_tolerance)
        self.assert_agrees(
            single.grad_norms, expected["grad_norms"], case.norm_tolerance
        )
        layouts = EVERY_LAYOUT if self.name in PROMISED else SOME_LAYOUTS
        if self.name in EXPORTS:
            layouts = layouts + [Layout(4, "1f1b")]
        chunked = [] if self.name in SHALLOW else CHUNKED_LAYOUTS
        for layout in layouts + chunked:
            if layout == Layout():
                continue
            with self.subTest(str(layout)):
                outcome = train_case(case, layout, self.folder, STEPS)
                self.assert_same_bits(outcome, single)
        for layout in chunked:
            with self.subTest(f"{layout}, with delays"):
                self.check_delays(case, layout, single)

    def check_delays(self, case: Case, layout: Layout, single: Outcome) -> None:
        output = self.folder / layout.folder_name()
        outcome = run_case(case, output, self.folder, DELAYED_STEPS, delays=3)
        self.assertEqual(outcome.losses, single.losses[:DELAYED_STEPS])
        self.assertEqual(outcome.grad_norms, single.grad_norms[:DELAYED_STEPS])


if __name__ == "__main__":
    suite = unittest.TestSuite(Training(name) for name in sys.argv[1:])
    sys.exit(not unittest.TextTestRunner().run(suite).wasSuccessful())
