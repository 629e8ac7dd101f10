# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions and pooling of all kinds train on CUDA devices as on the CPU,
computed by the library or by generated code.

Usage: test_cuda_convolutions.py LIBRARY
"""

from __future__ import annotations

import dataclasses
import functools
import pathlib
import sys
import unittest
from collections.abc import Callable
from typing import Any

from cases import CASES, Case
from cuda_double import largest_difference, run_on_double
from harness import EndToEndTest, Layout, build_case, train_case
from pipewright.models import weights
from pipewright.onnxfile import DataType, Graph, int64s
from pipewright.tensorfiles import integers, uniform

RANKS = 2
CLASSES = 3
CONVOLUTIONS = ["Convolution", "ConvolutionInputGradient", "ConvolutionWeightGradient"]
POOLING = ["PoolingMax", "PoolingMaxGradient", "PoolingAverage", "PoolingAverageGradient"]


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


def transposed() -> Graph:
    """Transposed convolutions, with groups and without."""
    graph = Graph("transposed")
    x = graph.input("x", DataType.FLOAT, ["batch", 2, 6, 5])
    image = functools.partial(add_layer, graph, layer="layers.0")
    x = image(x, "plain", "Conv", [4, 2, 3, 3], pads=[1, 1, 1, 1])
    groups = graph.scope("/layers.0/groups")
    weight = weights.normal(0, "groups", [4, 2, 3, 2], 0.4)
    x = groups.node(
        "Tanh",
        groups.node(
            "ConvTranspose",
            x,
            graph.initializer("layers.0.groups.weight", weight),
            group=2,
            dilations=[2, 1],
        ),
    )
    other = functools.partial(add_layer, graph, layer="layers.1")
    pads = [1, 0, 1, 0]
    x = other(x, "back", "ConvTranspose", [4, CLASSES, 3, 2], strides=[2, 1], pads=pads)
    head = graph.scope("/layers.1/head")
    head.node("Flatten", head.node("GlobalAveragePool", x), name="logits")
    graph.output("logits", DataType.FLOAT, ["batch", CLASSES])
    return graph


def pooling() -> Graph:
    """Two layers, each with some kinds; the library does not have all of them."""
    graph = Graph("pooling")
    x = graph.input("x", DataType.FLOAT, ["batch", 2, 13, 11])
    image = functools.partial(add_layer, graph, layer="layers.0")
    x = image(x, "first", "Conv", [4, 2, 3, 3], pads=[1, 1, 1, 1])
    scope = graph.scope("/layers.0/pool")
    pads = [1, 1, 1, 1]
    x = scope.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=pads)
    x = image(x, "second", "Conv", [4, 4, 1, 1])
    x = scope.node("AveragePool", x, kernel_shape=[2, 3], pads=pads, count_include_pad=1)
    other = functools.partial(add_layer, graph, layer="layers.1")
    x = other(x, "third", "Conv", [4, 4, 3, 3])
    scope = graph.scope("/layers.1/pool")
    x = scope.node("MaxPool", x, kernel_shape=[2, 2], dilations=[2, 2])
    x = scope.node("AveragePool", x, kernel_shape=[2, 2], strides=[2, 1], pads=pads)
    x = scope.node("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1)
    x = other(x, "line", "Conv", [4, 4, 1, 1])
    x = scope.node("Reshape", x, scope.constant(int64s(0, 4, -1)))
    x = scope.node("MaxPool", x, kernel_shape=[2])
    x = scope.node("AveragePool", x, kernel_shape=[3], strides=[2])
    x = scope.node("GlobalMaxPool", x)
    x = scope.node("Reshape", x, scope.constant(int64s(0, 4)))
    weight = graph.initializer("head", weights.normal(0, "head", [4, CLASSES], 0.4))
    graph.scope("/layers.1/head").node("MatMul", x, weight, name="logits")
    graph.output("logits", DataType.FLOAT, ["batch", CLASSES])
    return graph


def samples(shape: list[int]) -> dict:
    return {
        "x": uniform([20, *shape], seed=1),
        "labels": integers([20], seed=2, limit=CLASSES),
    }


def make_case(graph: Callable[[], Graph], shape: list[int], **how: Any) -> Case:
    return dataclasses.replace(
        CASES["skip-mlp-adamw"],
        graph=graph,
        data=functools.partial(samples, shape),
        cuts={},
        steps=2,
        **how,
    )


class CudaConvolutions(EndToEndTest):
    library = ""

    def build(self, case: Case, who: str) -> pathlib.Path:
        layout = Layout(RANKS, target="cuda")
        output, manifest = build_case(
            case, layout, self.folder, name=who, convolutions=who
        )
        calls = "true" if who == "library" else "false"
        self.assertIn(f"annotate-workspaces{{convolutions={calls}", manifest["pipeline"])
        return output

    def check(self, case: Case, functions: list[str], tolerance: float) -> None:
        single = train_case(case, Layout(), self.folder)
        for who in ("library", "kernels"):
            with self.subTest(who):
                output = self.build(case, who)
                code = b"".join(p.read_bytes() for p in (output / "bin").iterdir())
                # Nothing else is a product: no convolution is left.
                if case.graph is transposed:
                    self.assertEqual(b"pprtCudaMatmul" in code, who == "kernels")
                for function in functions:
                    name = f"pprtCuda{function}\0".encode()
                    self.assertEqual(name in code, who == "library", function)
                outcome = run_on_double(self.library, case, output, self.folder, RANKS)
                self.assert_agrees(outcome.losses, single.losses, tolerance)
                self.assert_agrees(outcome.grad_norms, single.grad_norms, 4 * tolerance)
                # With 16 bits a gradient near zero may have another sign.
                if not case.precision:
                    largest = largest_difference(outcome, single)
                    self.assertLess(largest, case.learning_rate / 10)

    def test_convolutions(self) -> None:
        case = make_case(convolutions, [2, 8, 7])
        self.check(case, [f"{name}F32" for name in CONVOLUTIONS], 1e-5)

    def test_transposed(self) -> None:
        case = make_case(transposed, [2, 6, 5])
        self.check(case, [f"{name}F32" for name in CONVOLUTIONS], 1e-5)

    def test_transposed_bf16(self) -> None:
        case = make_case(transposed, [2, 6, 5], precision="bf16")
        self.check(case, [f"{name}BF16" for name in CONVOLUTIONS], 2.0**-8)

    def test_pooling(self) -> None:
        case = make_case(pooling, [2, 13, 11])
        names = [*POOLING, "PoolingSum", "PoolingSumGradient"]
        self.check(case, [f"{name}F32" for name in names], 1e-5)

    def check_narrow_pooling(self, precision: str, tolerance: float) -> None:
        case = make_case(pooling, [2, 13, 11], precision=precision)
        names = [f"{name}{precision.upper()}" for name in CONVOLUTIONS + POOLING]
        self.check(case, names, tolerance)

    def test_pooling_bf16(self) -> None:
        self.check_narrow_pooling("bf16", 2.0**-8)

    def test_pooling_f16(self) -> None:
        self.check_narrow_pooling("f16", 2.0**-11)


if __name__ == "__main__":
    CudaConvolutions.library = sys.argv[1]
    unittest.main(argv=sys.argv[:1], verbosity=2)
