# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the tests feed to tiny-gpt2-past-msft.onnx: shared with its maker."""

from __future__ import annotations

from collections.abc import Sequence

from pipewright.models import weights
from pipewright.onnxfile import DataType, Tensor
from pipewright.tensorfiles import integers

FILE = "tiny-gpt2-past-msft.onnx"
BATCH, SEQUENCE, PAST, VOCABULARY = 4, 2, 3, 1000
LAYERS, HEADS, SIZE = 5, 4, 8
HIDDEN = (0, 2, 0, 1)  # positions of each sample that are padding, on the left
BIND = {
    "batch_size": BATCH // 2,
    "seq_len": SEQUENCE,
    "past_seq_len": PAST,
    "total_seq_len": PAST + SEQUENCE,
}
OUTPUTS = ["logits", *(f"present_{layer}" for layer in range(LAYERS))]


def inputs() -> dict[str, Tensor]:
    total = PAST + SEQUENCE
    mask = (position >= hidden for hidden in HIDDEN for position in range(total))
    positions = (PAST + i for _ in range(BATCH) for i in range(SEQUENCE))
    shape = [BATCH, SEQUENCE]
    words = integers(shape, seed=8, limit=VOCABULARY).values()
    pasts = {
        f"past_{layer}": weights.normal(
            8, f"past_{layer}", [2, BATCH, HEADS, PAST, SIZE], 1.0
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
