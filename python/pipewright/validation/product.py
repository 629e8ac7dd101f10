# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the commands of `pipewright` that the comparisons need."""

from __future__ import annotations

import functools
import json
import pathlib
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..models.gpt import GptConfig, write_gpt
from ..models.llama import LlamaConfig, write_llama
from ..onnxfile import Graph

Json = dict[str, Any]


def run(*arguments: str) -> Json:
    """What `pipewright` prints as JSON."""
    command = ["pipewright", *arguments, "--json"]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        raise RuntimeError(f"{' '.join(command)}: {result.stderr.strip()}")
    return json.loads(result.stdout)


@dataclass(frozen=True)
class Costs:
    """Times of a rank's whole share of a micro-batch, as in `--cost`."""

    f: float = 1
    b: float = 1
    w: float = 1
    comm: float = 0
    fb: float | None = None

    def __str__(self) -> str:
        given = {key: value for key, value in vars(self).items() if value is not None}
        return ",".join(f"{key}={value:.12g}" for key, value in given.items())


def schedule(
    name: str, ranks: int, microbatches: int, costs: Costs = Costs(), *options: str
) -> Json:
    return run(
        "schedule",
        f"--schedule={name}",
        f"--ranks={ranks}",
        f"--microbatches={microbatches}",
        f"--cost={costs}",
        *options,
    )


def schedule_stages(
    name: str,
    ranks: int,
    microbatches: int,
    stages: Sequence[dict[str, float]],
    *options: str,
    comm: float = 0,
) -> Json:
    """A schedule whose stages have costs of their own."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(stages, file)
        file.flush()
        return schedule(
            name,
            ranks,
            microbatches,
            Costs(comm=comm),
            f"--stage-cost={file.name}",
            *options,
        )


def makespan(*arguments: Any) -> float:
    return schedule(*arguments)["metrics"]["makespan"]


@functools.cache
def inspect(config: GptConfig | LlamaConfig, *options: str) -> Json:
    """The layers of a model of shapes only, for micro-batches of one sample."""
    write = write_gpt if isinstance(config, GptConfig) else write_llama
    return _inspect_graph(write(config), options)


def _inspect_graph(graph: Graph, options: Sequence[str]) -> Json:
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "model.onnx")
        graph.save(path)
        return run(
            "inspect",
            str(path),
            r"--params-from-inputs=\.",
            "--microbatch-size=1",
            "--loss=cross-entropy:logits,labels",
            *options,
        )
