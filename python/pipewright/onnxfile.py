# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes ONNX models, and reads their initializers back.

A `Graph` collects nodes in execution order; a `Scope` names them as the
exporters of PyTorch do: `/transformer/h.0/attn/Split`, and `Split_1` for the
next one in the same module.
"""

from __future__ import annotations

import array
import collections
import enum
import math
import pathlib
import struct
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from . import protobuf as pb

IR_VERSION = 8
EXTERNAL_ALIGNMENT = 4096


class DataType(enum.IntEnum):
    """TensorProto.DataType."""

    FLOAT = 1
    INT32 = 6
    INT64 = 7
    BOOL = 9
    FLOAT16 = 10
    DOUBLE = 11
    BFLOAT16 = 16


ARRAY_CODES = {
    DataType.FLOAT: "f",
    DataType.INT32: "i",
    DataType.INT64: "q",
    DataType.BOOL: "B",
    DataType.DOUBLE: "d",
}

Dimension = int | str  # a symbolic dimension is its name


@dataclass(frozen=True)
class Tensor:
    """A constant: `data` holds its elements, row-major, little endian."""

    dtype: DataType
    shape: tuple[int, ...]
    data: bytes

    @classmethod
    def of(
        cls, dtype: DataType, shape: Sequence[int], values: Iterable[float]
    ) -> Tensor:
        elements = array.array(ARRAY_CODES[dtype], values)
        if len(elements) != math.prod(shape):
            raise ValueError(f"{len(elements)} values for shape {list(shape)}")
        if sys.byteorder == "big":
            elements.byteswap()
        return cls(dtype, tuple(shape), elements.tobytes())

    def to(self, dtype: DataType) -> Tensor:
        """A tensor of FLOAT as another float type, rounded to the nearest."""
        values = self.values()
        if dtype == DataType.FLOAT16:
            data = struct.pack(f"<{len(values)}e", *values)
        elif dtype == DataType.BFLOAT16:
            # The upper halves, rounded; of two that are near to the even one.
            words = struct.unpack(f"<{len(values)}I", self.data)
            halves = [(word + 0x7FFF + (word >> 16 & 1)) >> 16 for word in words]
            data = struct.pack(f"<{len(values)}H", *halves)
        else:
            return Tensor.of(dtype, self.shape, values)
        return Tensor(dtype, self.shape, data)

    def values(self) -> array.array:
        elements = array.array(ARRAY_CODES[self.dtype], self.data)
        if sys.byteorder == "big":
            elements.byteswap()
        return elements


def int64s(*values: int) -> Tensor:
    return Tensor.of(DataType.INT64, [len(values)], values)


def int64(value: int) -> Tensor:
    return Tensor.of(DataType.INT64, [], [value])


def float32(value: float) -> Tensor:
    return Tensor.of(DataType.FLOAT, [], [value])


Attribute = int | float | str | Tensor | Sequence[int]


@dataclass
class Node:
    op_type: str
    name: str
    inputs: list[str]
    outputs: list[str]
    attributes: dict[str, Attribute]
    domain: str = ""  # that of ONNX itself


@dataclass
class Graph:
    name: str
    opset: int = 17
    nodes: list[Node] = field(default_factory=list)
    initializers: dict[str, Tensor] = field(default_factory=dict)
    inputs: list[tuple[str, DataType, Sequence[Dimension]]] = field(
        default_factory=list
    )
    outputs: list[tuple[str, DataType, Sequence[Dimension]]] = field(
        default_factory=list
    )
    uses: collections.Counter[str] = field(default_factory=collections.Counter)

    def input(self, name: str, dtype: DataType, shape: Sequence[Dimension]) -> str:
        self.inputs.append((name, dtype, shape))
        return name

    def output(self, name: str, dtype: DataType, shape: Sequence[Dimension]) -> None:
        self.outputs.append((name, dtype, shape))

    def initializer(self, name: str, tensor: Tensor) -> str:
        self.initializers[name] = tensor
        return name

    def scope(self, path: str = "") -> Scope:
        """The module at `path`, such as "/transformer/h.0/attn"."""
        return Scope(self, path)

    def save(
        self, path: str | pathlib.Path, external_data: str | None = None
    ) -> None:
        """Writes the model; with `external_data`, large initializers go to the
        file of that name beside it."""
        path = pathlib.Path(path)
        blob = bytearray() if external_data else None
        path.write_bytes(_encode_model(self, external_data, blob))
        if blob is not None:
            (path.parent / external_data).write_bytes(blob)


class Scope:
    """Adds nodes under a module's name."""

    def __init__(self, graph: Graph, path: str):
        self.graph = graph
        self.path = path

    def child(self, name: str) -> Scope:
        return Scope(self.graph, f"{self.path}/{name}")

    def node(
        self,
        op_type: str,
        *inputs: str,
        results: int = 1,
        name: str | None = None,
        domain: str = "",
        **attributes: Attribute,
    ) -> str | tuple[str, ...]:
        """The name of the result, or of each of several results; `name` for
        one that is an output of the model."""
        node_name = self._fresh(op_type)
        outputs = [name or f"{node_name}_output_0"]
        outputs += [f"{node_name}_output_{i}" for i in range(1, results)]
        self.graph.nodes.append(
            Node(op_type, node_name, list(inputs), outputs, attributes, domain)
        )
        return outputs[0] if results == 1 else tuple(outputs)

    def constant(self, value: Tensor) -> str:
        return self.node("Constant", value=value)

    def _fresh(self, op_type: str) -> str:
        name = f"{self.path}/{op_type}"
        count = self.graph.uses[name]
        self.graph.uses[name] += 1
        return f"{name}_{count}" if count else name


