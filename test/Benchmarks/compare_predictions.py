#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares predicted with measured steps on this machine.

GPT models of several sizes are profiled, built with the profile for each number
of ranks and schedule, and trained for a few steps; then the planner's best
plans are built and trained. Rounds repeat all this, so that a machine that
slows down for a while does so for predicted and measured times alike. Prints

- per model, ranks and schedule the medians of the predicted and the measured
  steps, and by how much the prediction is off;
- per model and ranks, how much longer the planner's first plan takes than the
  best one of those that it lists.

    PYTHONPATH=python test/Benchmarks/compare_predictions.py --raise-priority

Other work on the machine makes steps longer: with --raise-priority (which needs
root) all that is measured runs before it. With --times, several short runs add
up to one table.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import random
import re
import statistics
import string
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from pipewright import pipeline
from pipewright.models.gpt import GptConfig, write_gpt

MICROBATCHES = 8
MICROBATCH_SIZE = 2
LOSS = "cross-entropy:logits,labels"
SCHEDULES = ("gpipe", "1f1b", "zb-h1", "interleaved-1f1b")
UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
# What a plan of `pipewright plan --json` has of the options of a build.
PLAN_OPTIONS = (
    "ranks",
    "chunks",
    "microbatches",
    "microbatch_size",
    "schedule",
    "remat",
    "split_at",
)


class Case(NamedTuple):
    model: str
    ranks: int
    kind: str  # "schedule" or "plan"
    name: str


@dataclass
class Comparison:
    """Steps of one case, in seconds, from all rounds."""

    predicted: list[float] = field(default_factory=list)
    measured: list[float] = field(default_factory=list)
    # Rounds in which the planner listed it first.
    first: int = 0

    def get_prediction(self) -> float:
        return statistics.median(self.predicted)

    def get_time(self) -> float:
        return statistics.median(self.measured)

    def get_deviation(self) -> float:
        """Above 0 if the prediction is too long."""
        return self.get_prediction() / self.get_time() - 1


Comparisons = dict[Case, Comparison]


class Size(NamedTuple):
    layers: int
    width: int

    def __str__(self) -> str:
        return f"{self.layers}x{self.width}"


def parse_sizes(text: str) -> list[Size]:
    return [Size(*map(int, part.split("x"))) for part in text.split(",")]


def parse_numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


def raise_priority() -> None:
    """Runs this process and what it starts before all others.

    Linux weighs sessions against each other, and processes within a session.
    """
    if os.getpid() != os.getsid(0):
        os.setsid()
    os.setpriority(os.PRIO_PROCESS, 0, -20)
    autogroup = pathlib.Path("/proc/self/autogroup")
    if autogroup.exists():
        autogroup.write_text("-20")


def read_prediction(report: str) -> float:
    """The seconds of a step that `pipewright build` prints."""
    found = re.search(r"^predicted step ([0-9.]+) (\w+),", report, re.MULTILINE)
    if not found or found[2] not in UNITS:
        raise ValueError(f"no predicted step in:\n{report}")
    return float(found[1]) * UNITS[found[2]]


