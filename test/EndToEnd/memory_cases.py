# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The models whose activation memory is compared with PyTorch's."""

from __future__ import annotations

from dataclasses import dataclass

from pipewright.models.gpt import GptConfig


@dataclass(frozen=True)
class MemoryCase:
    model: GptConfig
    batch: int


MEMORY_CASES = {
    "deep": MemoryCase(GptConfig(), batch=4),
    "wide": MemoryCase(
        GptConfig(layers=4, width=128, heads=4, sequence=128, vocabulary=512), batch=4
    ),
    "vocabulary": MemoryCase(
        GptConfig(layers=2, width=128, heads=4, sequence=64, vocabulary=2048), batch=2
    ),
    "sequence": MemoryCase(
        GptConfig(layers=4, width=64, heads=2, sequence=256, vocabulary=64), batch=2
    ),
}
