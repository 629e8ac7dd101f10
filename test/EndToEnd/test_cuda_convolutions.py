# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions of all kinds train on CUDA devices as on the CPU, computed by the
library or by generated code.

Usage: test_cuda_convolutions.py LIBRARY
"""

from __future__ import annotations

import dataclasses
import functools
import pathlib
import sys
import unittest
from typing import Any

from cases import CASES, Case
from cuda_double import largest_difference, run_on_double
from harness import EndToEndTest, Layout, train_case
from pipewright import pipeline
from pipewright.models import weights
from pipewright.onnxfile import DataType, Graph, int64s
from pipewright.tensorfiles import integers, uniform

RANKS = 2
CLASSES = 3
FUNCTIONS = [
    b"pprtCudaConvolutionF32",
    b"pprtCudaConvolutionInputGradientF32",
    b"pprtCudaConvolutionWeightGradientF32",
]


def add_layer(
    graph: Graph, x: str, name: str, op: str, shape: list[int], layer: str, **how: Any
) -> str:
    """A convolution with a bias for each of its channels, and a tanh."""
    scope = graph.scope(f"/{layer}/{name}")
    channels = shape[1] if op == "ConvTranspose" else shape[0]
    path = f"{layer}.{name}"
    weight = graph.initializer(f"{path}.weight", weights.normal(0, path, shape, 0.4))
    bias = graph.initializer(f"{path}.bias", weights.full(0.1, [channels]))
    return scope.node("Tanh", scope.node(op, x, weight, bias, **how))


def convolutions() -> Graph:
    """Two layers, each with some kinds."""
    graph = Graph("convolutions")
    x = graph.input("x", DataType.FLOAT, ["batch", 2, 8, 7])
    image = functools.partial(add_layer, graph, layer="layers.0")
    x = image(x, "plain", "Conv", [4, 2, 3, 3], pads=[1, 1, 1, 1])
    x = image(x, "grouped", "Conv", [6, 2, 3, 2], group=2, dilations=[2, 1])
    x = image(x, "point", "Conv", [4, 6, 1, 1])
    x = image(x, "side", "Conv", [4, 4, 3, 3], auto_pad="SAME_UPPER", strides=[2, 2])
    line = functools.partial(add_layer, graph, layer="layers.1")
    x = line(x, "back", "ConvTranspose", [4, 3, 3, 2], strides=[2, 1], pads=[1, 0, 1, 0])
    scope = graph.scope("/layers.1/pool")
    x = scope.node(
        "AveragePool", x, kernel_shape=[2, 2], strides=[1, 1], pads=[1, 1, 0, 0]
    )
    x = scope.node("Reshape", x, scope.constant(int64s(0, 9, 4)))
    x = line(x, "line", "Conv", [CLASSES, 9, 4])
    graph.scope("/layers.1/head").node("Flatten", x, name="logits")
    graph.output("logits", DataType.FLOAT, ["batch", CLASSES])
    return graph


def samples() -> dict:
    return {
        "x": uniform([20, 2, 8, 7], seed=1),
        "labels": integers([20], seed=2, limit=CLASSES),
    }


class CudaConvolutions(EndToEndTest):
    library = ""

    def build(self, case: Case, who: str) -> pathlib.Path:
        output = self.folder / who
        manifest = pipeline.build(
            self.folder / "model.onnx",
            output,
            target="cuda",
            ranks=RANKS,
            microbatches=case.microbatches,
            microbatch_size=case.microbatch_size,
            loss=case.loss,
            optimizer=case.optimizer,
            convolutions=who,
        )
        calls = "true" if who == "library" else "false"
        self.assertIn(f"annotate-workspaces{{convolutions={calls}", manifest["pipeline"])
        return output

    def test_trains(self) -> None:
        skip = CASES["skip-mlp-adamw"]
        case = dataclasses.replace(skip, graph=convolutions, data=samples, cuts={}, steps=2)
        single = train_case(case, Layout(), self.folder)
        for who in ("library", "kernels"):
            with self.subTest(who):
                output = self.build(case, who)
                code = b"".join(p.read_bytes() for p in (output / "bin").iterdir())
                for function in FUNCTIONS:
                    self.assertEqual(function in code, who == "library", function)
                outcome = run_on_double(self.library, case, output, self.folder, RANKS)
                self.assert_agrees(outcome.losses, single.losses, 1e-5)
                self.assert_agrees(outcome.grad_norms, single.grad_norms, 1e-5)
                largest = largest_difference(outcome, single)
                self.assertLess(largest, case.learning_rate / 10)


if __name__ == "__main__":
    CudaConvolutions.library = sys.argv[1]
    unittest.main(argv=sys.argv[:1], verbosity=2)
