# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The files that hold tensors beside a model: .npy, safetensors, tokens."""

from __future__ import annotations

import array
import ast
import json
import pathlib
import random
import struct
from collections.abc import Sequence

from .onnxfile import DataType, Tensor

NPY_MAGIC = b"\x93NUMPY\x01\x00"
NPY_TYPES = {
    DataType.FLOAT: "<f4",
    DataType.DOUBLE: "<f8",
    DataType.FLOAT16: "<f2",
    DataType.BFLOAT16: "<V2",
    DataType.INT32: "<i4",
    DataType.INT64: "<i8",
    DataType.BOOL: "|b1",
}
SAFETENSORS_TYPES = {
    "F32": DataType.FLOAT,
    "F64": DataType.DOUBLE,
    "I32": DataType.INT32,
    "I64": DataType.INT64,
    "BOOL": DataType.BOOL,
    "F16": DataType.FLOAT16,
    "BF16": DataType.BFLOAT16,
}


def write_npy(path: str | pathlib.Path, tensor: Tensor) -> None:
    shape = "".join(f"{extent}, " for extent in tensor.shape)
    header = (
        f"{{'descr': '{NPY_TYPES[tensor.dtype]}', "
        f"'fortran_order': False, 'shape': ({shape}), }}"
    ).encode()
    # The data begins at a multiple of 64 bytes.
    header += b" " * (-(len(NPY_MAGIC) + 2 + len(header) + 1) % 64) + b"\n"
    size = struct.pack("<H", len(header))
    pathlib.Path(path).write_bytes(NPY_MAGIC + size + header + tensor.data)


def read_npy(path: str | pathlib.Path) -> Tensor:
    content = pathlib.Path(path).read_bytes()
    if not content.startswith(NPY_MAGIC):
        raise ValueError(f"{path}: not an .npy file of version 1.0")
    start = len(NPY_MAGIC) + 2
    end = start + struct.unpack_from("<H", content, start - 2)[0]
    header = ast.literal_eval(content[start:end].decode())
    if header["fortran_order"]:
        raise ValueError(f"{path}: column-major arrays are not supported")
    for dtype, name in NPY_TYPES.items():
        if name == header["descr"]:
            return Tensor(dtype, tuple(header["shape"]), content[end:])
    raise ValueError(f"{path}: element type {header['descr']} is not supported")


def read_safetensors(path: str | pathlib.Path) -> dict[str, Tensor]:
    content = pathlib.Path(path).read_bytes()
    (size,) = struct.unpack_from("<Q", content)
    data = memoryview(content)[8 + size :]
    tensors = {}
    for name, entry in json.loads(content[8 : 8 + size]).items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        tensors[name] = Tensor(
            SAFETENSORS_TYPES[entry["dtype"]],
            tuple(entry["shape"]),
            bytes(data[begin:end]),
        )
    return tensors


def write_safetensors(path: str | pathlib.Path, tensors: dict[str, Tensor]) -> None:
    names = {dtype: name for name, dtype in SAFETENSORS_TYPES.items()}
    header, offset = {}, 0
    for name, tensor in tensors.items():
        end = offset + len(tensor.data)
        header[name] = {
            "dtype": names[tensor.dtype],
            "shape": tensor.shape,
            "data_offsets": [offset, end],
        }
        offset = end
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    data = b"".join(tensor.data for tensor in tensors.values())
    pathlib.Path(path).write_bytes(struct.pack("<Q", len(text)) + text + data)


def write_tokens(path: str | pathlib.Path, tokens: Sequence[int]) -> None:
    """A token file: unsigned 16-bit little-endian numbers."""
    pathlib.Path(path).write_bytes(struct.pack(f"<{len(tokens)}H", *tokens))


def token_walk(count: int, vocabulary: int, seed: int = 0) -> list[int]:
    """Tokens that can be learned: each follows from the one before, by one of
    three steps."""
    generator = random.Random(seed)
    tokens, token = [], 0
    for _ in range(count):
        token = (token * 5 + 1 + generator.choice((0, 0, 0, 7, 13))) % vocabulary
        tokens.append(token)
    return tokens


def uniform(
    shape: Sequence[int], seed: int, low: float = -1.0, high: float = 1.0
) -> Tensor:
    """float32 numbers; each is a multiple of 2^-20 of the range."""
    generator = random.Random(seed)
    count = 1
    for extent in shape:
        count *= extent
    steps = (generator.getrandbits(20) / (1 << 20) for _ in range(count))
    values = array.array("f", (low + (high - low) * step for step in steps))
    return Tensor.of(DataType.FLOAT, shape, values)


def integers(shape: Sequence[int], seed: int, limit: int) -> Tensor:
    """int64 numbers in [0, limit)."""
    generator = random.Random(seed)
    count = 1
    for extent in shape:
        count *= extent
    return Tensor.of(
        DataType.INT64, shape, (generator.randrange(limit) for _ in range(count))
    )
