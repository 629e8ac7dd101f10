# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a layer of Megatron-LM costs on a device of our description.

Tensor parallelism as in M. Shoeybi et al., arXiv:1909.08053; sequence parallelism
and selective recomputation as in V. Korthikanti et al., arXiv:2205.05198. All
in 16 bits, with attention that is not fused.
"""

from __future__ import annotations

import json
import math
import pathlib
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

Curve = Sequence[Sequence[float]]

WIDTH = 2  # bytes of a number


def read(path: pathlib.Path) -> dict[str, Any]:
    text = path.read_text()
    return tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)


def interpolate(curve: Curve, size: float) -> float:
    """Linear in the logarithm of the size, constant beyond the ends."""
    if size <= curve[0][0]:
        return curve[0][1]
    for (x0, y0), (x1, y1) in zip(curve, curve[1:]):
        if size <= x1:
            return y0 + (y1 - y0) * math.log(size / x0) / math.log(x1 / x0)
    return curve[-1][1]


@dataclass(frozen=True)
class Device:
    """A device file, as docs/Devices.md describes it."""

    table: dict[str, Any]

    def seconds(self, flops: float, size: float) -> float:
        """Of one op on `size` bytes, by the formula of docs/Devices.md."""
        table = self.table
        peak = table["flops_per_second"]["f16"]
        compute = flops / (peak * interpolate(table["compute_efficiency"], flops or 1))
        bandwidth = table["bytes_per_second"]
        memory = size / (bandwidth * interpolate(table["memory_efficiency"], size or 1))
        return table["launch_seconds"] + max(compute, memory)

    def product(self, rows: int, inner: int, columns: int, times: int = 1) -> float:
        """`times` products of matrices at once."""
        size = rows * inner + inner * columns + rows * columns
        return self.seconds(2 * times * rows * inner * columns, WIDTH * times * size)

    def pass_over(self, size: float) -> float:
        """An op that only moves so many bytes."""
        return self.seconds(0, size)


@dataclass(frozen=True)
class Link:
    latency: float
    bandwidth: float  # bytes/s in each direction

    def reduce_scatter(self, size: float, devices: int) -> float:
        """Of so many bytes on each device, in a ring; an all-gather is the same."""
        if devices == 1:
            return 0
        moved = size * (devices - 1) / devices
        return (devices - 1) * self.latency + moved / self.bandwidth


@dataclass(frozen=True)
class Layer:
    """One rank's share of a layer; times in seconds."""

    device: Device
    link: Link
    tensor: int  # ranks that share the layer
    heads: int
    width: int
    sequence: int
    samples: int
    sequence_parallel: bool

    @property
    def rows(self) -> int:
        return self.sequence * self.samples

    def _products(self) -> Iterator[tuple[int, int, int]]:
        """Rows, inner width and columns of the products with weights."""
        share = self.width // self.tensor
        yield self.rows, self.width, 3 * share
        yield self.rows, share, self.width
        yield self.rows, self.width, 4 * share
        yield self.rows, 4 * share, self.width

    def _head_products(self, count: int) -> float:
        """Products of queries and keys, or of scores and values, or alike."""
        heads = self.samples * self.heads // self.tensor
        head = self.width // self.heads
        return count * self.device.product(self.sequence, head, self.sequence, heads)

    def _pass_over_scores(self, size: float) -> float:
        """An op that moves so many bytes per score."""
        heads = self.samples * self.heads // self.tensor
        return self.device.pass_over(size * heads * self.sequence**2)

    def attention(self) -> float:
        softmax, dropout = 2 * WIDTH, 2 * WIDTH + 1
        passes = self._pass_over_scores(softmax) + self._pass_over_scores(dropout)
        return self._head_products(2) + passes

    def _attention_backward(self) -> float:
        softmax, dropout = 3 * WIDTH, 2 * WIDTH + 1
        passes = self._pass_over_scores(softmax) + self._pass_over_scores(dropout)
        return self._head_products(4) + passes

    def _elementwise(self, whole: Sequence[float], hidden: float) -> float:
        """Ops that move so many bytes per number of the width, which ranks only
        share with sequence parallelism, and of the MLP's width."""
        shared = self.tensor if self.sequence_parallel else 1
        size = self.rows * self.width
        seconds = sum(self.device.pass_over(count * size / shared) for count in whole)
        return seconds + self.device.pass_over(4 * hidden * size / self.tensor)

    def _exchange(self) -> float:
        """An all-reduce: with sequence parallelism an all-gather and a
        reduce-scatter in its place, which take the same time."""
        size = WIDTH * self.rows * self.width
        return 2 * self.link.reduce_scatter(size, self.tensor)

    def forward(self) -> float:
        products = sum(self.device.product(*shape) for shape in self._products())
        # A sum with dropout reads its mask and what was there before too.
        normalize, drop = 2 * WIDTH, 3 * WIDTH + 1
        others = self._elementwise(2 * [normalize, drop], hidden=2 * WIDTH)
        return products + self.attention() + others + 2 * self._exchange()

    def backward(self) -> float:
        products = sum(
            self.device.product(rows, columns, inner)
            + self.device.product(inner, rows, columns)
            for rows, inner, columns in self._products()
        )
        # The gradients of gains are sums over what is read once more.
        normalize, drop = 4 * WIDTH, 2 * WIDTH + 1
        others = self._elementwise(2 * [normalize, drop], hidden=3 * WIDTH)
        # With sequence parallelism the inputs of the two wide products are gathered
        # again for the gradients of their weights.
        exchanges = 3 if self.sequence_parallel else 2
        others += exchanges * self._exchange()
        return products + self._attention_backward() + others
