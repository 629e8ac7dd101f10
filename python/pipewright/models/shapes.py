# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The arithmetic with which exporters write shapes that depend on the inputs."""

from __future__ import annotations

from ..onnxfile import DataType, Scope, Tensor, int64, int64s


def size(scope: Scope, x: str, axis: int) -> str:
    """One extent of `x`, a scalar."""
    return scope.node(
        "Gather", scope.node("Shape", x), scope.constant(int64(axis)), axis=0
    )


def vector(scope: Scope, extent: str) -> str:
    return scope.node("Unsqueeze", extent, scope.constant(int64s(0)))


def join(scope: Scope, *extents: str | int) -> str:
    """A shape; an extent is a number or the name of a scalar."""
    parts = [
        scope.constant(int64s(extent))
        if isinstance(extent, int)
        else vector(scope, extent)
        for extent in extents
    ]
    return scope.node("Concat", *parts, axis=0)


def view(scope: Scope, x: str, *extents: str | int, name: str | None = None) -> str:
    return scope.node("Reshape", x, join(scope, *extents), name=name)


def positions(scope: Scope, length: str) -> str:
    """0, 1, ... as a row."""
    numbers = scope.node(
        "Range", scope.constant(int64(0)), length, scope.constant(int64(1))
    )
    return vector(scope, numbers)


def causal_mask(scope: Scope, queries: str, keys: str) -> str:
    """True where a query may see a key: made from ones, as newer exports do."""
    one = Tensor.of(DataType.FLOAT, [1], [1.0])
    ones = scope.node("ConstantOfShape", join(scope, queries, keys), value=one)
    lower = scope.node("Trilu", ones, upper=0)
    return scope.node("Cast", lower, to=int(DataType.BOOL))