def read_initializers(path: str | pathlib.Path) -> dict[str, Tensor]:
    """The initializers whose bytes are in the file at `path`."""
    tensors = {}
    model = memoryview(pathlib.Path(path).read_bytes())
    for number, graph in pb.fields(model):
        if number != 7:
            continue
        for graph_number, content in pb.fields(graph):
            if graph_number == 5:
                name, tensor = _decode_tensor(content)
                tensors[name] = tensor
    return tensors


def _decode_tensor(message: memoryview) -> tuple[str, Tensor]:
    shape, name, dtype, data = [], "", DataType.FLOAT, b""
    for number, content in pb.fields(message):
        if number == 1:
            shape.append(pb.signed(content))
        elif number == 2:
            dtype = DataType(content)
        elif number == 8:
            name = bytes(content).decode()
        elif number == 9:
            data = bytes(content)
    return name, Tensor(dtype, tuple(shape), data)


def encode_tensor(
    name: str, tensor: Tensor, file: str | None = None, blob: bytearray | None = None
) -> bytes:
    """A TensorProto; with `blob`, a large one's bytes go there, of the file `file`."""
    parts = [pb.integer(1, extent) for extent in tensor.shape]
    parts += [pb.integer(2, tensor.dtype), pb.delimited(8, name)]
    if blob is None or len(tensor.data) < 1024:
        return b"".join(parts) + pb.delimited(9, tensor.data)
    blob += bytes(-len(blob) % EXTERNAL_ALIGNMENT)
    entries = {"location": file, "offset": len(blob), "length": len(tensor.data)}
    for key, value in entries.items():
        entry = pb.delimited(1, key) + pb.delimited(2, str(value))
        parts.append(pb.delimited(13, entry))
    blob += tensor.data
    return b"".join(parts) + pb.integer(14, 1)


def _encode_attribute(name: str, value: Attribute) -> bytes:
    head = pb.delimited(1, name)
    if isinstance(value, Tensor):
        return head + pb.delimited(5, encode_tensor("", value)) + pb.integer(20, 4)
    if isinstance(value, str):
        return head + pb.delimited(4, value) + pb.integer(20, 3)
    if isinstance(value, float):
        return head + pb.float32(2, value) + pb.integer(20, 1)
    if isinstance(value, int):
        return head + pb.integer(3, value) + pb.integer(20, 2)
    return head + b"".join(pb.integer(8, item) for item in value) + pb.integer(20, 7)


def _encode_node(node: Node) -> bytes:
    parts = [pb.delimited(1, name) for name in node.inputs]
    parts += [pb.delimited(2, name) for name in node.outputs]
    parts += [pb.delimited(3, node.name), pb.delimited(4, node.op_type)]
    for name, value in node.attributes.items():
        parts.append(pb.delimited(5, _encode_attribute(name, value)))
    if node.domain:
        parts.append(pb.delimited(7, node.domain))
    return b"".join(parts)


def _encode_value(name: str, dtype: DataType, shape: Sequence[Dimension]) -> bytes:
    dims = b""
    for extent in shape:
        dim = (
            pb.delimited(2, extent)
            if isinstance(extent, str)
            else pb.integer(1, extent)
        )
        dims += pb.delimited(1, dim)
    tensor_type = pb.integer(1, dtype) + pb.delimited(2, dims)
    return pb.delimited(1, name) + pb.delimited(2, pb.delimited(1, tensor_type))


def _encode_model(graph: Graph, file: str | None, blob: bytearray | None) -> bytes:
    parts = [pb.delimited(1, _encode_node(node)) for node in graph.nodes]
    parts.append(pb.delimited(2, graph.name))
    for name, tensor in graph.initializers.items():
        parts.append(pb.delimited(5, encode_tensor(name, tensor, file, blob)))
    parts += [pb.delimited(11, _encode_value(*value)) for value in graph.inputs]
    parts += [pb.delimited(12, _encode_value(*value)) for value in graph.outputs]
    opsets = {"": graph.opset} | {node.domain: 1 for node in graph.nodes if node.domain}
    model = [
        pb.integer(1, IR_VERSION),
        pb.delimited(2, "pipewright"),
        pb.delimited(7, b"".join(parts)),
    ]
    for domain, version in opsets.items():
        model.append(pb.delimited(8, pb.delimited(1, domain) + pb.integer(2, version)))
    return b"".join(model)
