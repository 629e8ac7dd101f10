# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The protobuf wire format: enough of it to write and read ONNX files.

A message is written by joining the bytes of its fields; reading yields the
fields as they come. What a field means is the caller's business.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

VARINT, FIXED64, DELIMITED, FIXED32 = 0, 1, 2, 5


def varint(value: int) -> bytes:
    """`value` in base 128; negative numbers as 64-bit two's complement."""
    value &= (1 << 64) - 1
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def integer(field: int, value: int) -> bytes:
    return varint(field << 3 | VARINT) + varint(value)


def float32(field: int, value: float) -> bytes:
    return varint(field << 3 | FIXED32) + struct.pack("<f", value)


def delimited(field: int, content: bytes | str) -> bytes:
    """A string, bytes or a message."""
    if isinstance(content, str):
        content = content.encode()
    return varint(field << 3 | DELIMITED) + varint(len(content)) + content


def read_varint(data: memoryview, position: int) -> tuple[int, int]:
    """The number at `position` and the position after it."""
    value = shift = 0
    while True:
        if position >= len(data) or shift > 63:
            raise ValueError("truncated or overlong number")
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
        shift += 7


def signed(value: int) -> int:
    """A 64-bit number as it was before `varint` made it non-negative."""
    return value - (1 << 64) if value >> 63 else value


def fields(data: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """(field number, content): an unsigned number for varints, else bytes."""
    position = 0
    while position < len(data):
        key, position = read_varint(data, position)
        wire = key & 7
        if wire == VARINT:
            value, position = read_varint(data, position)
            yield key >> 3, value
            continue
        if wire == DELIMITED:
            length, position = read_varint(data, position)
        elif wire in (FIXED32, FIXED64):
            length = 4 if wire == FIXED32 else 8
        else:
            raise ValueError(f"wire type {wire} is not known")
        if position + length > len(data):
            raise ValueError("truncated field")
        yield key >> 3, data[position : position + length]
        position += length
