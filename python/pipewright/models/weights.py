# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Initial weights: a function of the seed and the parameter's name alone."""

from __future__ import annotations

import array
import functools
import math
import random
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from ..onnxfile import DataType, Graph, Tensor

QUANTILES = 1 << 16


@functools.cache
def _normal_quantiles() -> list[float]:
    normal = statistics.NormalDist()
    return [normal.inv_cdf((i + 0.5) / QUANTILES) for i in range(QUANTILES)]


def normal(seed: int, name: str, shape: Sequence[int], deviation: float) -> Tensor:
    """Normally distributed: each element is one of 65536 quantiles, looked up
    by 16 random bits, which makes ten million of them in a second."""
    count = math.prod(shape)
    indices = array.array("H", random.Random(f"{seed}/{name}").randbytes(2 * count))
    if sys.byteorder == "big":
        indices.byteswap()
    table = [deviation * quantile for quantile in _normal_quantiles()]
    return Tensor.of(DataType.FLOAT, shape, map(table.__getitem__, indices))


def full(value: float, shape: Sequence[int]) -> Tensor:
    return Tensor.of(DataType.FLOAT, shape, [value] * math.prod(shape))


@dataclass(frozen=True)
class Parameters:
    """Adds parameters to a graph: initializers, or inputs, which have no values."""

    graph: Graph
    seed: int
    are_inputs: bool = False

    def normal(self, name: str, shape: Sequence[int], deviation: float) -> str:
        if self.are_inputs:
            return self.graph.input(name, DataType.FLOAT, shape)
        return self.graph.initializer(name, normal(self.seed, name, shape, deviation))

    def full(self, name: str, shape: Sequence[int], value: float) -> str:
        if self.are_inputs:
            return self.graph.input(name, DataType.FLOAT, shape)
        return self.graph.initializer(name, full(value, shape))
