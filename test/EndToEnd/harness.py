# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds a case in a layout, trains it and keeps all that must not change."""

from __future__ import annotations

import json
import os
import pathlib
import tempfile
import unittest
import unittest.mock
from dataclasses import dataclass
from typing import Any

from cases import EXPORTS, PRECISION_CASES, Case
from pipewright import pipeline
from pipewright.onnxfile import Tensor
from pipewright.tensorfiles import read_npy, read_safetensors

REFERENCES = pathlib.Path(__file__).parent / "References"


@dataclass(frozen=True)
class Layout:
    """How a model is cut and run."""

    ranks: int = 1
    schedule: str = "1f1b"
    remat: str = "none"
    chunks: int | None = None  # as many as the schedule usually has
    target: str = "cpu"
    replicas: int = 1  # which share the case's micro-batches
    peers: int = 1  # replicas of which each has a part of all experts

    def __str__(self) -> str:
        chunks = "" if self.chunks is None else f", {self.chunks} chunks"
        cut = f"{self.ranks} ranks, {self.schedule}{chunks}, remat {self.remat}"
        if self.replicas == 1:
            return cut
        groups = "" if self.peers == 1 else f" in groups of {self.peers}"
        return f"{cut}, {self.replicas} pipelines{groups}"

    def folder_name(self) -> str:
        cut = f"{self.ranks}-{self.schedule}-{self.chunks or 0}-{self.remat}"
        return f"{cut}-{self.target}-{self.replicas}-{self.peers}"


@dataclass(frozen=True)
class Outcome:
    losses: list[float]
    grad_norms: list[float]
    parameters: dict[str, bytes]


def build_case(
    case: Case,
    layout: Layout,
    folder: pathlib.Path,
    name: str | None = None,
    **options: Any,
) -> tuple[pathlib.Path, dict]:
    """Where the build is, in `folder` under `name` or one that tells the layout,
    and its manifest."""
    model = folder / "model.onnx"
    if not model.exists():
        case.graph().save(model)
    output = folder / (name or layout.folder_name())
    cut = case.cuts.get(layout.ranks * (layout.chunks or 1))
    manifest = pipeline.build(
        model,
        output,
        ranks=layout.ranks,
        schedule=layout.schedule,
        remat=layout.remat,
        chunks=layout.chunks,
        target=layout.target,
        microbatches=case.microbatches // layout.replicas,
        dp=layout.replicas,
        ep=layout.peers,
        microbatch_size=case.microbatch_size,
        loss=case.loss,
        optimizer=case.optimizer,
        split_at=",".join(cut) if cut else None,
        bind=case.bind,
        precision=case.precision,
        **options,
    )
    return output, manifest


def train_case(
    case: Case, layout: Layout, folder: pathlib.Path, steps: int | None = None
) -> Outcome:
    output, _ = build_case(case, layout, folder)
    return run_case(case, output, folder, steps)


def run_case(
    case: Case,
    output: pathlib.Path,
    folder: pathlib.Path,
    steps: int | None = None,
    delays: int | None = None,
    **options: Any,
) -> Outcome:
    """Trains what was built in `output`, with random delays of seed `delays`."""
    parameters = output.with_suffix(".safetensors")
    environment = {} if delays is None else {"PIPEWRIGHT_FUZZ_DELAY": str(delays)}
    with unittest.mock.patch.dict(os.environ, environment):
        lines = pipeline.run(
            output,
            *case.write_data(folder),
            *case.run_options(),
            steps=steps or case.steps,
            save_parameters=parameters,
            **options,
        )
    return Outcome(
        [line["loss"] for line in lines],
        [line["grad_norm"] for line in lines],
        {name: tensor.data for name, tensor in read_safetensors(parameters).items()},
    )


def evaluate_case(
    case: Case, output: pathlib.Path, folder: pathlib.Path, steps: int
) -> tuple[list[float], dict[str, Tensor]]:
    """The losses and, by file, the outputs of what was built in `output`."""
    outputs = output.with_suffix(".outputs")
    lines = pipeline.run(
        output,
        "--eval",
        *case.write_data(folder),
        steps=steps,
        save_outputs=outputs,
    )
    files = {path.name: read_npy(path) for path in outputs.iterdir()}
    return [line["loss"] for line in lines], files


class EndToEndTest(unittest.TestCase):
    """A test with a folder of its own."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def assert_same_bits(self, actual: Outcome, expected: Outcome) -> None:
        self.assertEqual(actual.losses, expected.losses)
        self.assertEqual(actual.grad_norms, expected.grad_norms)
        self.assertEqual(actual.parameters.keys(), expected.parameters.keys())
        different = [
            name
            for name, data in expected.parameters.items()
            if actual.parameters[name] != data
        ]
        self.assertEqual(different, [])

    def assert_agrees(
        self, actual: list[float], expected: list[float], tolerance: float = 1e-4
    ) -> None:
        """Equal within the relative tolerance, step by step."""
        self.assertGreaterEqual(len(actual), len(expected))
        for step, (value, reference) in enumerate(zip(actual, expected), 1):
            self.assertLessEqual(
                abs(value - reference),
                tolerance * abs(reference),
                f"step {step}: {value}, reference {reference}",
            )


def reference(name: str) -> dict[str, list[float]]:
    file = "training.json"
    if name in EXPORTS:
        file = "exports.json"
    elif name in PRECISION_CASES:
        file = "precision.json"
    return json.loads((REFERENCES / file).read_text())["cases"][name]
