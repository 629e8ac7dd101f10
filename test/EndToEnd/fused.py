# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the tests feed to fused-operators.onnx: shared with its maker."""

from __future__ import annotations

import pathlib

from pipewright.onnxfile import DataType, Tensor
from pipewright.tensorfiles import integers

MODEL = pathlib.Path(__file__).parent / "Exports" / "fused-operators.onnx"
BATCH, SEQUENCE, VOCABULARY = 8, 6, 32


def inputs() -> dict[str, Tensor]:
    shape = [BATCH, SEQUENCE]
    words = integers(shape, seed=9, limit=VOCABULARY).values()
    hidden = (0, 2, 0, 1, 3, 0, 0, 1)  # positions of padding, on the right
    mask = (i < SEQUENCE - count for count in hidden for i in range(SEQUENCE))
    return {
        "ids": Tensor.of(DataType.INT32, shape, words),
        "mask": Tensor.of(DataType.INT32, shape, mask),
        "last": Tensor.of(DataType.INT32, [BATCH], [SEQUENCE - 1] * BATCH),
        "labels": integers(shape, seed=10, limit=VOCABULARY),
    }