class Benchmark:
    def __init__(
        self,
        arguments: argparse.Namespace,
        folder: pathlib.Path,
        comparisons: Comparisons,
    ):
        self.arguments = arguments
        self.folder = folder
        self.comparisons = comparisons
        self.data = folder / "text.txt"
        letters = random.Random(0).choices(string.printable, k=200_000)
        self.data.write_text("".join(letters))

    def run_round(self) -> None:
        for size in self.arguments.sizes:
            for ranks in self.arguments.ranks:
                print(f"{size} on {ranks} ranks", file=sys.stderr)
                profile = self.profile(size, ranks)
                self.compare_schedules(size, ranks, profile)
                if self.arguments.top > 0:
                    self.compare_plans(size, ranks, profile)

    def compare_schedules(self, size: Size, ranks: int, profile: pathlib.Path) -> None:
        for schedule in SCHEDULES:
            options = {
                "ranks": ranks,
                "schedule": schedule,
                "microbatches": MICROBATCHES,
                "microbatch_size": MICROBATCH_SIZE,
            }
            case = Case(str(size), ranks, "schedule", schedule)
            self.compare(size, options, profile, case)

    def compare_plans(self, size: Size, ranks: int, profile: pathlib.Path) -> None:
        text = self.call(
            "plan",
            size,
            "--json",
            ranks=ranks,
            global_batch=MICROBATCHES * MICROBATCH_SIZE,
            microbatch_size=MICROBATCH_SIZE,
            profile=profile,
            top=self.arguments.top,
        )
        for number, plan in enumerate(json.loads(text)["plans"]):
            options = {key: plan[key] for key in PLAN_OPTIONS if plan.get(key)}
            case = Case(str(size), ranks, "plan", describe_plan(options))
            self.compare(size, options, profile, case)
            self.comparisons[case].first += number == 0

    def profile(self, size: Size, ranks: int) -> pathlib.Path:
        path = self.folder / f"{size}-{ranks}.json"
        self.call(
            "profile",
            size,
            "-o",
            path,
            ranks=ranks,
            microbatch_size=MICROBATCH_SIZE,
            seconds=self.arguments.seconds,
        )
        return path

    def compare(
        self, size: Size, options: dict[str, Any], profile: pathlib.Path, case: Case
    ) -> None:
        """Adds the prediction of a build, and the steps of a run."""
        output = self.folder / "out"
        report = self.call(
            "build", size, "-o", output, "--force", profile=profile, **options
        )
        comparison = self.comparisons[case]
        comparison.predicted.append(read_prediction(report))
        log = pipeline.run(output, data=self.data, steps=self.arguments.steps)
        # The first step also touches the memory for the first time.
        comparison.measured += [line["step_time_s"] for line in log[1:]]

    def call(self, command: str, size: Size, *words: Any, **options: Any) -> str:
        flags = pipeline.flags({"loss": LOSS, **options})
        model = self.get_model(size)
        return pipeline.call("pipewright", command, model, *words, *flags)

    def get_model(self, size: Size) -> pathlib.Path:
        path = self.folder / f"{size}.onnx"
        if not path.exists():
            config = GptConfig(
                layers=size.layers,
                width=size.width,
                heads=max(1, size.width // 64),
                sequence=self.arguments.sequence,
            )
            write_gpt(config).save(path)
        return path


def describe_plan(options: dict[str, Any]) -> str:
    text = f"{options['schedule']} x{options['chunks']} {options['remat']}"
    cuts = ",".join(options.get("split_at", []))
    return f"{text} at {cuts}" if cuts else text


def format_row(case: Case, comparison: Comparison) -> str:
    return (
        f"{case.model:9}{case.ranks:6}  {case.name:32}"
        f"{comparison.get_prediction() * 1e3:9.1f} ms"
        f"{comparison.get_time() * 1e3:9.1f} ms{comparison.get_deviation():+8.1%}"
    )


def format_schedules(rows: Comparisons) -> Iterator[str]:
    for case, comparison in rows.items():
        yield format_row(case, comparison)
    deviations = [abs(comparison.get_deviation()) for comparison in rows.values()]
    yield (
        f"{len(deviations)} steps: predictions are off by "
        f"{statistics.mean(deviations):.1%} on average, {max(deviations):.1%} at most"
    )


def format_plans(model: str, ranks: int, rows: Comparisons) -> Iterator[str]:
    yield f"\nplans for {model} on {ranks} ranks"
    for case, comparison in rows.items():
        yield format_row(case, comparison)
    first = max(rows.values(), key=lambda comparison: comparison.first)
    best = min(comparison.get_time() for comparison in rows.values())
    yield f"the first one takes {first.get_time() / best - 1:.1%} longer than the best"


def format_report(comparisons: Comparisons) -> Iterator[str]:
    yield f"{'model':9}{'ranks':>6}  {'plan':32}{'predicted':>12}{'measured':>12}"
    yield from format_schedules(
        {case: c for case, c in comparisons.items() if case.kind == "schedule"}
    )
    plans: dict[tuple[str, int], Comparisons] = defaultdict(dict)
    for case, comparison in comparisons.items():
        if case.kind == "plan":
            plans[case.model, case.ranks][case] = comparison
    for (model, ranks), rows in plans.items():
        yield from format_plans(model, ranks, rows)


def read_times(path: pathlib.Path | None) -> Comparisons:
    comparisons: Comparisons = defaultdict(Comparison)
    if path and path.exists():
        for row in json.loads(path.read_text()):
            comparisons[Case(**row["case"])] = Comparison(**row["steps"])
    return comparisons


def write_times(comparisons: Comparisons, path: pathlib.Path) -> None:
    rows = [
        {"case": case._asdict(), "steps": asdict(comparison)}
        for case, comparison in comparisons.items()
    ]
    path.write_text(json.dumps(rows, indent=1) + "\n")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add(
        "--sizes",
        type=parse_sizes,
        default=[Size(12, 128), Size(4, 256), Size(2, 512)],
        metavar="LAYERSxWIDTH,...",
        help="of the models (default 12x128,4x256,2x512)",
    )
    add("--ranks", type=parse_numbers, default=[1, 2], metavar="N,...")
    add("--sequence", type=int, default=128, help="tokens of a sample")
    add("--rounds", type=int, default=3)
    add("--steps", type=int, default=8, help="of each run; the first is left out")
    add("--seconds", type=float, default=5, help="of each profile")
    add("--top", type=int, default=5, help="plans to compare; 0: none")
    add("--raise-priority", action="store_true", help="run before all other work")
    add(
        "--times",
        type=pathlib.Path,
        metavar="FILE.json",
        help="add to the times that are there, and write all",
    )
    arguments = parser.parse_args()
    if arguments.steps < 2:
        parser.error("--steps: the first one is left out; give at least 2")
    return arguments


def main() -> None:
    arguments = parse_arguments()
    if arguments.raise_priority:
        raise_priority()
    comparisons = read_times(arguments.times)
    with tempfile.TemporaryDirectory() as folder:
        benchmark = Benchmark(arguments, pathlib.Path(folder), comparisons)
        for _ in range(arguments.rounds):
            benchmark.run_round()
            if arguments.times:
                write_times(comparisons, arguments.times)
    for line in format_report(comparisons):
        print(line)


if __name__ == "__main__":
    main()
