# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the tests do with published models of one input and one output: shared
with their maker.

The light vision models make their weights with ConstantOfShape, so that all are
equal. Random initializers take the place of those nodes.
"""

from __future__ import annotations

import math
import pathlib
from collections.abc import Sequence
from dataclasses import dataclass

from pipewright import protobuf as pb
from pipewright.models import weights
from pipewright.onnxfile import DataType, Tensor, encode_tensor, read_initializers

OPERANDS = ("input", "scale", "bias", "mean", "variance")  # of BatchNormalization


@dataclass(frozen=True)
class Model:
    """The shapes of a micro-batch, and what else the file needs."""

    input: tuple[int, ...] = (1, 3, 224, 224)
    output: tuple[int, ...] = (1, 1000)
    axis: int = 0  # of samples
    samples: int = 1  # that a micro-batch must have
    ranks: int = 3  # no more, as there are no more layers
    bind: str | None = None
    is_light: bool = True


MODELS = {
    "light_squeezenet": Model(output=(1, 1000, 1, 1)),
    "light_shufflenet": Model(),
    "light_resnet50": Model(),
    "light_vgg19": Model(),
    "mnist-op13": Model((1, 1, 28, 28), (1, 10), ranks=2, is_light=False),
    "attention-head": Model(
        (100, 100, 100),
        (100, 100, 100),
        axis=1,
        samples=100,
        ranks=1,
        bind="sequence_len=100",
        is_light=False,
    ),
}


def inputs(name: str, microbatches: int = 1) -> Tensor:
    return make_batch(MODELS[name], "input", MODELS[name].input, microbatches)


def targets(name: str, microbatches: int) -> Tensor:
    return make_batch(MODELS[name], "target", MODELS[name].output, microbatches)


def make_batch(
    model: Model, name: str, shape: tuple[int, ...], microbatches: int
) -> Tensor:
    extents = list(shape)
    extents[model.axis] *= microbatches
    return weights.normal(9, name, extents, 1.0)


def sample(values: Sequence[float]) -> list[float]:
    """Enough of an output to tell whether it is the expected one."""
    return list(values[:: max(1, len(values) // 20)])


def save(name: str, folder: pathlib.Path, path: pathlib.Path) -> None:
    """Writes the model of that name in `folder` to `path`, with random weights."""
    source = folder / f"{name}.onnx"
    model = source.read_bytes()
    if MODELS[name].is_light:
        model = randomize(model, read_initializers(source))
    path.write_bytes(model)


def randomize(model: bytes, shapes: dict[str, Tensor]) -> bytes:
    fields = []
    for number, content in pb.fields(memoryview(model)):
        if number == 7:
            fields.append(pb.delimited(7, randomize_graph(content, shapes)))
        elif number == 1:
            # Before version 4 each initializer had to be an input too.
            fields.append(pb.integer(1, 8))
        else:
            fields.append(encode(number, content))
    return b"".join(fields)


def randomize_graph(graph: memoryview, shapes: dict[str, Tensor]) -> bytes:
    fields, made, roles = [], {}, {}
    for number, content in pb.fields(graph):
        kind, inputs, outputs = read_node(content) if number == 1 else ("", [], [])
        if kind == "ConstantOfShape":
            made[outputs[0]] = shapes[inputs[0]].values()
            continue
        if kind == "BatchNormalization":
            roles |= dict(zip(inputs, OPERANDS))
        fields.append(encode(number, content))
    for name, extents in made.items():
        tensor = make_weight(name, tuple(extents), roles.get(name, "weight"))
        fields.append(pb.delimited(5, encode_tensor(name, tensor)))
    return b"".join(fields)


def make_weight(name: str, extents: tuple[int, ...], role: str) -> Tensor:
    """Such that values neither vanish nor grow from layer to layer."""
    if role in ("scale", "variance"):
        # Less than 1: each residual block adds its values to what it gets.
        center = 0.4 if role == "scale" else 1.0
        noise = weights.normal(3, name, extents, 0.1).values()
        return Tensor.of(DataType.FLOAT, extents, (center + x for x in noise))
    if len(extents) < 2:
        return weights.normal(3, name, extents, 0.1)
    return weights.normal(3, name, extents, math.sqrt(2 / math.prod(extents[1:])))


def encode(number: int, content: int | memoryview) -> bytes:
    if isinstance(content, int):
        return pb.integer(number, content)
    return pb.delimited(number, bytes(content))


def read_node(node: memoryview) -> tuple[str, list[str], list[str]]:
    """Its operator, operands and results."""
    names = {1: [], 2: [], 4: []}
    for number, content in pb.fields(node):
        if number in names:
            names[number].append(bytes(content).decode())
    return names[4][0], names[1], names[2]


def input_name(path: pathlib.Path) -> str:
    """The first input that is no initializer."""
    initializers = read_initializers(path)
    return next(name for name in value_names(path, 11) if name not in initializers)


def output_name(path: pathlib.Path) -> str:
    return value_names(path, 12)[0]


def value_names(path: pathlib.Path, field: int) -> list[str]:
    return [
        bytes(name).decode()
        for number, graph in pb.fields(memoryview(path.read_bytes()))
        if number == 7
        for value_number, value in pb.fields(graph)
        if value_number == field
        for name_number, name in pb.fields(value)
        if name_number == 1
    ]
