# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes small models, each of which shows one thing that a pipeline must keep.

    python3 -m pipewright.models.small skip-mlp -o skip.onnx
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

from ..onnxfile import DataType, Graph, Scope, Tensor, float32, int64s
from . import weights

FEATURES = 8
CLASSES = 4
SEED = 0


def _dense(scope: Scope, x: str, inputs: int, outputs: int, name: str | None = None) -> str:
    """PyTorch's Linear under the module's path: `layers.0.linear.weight`."""
    module = scope.path.strip("/").replace("/", ".")
    weight = weights.normal(SEED, f"{module}.weight", [outputs, inputs], inputs**-0.5)
    return scope.node(
        "Gemm",
        x,
        scope.graph.initializer(f"{module}.weight", weight),
        scope.graph.initializer(f"{module}.bias", weights.full(0.0, [outputs])),
        transB=1,
        name=name,
    )


def _number(scope: Scope, value: float) -> str:
    return scope.constant(float32(value))


def linear(layers: int = 2, values: list[float] | None = None) -> Graph:
    """`layers` linear layers of one weight, 1 or that of `values`, and no bias."""
    graph = Graph("linear")
    x = graph.input("x", DataType.FLOAT, ["batch", 1])
    for index in range(layers):
        value = values[index] if values else 1.0
        weight = graph.initializer(f"layers.{index}.weight", weights.full(value, [1, 1]))
        name = "prediction" if index == layers - 1 else None
        x = graph.scope(f"/layers.{index}").node("MatMul", x, weight, name=name)
    graph.output("prediction", DataType.FLOAT, ["batch", 1])
    return graph


def half_precision(
    layers: int = 3, wire: int | None = None, weight: int | None = None
) -> Graph:
    """Linear layers of one weight, where the result of layer `wire`, or the weight
    of layer `weight`, goes through float16, and with it its gradient."""
    half, single = int(DataType.FLOAT16), int(DataType.FLOAT)
    graph = Graph("half_precision")
    x = graph.input("x", DataType.FLOAT, ["batch", 1])
    for index in range(layers):
        scope = graph.scope(f"/layers.{index}")
        w = graph.initializer(
            f"layers.{index}.weight", weights.full(1 + index / 8, [1, 1])
        )
        if index == weight:
            w = scope.node("Cast", scope.node("Cast", w, to=half), to=single)
        if wire is not None and index == wire + 1:
            x = scope.node("Cast", x, to=single)
        name = "prediction" if index == layers - 1 else None
        x = scope.node("MatMul", x, w, name=name)
        if index == wire:
            x = scope.node("Cast", x, to=half)
    graph.output("prediction", DataType.FLOAT, ["batch", 1])
    return graph


def skip_mlp(layers: int = 5, source: int = 0, target: int = 3, width: int = 16) -> Graph:
    """The result of layer `source` is added to that of layer `target`."""
    graph = Graph("skip_mlp")
    x = graph.input("x", DataType.FLOAT, ["batch", FEATURES])
    inputs, results = FEATURES, []
    for index in range(layers):
        scope = graph.scope(f"/layers.{index}")
        x = scope.node("Relu", _dense(scope.child("linear"), x, inputs, width))
        if index == target:
            x = scope.node("Add", x, results[source])
        results.append(x)
        inputs = width
    _dense(graph.scope("/head"), x, width, CLASSES, name="logits")
    graph.output("logits", DataType.FLOAT, ["batch", CLASSES])
    return graph


def dropout_mlp(layers: int = 4, width: int = 16, ratio: float = 0.5) -> Graph:
    """Dropout in training mode after each layer."""
    graph = Graph("dropout_mlp")
    x = graph.input("x", DataType.FLOAT, ["batch", FEATURES])
    inputs = FEATURES
    for index in range(layers):
        scope = graph.scope(f"/layers.{index}")
        x = scope.node("Relu", _dense(scope.child("linear"), x, inputs, width))
        training = scope.constant(Tensor.of(DataType.BOOL, [], [1]))
        x = scope.node("Dropout", x, _number(scope, ratio), training)
        inputs = width
    _dense(graph.scope("/head"), x, width, CLASSES, name="logits")
    graph.output("logits", DataType.FLOAT, ["batch", CLASSES])
    return graph


def tied_embedding(
    vocabulary: int = 32,
    sequence: int = 8,
    width: int = 16,
    dtype: DataType = DataType.FLOAT,
) -> Graph:
    """One table for the first layer's Gather and the last layer's MatMul.

    All is stored and computed in the float type `dtype`.
    """
    graph = Graph("tied_embedding")
    ids = graph.input("input_ids", DataType.INT64, ["batch", sequence])
    name = "tokens.weight"
    table = graph.initializer(
        name, weights.normal(SEED, name, [vocabulary, width], width**-0.5).to(dtype)
    )
    x = graph.scope("/tokens").node("Gather", table, ids)
    for index in range(2):
        scope = graph.scope(f"/layers.{index}")
        name = f"layers.{index}.weight"
        weight = weights.normal(SEED, name, [width, width], width**-0.5)
        product = scope.node("MatMul", x, graph.initializer(name, weight.to(dtype)))
        x = scope.node("Add", scope.node("Tanh", product), x)
    head = graph.scope("/head")
    head.node("MatMul", x, head.node("Transpose", table, perm=[1, 0]), name="logits")
    graph.output("logits", dtype, ["batch", sequence, vocabulary])
    return graph


