# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs executables for CUDA devices without one.

A library that stands in for CUDA, NCCL, cuBLASLt and cuDNN takes the place of the
runtime's: it interprets the kernels, and fails the run if two accesses of
memory have no order, if nothing can go on, if a step allocates, or if anything
is left at the end.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import unittest.mock
from collections.abc import Iterator

from cases import Case
from harness import Layout, Outcome, run_case

FAULT_STATUS = 99
SECONDS = 60  # within which a run that waits for ever is ended


@contextlib.contextmanager
def double(
    folder: str, ranks: int, seed: int = 0, fault: str = "", epilogues: str = "library"
) -> Iterator[None]:
    """Has programs load the library of `folder`."""
    settings = f"ranks={ranks} seed={seed}"
    if fault:
        settings += f" fault={fault}"
    environment = {
        "LD_LIBRARY_PATH": folder,
        "PIPEWRIGHT_DOUBLE": settings,
        "PIPEWRIGHT_EPILOGUES": epilogues,
    }
    with unittest.mock.patch.dict(os.environ, environment):
        yield


def run_on_double(
    library: str,
    case: Case,
    output: pathlib.Path,
    folder: pathlib.Path,
    ranks: int,
    *,
    transport: str = "threads",
    seed: int = 0,
    fault: str = "",
    graph: bool = False,
    epilogues: str = "library",
) -> Outcome:
    with double(library, ranks, seed, fault, epilogues):
        return run_case(
            case,
            output,
            folder,
            transport=transport,
            timeout=SECONDS,
            cuda_graph=graph,
        )


def run_in_every_way(
    library: str,
    case: Case,
    output: pathlib.Path,
    folder: pathlib.Path,
    layout: Layout,
) -> list[Outcome]:
    """Over NCCL, over NCCL with steps as graphs, and with copies on one device."""
    ranks = layout.ranks * layout.replicas
    ways = (("threads", False), ("threads", True), ("local", False))
    return [
        run_on_double(
            library, case, output, folder, ranks, transport=transport, graph=graph
        )
        for transport, graph in ways
    ]


def largest_difference(actual: Outcome, expected: Outcome) -> float:
    """Of any parameter; those of the cases are of f32."""
    assert actual.parameters.keys() == expected.parameters.keys()
    largest = 0.0
    for name, data in expected.parameters.items():
        values = memoryview(data).cast("f")
        others = memoryview(actual.parameters[name]).cast("f")
        largest = max([largest, *(abs(a - b) for a, b in zip(values, others))])
    return largest
