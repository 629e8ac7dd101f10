# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What follows products is computed in two ways, by the library and by kernels:
models train on CUDA devices in both as on the CPU, and so they do if the runtime
measures which one is faster.

Usage: test_cuda_epilogues.py LIBRARY
"""

from __future__ import annotations

import dataclasses
import sys
import unittest

from cases import CASES, PRECISION_CASES
from cuda_double import largest_difference, run_on_double
from harness import EndToEndTest, Layout, Outcome, build_case, train_case
from pipewright import pipeline

RANKS = 2
WAYS = ("library", "kernels", "measure")


class CudaEpilogues(EndToEndTest):
    library = ""

    def train(self, name: str, tolerance: float | None) -> dict[str, Outcome]:
        case = dataclasses.replace((CASES | PRECISION_CASES)[name], steps=2)
        single = train_case(case, Layout(), self.folder)
        output, _ = build_case(case, Layout(RANKS, "1f1b", target="cuda"), self.folder)
        outcomes = {
            way: run_on_double(
                self.library, case, output, self.folder, RANKS, epilogues=way
            )
            for way in WAYS
        }
        for outcome in outcomes.values():
            self.assert_agrees(outcome.losses, single.losses, case.loss_tolerance)
            self.assert_agrees(
                outcome.grad_norms, single.grad_norms, case.norm_tolerance
            )
            if tolerance:
                self.assertLess(largest_difference(outcome, single), tolerance)
        # They are not one way: they do not round alike.
        self.assertNotEqual(
            outcomes["library"].parameters, outcomes["kernels"].parameters
        )
        return outcomes

    def test_f32(self) -> None:
        self.train("gpt-adamw", CASES["gpt-adamw"].learning_rate / 10)

    # With 16 bits a gradient near zero may have another sign, which is all that
    # AdamW sees of it at first.
    def test_bf16(self) -> None:
        self.train("gpt-bf16", None)

    def test_f16(self) -> None:
        self.train("gpt-f16", None)

    def test_other_words_are_refused(self) -> None:
        case = CASES["skip-mlp-adamw"]
        output, _ = build_case(case, Layout(target="cuda"), self.folder)
        message = (
            "(?s)exit status 2.*PIPEWRIGHT_EPILOGUES is 'fast'; "
            "it can be 'measure', 'library' or 'kernels'"
        )
        with self.assertRaisesRegex(pipeline.CommandError, message):
            run_on_double(
                self.library, case, output, self.folder, ranks=1, epilogues="fast"
            )


if __name__ == "__main__":
    CudaEpilogues.library = sys.argv.pop(1)
    unittest.main(verbosity=2)