def tied_pair() -> Graph:
    """y = x W W with W = 1: for x = (1, 1) and the mean square of two elements
    as loss, each use of W has the gradient y - target in all four elements."""
    graph = Graph("tied_pair")
    x = graph.input("x", DataType.FLOAT, ["batch", 2])
    one = Tensor.of(DataType.FLOAT, [2, 2], [1, 0, 0, 1])
    weight = graph.initializer("weight", one)
    x = graph.scope("/layers.0").node("MatMul", x, weight)
    graph.scope("/layers.1").node("MatMul", x, weight, name="prediction")
    graph.output("prediction", DataType.FLOAT, ["batch", 2])
    return graph


def mixed_boundary(width: int = 16) -> Graph:
    """Between layers 0 and 1 go, with equal element counts: a float and a
    bfloat16 with a gradient, booleans, integers, a float without a gradient, and
    a float that only layer 2 reads. All depend on a parameter, so none can be
    recomputed from the inputs alone."""
    graph = Graph("mixed_boundary")
    x = graph.input("x", DataType.FLOAT, ["batch", FEATURES])
    first, second, third = (graph.scope(f"/layers.{index}") for index in range(3))

    x = first.node("Tanh", _dense(first.child("linear"), x, FEATURES, width))
    positive = first.node("Greater", x, _number(first, 0.1))
    scaled = first.node("Mul", x, _number(first, 4.0))
    levels = first.node("Cast", scaled, to=int(DataType.INT64))
    steps = first.node("Cast", levels, to=int(DataType.FLOAT))
    later = first.node("Mul", x, x)
    short = first.node("Cast", x, to=int(DataType.BFLOAT16))

    y = second.node("Where", positive, x, second.node("Mul", x, steps))
    y = second.node("Add", y, second.node("Cast", short, to=int(DataType.FLOAT)))
    y = second.node("Relu", _dense(second.child("linear"), y, width, width))

    y = third.node("Add", y, later)
    y = third.node("Mul", y, third.node("Cast", levels, to=int(DataType.FLOAT)))
    y = third.node("Tanh", _dense(third.child("linear"), y, width, width))
    _dense(graph.scope("/head"), y, width, CLASSES, name="logits")
    graph.output("logits", DataType.FLOAT, ["batch", CLASSES])
    return graph


def two_outputs() -> Graph:
    """A Split whose two results feed different products."""
    graph = Graph("two_outputs")
    x = graph.input("x", DataType.FLOAT, ["batch", FEATURES])
    first, second = graph.scope("/layers.0"), graph.scope("/layers.1")
    x = first.node("Tanh", _dense(first.child("linear"), x, FEATURES, 16))
    left, right = second.node("Split", x, second.constant(int64s(8, 8)), axis=1, results=2)
    left = _dense(second.child("left"), left, 8, 16)
    right = _dense(second.child("right"), right, 8, 16)
    x = second.node("Mul", left, second.node("Sigmoid", right))
    _dense(graph.scope("/head"), x, 16, CLASSES, name="logits")
    graph.output("logits", DataType.FLOAT, ["batch", CLASSES])
    return graph


def pooling(channels: int = 4) -> Graph:
    """Whole numbers are pooled: of many windows several elements are the largest."""
    graph = Graph("pooling")
    x = graph.input("x", DataType.INT64, ["batch", channels, 9, 9])

    def scale_and_add(scope: Scope, x: str, size: int) -> str:
        name = scope.path.strip("/").replace("/", ".")
        factor = weights.full(1.5, [channels, 1, 1, 1])
        bias = weights.full(0.5, [channels, size, size])
        scale = graph.initializer(f"{name}.scale", factor)
        scaled = scope.node("Conv", x, scale, group=channels)
        return scope.node("Add", scaled, graph.initializer(f"{name}.bias", bias))

    layers = [graph.scope(f"/layers.{index}") for index in range(3)]
    x = layers[0].node("Cast", x, to=int(DataType.FLOAT))
    x = scale_and_add(layers[0], x, 9)
    pads = [1, 1, 1, 1]
    x = layers[0].node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=pads)
    x = scale_and_add(layers[1], x, 5)
    x = layers[1].node("MaxPool", x, kernel_shape=[2, 2], dilations=[2, 2])
    x = scale_and_add(layers[2], x, 3)
    x = layers[2].node("AveragePool", x, kernel_shape=[2, 2], pads=pads)
    head = graph.scope("/head")
    x = head.node("Flatten", head.node("GlobalMaxPool", x))
    _dense(head, x, channels, CLASSES, name="logits")
    graph.output("logits", DataType.FLOAT, ["batch", CLASSES])
    return graph


MODELS: dict[str, Callable[[], Graph]] = {
    function.__name__.replace("_", "-"): function
    for function in (
        linear,
        half_precision,
        skip_mlp,
        dropout_mlp,
        tied_embedding,
        tied_pair,
        mixed_boundary,
        two_outputs,
        pooling,
    )
}


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="pipewright.models.small", description="Write a small model as ONNX."
    )
    parser.add_argument("model", choices=sorted(MODELS))
    parser.add_argument("-o", "--output", required=True, metavar="FILE")
    arguments = parser.parse_args()
    MODELS[arguments.model]().save(arguments.output)


if __name__ == "__main__":
    main()
