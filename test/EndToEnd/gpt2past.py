# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the tests feed to tiny-gpt2-past-msft.onnx: shared with its maker."""

from __future__ import annotations

from collections.abc import Sequence

from pipewright.models import weights
from pipewright.onnxfile import DataType, Tensor
from pipewright.tensorfiles import integers

FILE = "tiny-gpt2-past-msft.onnx"
BATCH, SEQUENCE, VOCABULARY = 4, 2, 1000
PASTS = (3, 0)  # lengths
LAYERS, HEADS, SIZE = 5, 4, 8
HIDDEN = (0, 1, 0, 1)  # positions of each sample that are padding, on the left
OUTPUTS = ["logits", *(f"present_{layer}" for layer in range(LAYERS))]


def sizes(past: int) -> dict[str, int]:
    """Of the model's dimensions, for half of the batch."""
    return {
        "batch_size": BATCH // 2,
        "seq_len": SEQUENCE,
        "past_seq_len": past,
        "total_seq_len": past + SEQUENCE,
    }


def inputs(past: int) -> dict[str, Tensor]:
    total = past + SEQUENCE
    mask = (position >= hidden for hidden in HIDDEN for position in range(total))
    positions = (past + i for _ in range(BATCH) for i in range(SEQUENCE))
    shape = [BATCH, SEQUENCE]
    words = integers(shape, seed=8, limit=VOCABULARY).values()
    pasts = {
        f"past_{layer}": weights.normal(
            8, f"past_{layer}", [2, BATCH, HEADS, past, SIZE], 1.0
        )
        for layer in range(LAYERS)
    }
    return {
        "input_ids": Tensor.of(DataType.INT32, shape, words),
        "position_ids": Tensor.of(DataType.INT32, shape, positions),
        "attention_mask": Tensor.of(DataType.INT32, [BATCH, total], mask),
    } | pasts


def sample(values: Sequence[float]) -> list[float]:
    """Enough of an output to tell whether it is the expected one."""
    return list(values[::29])
