# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the tests feed to tiny-distilbert.onnx: shared with its maker."""

from __future__ import annotations

import pathlib

from pipewright.models import weights
from pipewright.onnxfile import DataType, Tensor, read_initializers
from pipewright.tensorfiles import integers

FILE = "tiny-distilbert.onnx"
BATCH, SEQUENCE, VOCABULARY = 4, 16, 30522
LENGTHS = (16, 10, 13, 3)  # tokens of each sample that are not masked


def inputs() -> dict[str, Tensor]:
    mask = (
        position < length for length in LENGTHS for position in range(SEQUENCE)
    )
    shape = [BATCH, SEQUENCE]
    return {
        "input_ids": integers(shape, seed=6, limit=VOCABULARY),
        "attention_mask": Tensor.of(DataType.INT64, shape, mask),
    }


def random_weights(path: pathlib.Path) -> dict[str, Tensor]:
    """Weights with which the outputs depend on the inputs: small, but for the
    gains, so that the embedding is not lost on its way."""
    return {
        name: weights.full(1.0, tensor.shape)
        if name.lower().replace("_", "").endswith("layernorm.weight")
        else weights.normal(7, name, tensor.shape, 0.3)
        for name, tensor in read_initializers(path).items()
        if tensor.dtype == DataType.FLOAT
    }
