# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention of 16 bits trains on CUDA devices as on the CPU, computed by the
library or by generated code.

Usage: test_cuda_attention.py LIBRARY
"""

from __future__ import annotations

import dataclasses
import math
import pathlib
import sys
import unittest
from typing import Any

from cases import CASES, LOSS_SCALE, Case, rounded
from cuda_double import run_on_double
from harness import EndToEndTest, Layout, Outcome, build_case, train_case
from pipewright import pipeline
from pipewright.models import llama
from pipewright.onnxfile import Graph

RANKS = 2


def small_llama() -> Graph:
    """Two queries share a key and a value."""
    config = llama.LlamaConfig(
        layers=2, width=32, heads=4, groups=2, hidden=48, sequence=16, vocabulary=64
    )
    return llama.write_llama(config)


def in_precision(case: Case, precision: str, digits: int, **how: Any) -> Case:
    """Gradient descent of two steps: the update shows all of the gradient."""
    return dataclasses.replace(
        case,
        precision=precision,
        optimizer="sgd",
        learning_rate=0.5,
        steps=2,
        **rounded(digits),
        **how,
    )


TOKENS = CASES["gpt-adamw"]
GROUPS = dataclasses.replace(TOKENS, graph=small_llama)
GPT_BF16 = in_precision(TOKENS, "bf16", 8)
GROUPS_BF16 = in_precision(GROUPS, "bf16", 8)
GROUPS_F16 = in_precision(GROUPS, "f16", 11, loss_scale=LOSS_SCALE)


def norm(values: list[float]) -> float:
    return math.sqrt(sum(value * value for value in values))


def difference(lhs: bytes, rhs: bytes) -> list[float]:
    pairs = zip(memoryview(lhs).cast("f"), memoryview(rhs).cast("f"))
    return [a - b for a, b in pairs]


class CudaAttention(EndToEndTest):
    library = ""

    def build(self, case: Case, who: str, **how: Any) -> pathlib.Path:
        layout = Layout(RANKS, target="cuda", **how)
        output, manifest = build_case(
            case, layout, self.folder, name=who, attention=who, force=True
        )
        kept = "nn-keep-attention-statistics{target=cuda}" in manifest["pipeline"]
        self.assertEqual(kept, who == "library")
        return output

    def assert_same_updates(
        self, actual: Outcome, expected: Outcome, tolerance: float
    ) -> None:
        """Each parameter has moved by the same, but for what 16 bits round."""
        for name, before in self.initial.parameters.items():
            moved = norm(difference(expected.parameters[name], before))
            apart = difference(actual.parameters[name], expected.parameters[name])
            self.assertLess(norm(apart), tolerance * moved, name)

    def check(self, case: Case, who: str, **how: Any) -> Outcome:
        """Trains, and compares with one rank of the CPU."""
        if not (self.folder / "model.onnx").exists():
            still = dataclasses.replace(case, learning_rate=0.0, steps=1)
            self.initial = train_case(still, Layout(), self.folder)
            folder = self.folder / "single"
            folder.mkdir()
            self.single = train_case(case, Layout(), folder)
        output = self.build(case, who, **how)
        code = b"".join(p.read_bytes() for p in (output / "bin").iterdir())
        for function in ("pprtCudaAttention", "pprtCudaAttentionGradient"):
            called = (function + case.precision.upper()).encode() in code
            self.assertEqual(called, who == "library", function)
        outcome = run_on_double(self.library, case, output, self.folder, RANKS)
        self.assert_agrees(outcome.losses, self.single.losses, case.loss_tolerance)
        self.assert_agrees(
            outcome.grad_norms, self.single.grad_norms, case.norm_tolerance
        )
        self.assert_same_updates(outcome, self.single, case.norm_tolerance)
        return outcome

    def test_gpt_in_bf16(self) -> None:
        for who in ("library", "kernels"):
            with self.subTest(who):
                self.check(GPT_BF16, who)

    def test_groups_in_bf16(self) -> None:
        first = self.check(GROUPS_BF16, "library")
        cut = self.check(GROUPS_BF16, "library", schedule="zb-h1", remat="selective")
        self.assert_same_bits(cut, first)

    def test_groups_in_f16(self) -> None:
        self.check(GROUPS_F16, "library", remat="full")

    def test_of_f32_it_is_generated(self) -> None:
        output = self.build(TOKENS, "library")
        for rank in (output / "bin").iterdir():
            self.assertNotIn(b"pprtCudaAttention", rank.read_bytes())

    def test_forward_only(self) -> None:
        TOKENS.graph().save(self.folder / "model.onnx")
        output = self.folder / "forward"
        pipeline.build(
            self.folder / "model.onnx",
            output,
            target="cuda",
            bind="batch=2",
            precision="bf16",
            attention="library",
            forward_only=True,
        )
        code = (output / "bin/rank-000").read_bytes()
        self.assertIn(b"pprtCudaAttentionBF16", code)
        self.assertNotIn(b"pprtCudaAttentionGradient", code)


if __name__ == "__main__":
    CudaAttention.library = sys.argv[1]
    unittest.main(argv=sys.argv[:1], verbosity=2)
