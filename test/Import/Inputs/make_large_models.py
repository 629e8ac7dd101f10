# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes models with many bytes of weights into the folder given, which take
no room on the disk: the weights are holes in the files."""

from __future__ import annotations

import pathlib
import sys

from pipewright import protobuf as pb
from pipewright.onnxfile import DataType

Piece = bytes | int  # an int is a hole of that many bytes


def size(pieces: list[Piece]) -> int:
    return sum(p if isinstance(p, int) else len(p) for p in pieces)


def message(field: int, pieces: list[Piece]) -> list[Piece]:
    """A message in which pieces may be holes."""
    return [pb.varint(field << 3 | pb.DELIMITED) + pb.varint(size(pieces)), *pieces]


def weight(name: str, shape: list[int]) -> list[Piece]:
    count = 1
    for extent in shape:
        count *= extent
    parts: list[Piece] = [pb.integer(1, extent) for extent in shape]
    parts += [pb.integer(2, DataType.FLOAT), pb.delimited(8, name)]
    return message(5, parts + message(9, [4 * count]))


def integers(name: str, values: list[int]) -> bytes:
    data = b"".join(pb.integer(7, value) for value in values)
    head = pb.integer(1, len(values)) + pb.integer(2, DataType.INT64)
    return pb.delimited(5, head + pb.delimited(8, name) + data)


def value(field: int, name: str, shape: list[int]) -> bytes:
    dims = b"".join(pb.delimited(1, pb.integer(1, extent)) for extent in shape)
    tensor = pb.integer(1, DataType.FLOAT) + pb.delimited(2, dims)
    return pb.delimited(field, pb.delimited(1, name) + pb.delimited(2, pb.delimited(1, tensor)))


def node(op_type: str, inputs: list[str], output: str) -> bytes:
    parts = [pb.delimited(1, name) for name in inputs]
    parts += [pb.delimited(2, output), pb.delimited(4, op_type)]
    return pb.delimited(1, b"".join(parts))


def save(path: pathlib.Path, graph: list[Piece]) -> None:
    opset = pb.delimited(8, pb.delimited(1, "") + pb.integer(2, 17))
    with path.open("wb") as file:
        for piece in [pb.integer(1, 8), *message(7, [pb.delimited(2, "large"), *graph]), opset]:
            if isinstance(piece, int):
                file.seek(piece, 1)
            else:
                file.write(piece)


def one_large_weight() -> list[Piece]:
    """More than protobuf can parse, and than a signed 32-bit number counts."""
    graph: list[Piece] = [node("MatMul", ["x", "w"], "y")]
    graph += weight("w", [25_000, 25_000])
    graph += [value(11, "x", [1, 25_000]), value(12, "y", [1, 25_000])]
    return graph


def many_transposed_weights() -> list[Piece]:
    """Each weight is transposed, and each result reshaped by a shape that a
    chain of integer operators computes."""
    graph: list[Piece] = [integers("one", [1]), integers("width", [1024])]
    last = "x"
    for i in range(256):
        graph += weight(f"w{i}", [1024, 1024])
        graph.append(node("Transpose", [f"w{i}"], f"t{i}"))
        graph.append(node("MatMul", [last, f"t{i}"], f"p{i}"))
        graph.append(node("Shape", [f"p{i}"], f"s{i}"))
        graph.append(node("Mul", [f"s{i}", "one"], f"m{i}"))
        graph.append(node("Reshape", [f"p{i}", f"m{i}"], f"h{i}"))
        last = f"h{i}"
    graph += [value(11, "x", [1, 1024]), value(12, last, [1, 1024])]
    return graph


folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True)
save(folder / "one.onnx", one_large_weight())
save(folder / "many.onnx", many_transposed_weights())
