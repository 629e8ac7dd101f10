# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training agrees with PyTorch, and is the same, bit for bit, in every layout.

Usage: test_training.py CASE...
"""

import itertools
import sys
import unittest

from cases import CASES, EXPORTS
from harness import EndToEndTest, Layout, reference, train_case

STEPS = 20
EVERY_LAYOUT = [
    Layout(*choice)
    for choice in itertools.product((1, 2, 3, 4), ("gpipe", "1f1b"), ("none", "full"))
] + [
    Layout(ranks, schedule) for ranks in (3, 4) for schedule in ("eager-1f1b", "zb-h1")
]
SOME_LAYOUTS = [Layout(2, "gpipe", "full"), Layout(2, "1f1b"), Layout(3, "1f1b", "full")]
# The cases that the promise names are trained in every layout.
PROMISED = ("gpt-adamw", "skip-mlp-adamw")


class Training(EndToEndTest):
    def __init__(self, name: str):
        super().__init__("train")
        self.name = name

    def train(self) -> None:
        case = (CASES | EXPORTS)[self.name]
        single = train_case(case, Layout(), self.folder, STEPS)
        self.assertEqual(len(single.losses), STEPS)
        expected = reference(self.name)
        self.assert_agrees(single.losses, expected["losses"])
        self.assert_agrees(single.grad_norms, expected["grad_norms"])
        for layout in EVERY_LAYOUT if self.name in PROMISED else SOME_LAYOUTS:
            if layout == Layout():
                continue
            with self.subTest(str(layout)):
                outcome = train_case(case, layout, self.folder, STEPS)
                self.assert_same_bits(outcome, single)


if __name__ == "__main__":
    suite = unittest.TestSuite(Training(name) for name in sys.argv[1:])
    sys.exit(not unittest.TextTestRunner().run(suite).wasSuccessful())
