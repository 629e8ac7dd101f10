# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pipelines whose ranks are threads on one GPU: what they compute, in which
order, and what overlaps."""

from __future__ import annotations

import json
import pathlib
import sys
from typing import Any

from . import traces
from .machine import Deadline
from .report import Failure, Part

SCHEDULES = ("gpipe", "1f1b", "zb-h1", "interleaved-1f1b")
LOSS = "--loss=cross-entropy:logits,labels"
RANKS, MICROBATCHES, STEPS = 4, 8, 4
SIZES = {"layers": 8, "width": 256, "heads": 4, "sequence": 128}
#: Sums have another order than on the CPU.
CPU_TOLERANCE = 1e-3


def write_model(folder: pathlib.Path, deadline: Deadline, **sizes: int) -> pathlib.Path:
    model = folder / "gpt.onnx"
    options = [f"--{name}={value}" for name, value in sizes.items()]
    deadline.run(
        [sys.executable, "-m", "pipewright.models.gpt", *options, "-o", model]
    )
    return model


def build_options(schedule: str) -> list[str]:
    return [
        f"--schedule={schedule}",
        f"--ranks={RANKS}",
        f"--microbatches={MICROBATCHES}",
    ]


def train(
    model: pathlib.Path,
    output: pathlib.Path,
    data: pathlib.Path,
    options: list[str],
    transport: list[str],
    deadline: Deadline,
) -> tuple[list[float], dict[str, Any]]:
    """The losses and the trace of a few steps."""
    command = ["pipewright", "build", model, "-o", output, "--force"]
    deadline.run([*command, "--microbatch-size=2", LOSS, *options])
    log, trace = output / "log.jsonl", output / "trace.json"
    run = ["pipewright", "run", output, *transport, f"--data={data}"]
    run += [f"--steps={STEPS}", "--lr=1e-3", f"--trace={trace}"]
    # What is measured anew in each run, and with it the last bits, is fixed.
    environment = {"PIPEWRIGHT_EPILOGUES": "library"}
    deadline.run([*run, "--log=jsonl", f"--log-file={log}"], environment=environment)
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    losses = [line["loss"] for line in lines if "loss" in line]
    return losses, json.loads(trace.read_text())


def compare(
    schedule: str,
    planned: dict[str, Any],
    simulated: dict[str, Any],
    measured: list[list[traces.Action]],
    losses: list[float],
) -> dict[str, Any]:
    """A row of the table; fails if the order is not the planned one."""
    difference = traces.first_difference(planned["actions"], measured)
    if difference:
        raise Failure(f"{schedule}: {difference}")
    metrics = simulated["metrics"]
    return {
        "schedule": schedule,
        "last loss": losses[-1],
        "order as planned": True,
        "step ms": 1e3 * traces.span(measured),
        "simulated ms": 1e3 * metrics["makespan"],
        "ranks at a time": traces.concurrency(measured),
        "simulated": RANKS * (1 - metrics["bubble_ratio"]),
    }


def check_losses(losses: dict[str, list[float]], expected: list[float]) -> None:
    """All schedules compute the same, and what the CPU does."""
    first = next(iter(losses.values()))
    for schedule, values in losses.items():
        if values != first:
            raise Failure(f"{schedule} has other losses than the first: {values}")
    for one, other in zip(first, expected):
        if not abs(one - other) <= CPU_TOLERANCE * abs(other):
            raise Failure(f"the losses are {first}, and on the CPU {expected}")


def check(folder: pathlib.Path, arch: str, deadline: Deadline, part: Part) -> None:
    model = write_model(folder, deadline, vocabulary=256, **SIZES)
    data = folder / "data.txt"
    data.write_bytes(bytes(i * i % 251 for i in range(1 << 17)))
    one_rank = ["--ranks=1", f"--microbatches={MICROBATCHES}"]
    expected, _ = train(model, folder / "cpu", data, one_rank, [], deadline)
    losses = {}
    for schedule in SCHEDULES:
        options = build_options(schedule)
        target = ["--target=cuda", f"--arch={arch}"]
        local = ["--transport=local"]
        output = folder / schedule
        losses[schedule], trace = train(
            model, output, data, options + target, local, deadline
        )
        measured = traces.last_step(trace)
        costs = folder / "costs.json"
        costs.write_text(json.dumps(traces.stage_costs(measured)))
        ask = ["pipewright", "schedule", *options, "--format=json"]
        planned = json.loads(deadline.run(ask))
        simulated = json.loads(deadline.run([*ask, f"--stage-cost={costs}"]))
        part.rows.append(
            compare(schedule, planned, simulated, measured, losses[schedule])
        )
    check_losses(losses, expected)
    part.text = "losses are those of the CPU, and the order is the planned one"
