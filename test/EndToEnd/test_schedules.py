# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every schedule trains GPT to the same bits as one rank.

Schedules of two directions add two sums of gradients, so theirs are the same
within rounding, and the same bits each time. Random delays on the ranks change
nothing but time, nor does it matter whether ranks are processes or threads.

Usage: test_schedules.py PART OF, for one of OF parts of the schedules. With
PIPEWRIGHT_EVERY_SHAPE in the environment every shape that a schedule serves is
trained, else a few of each.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import os
import sys
import unittest

from cases import CROSS_ENTROPY, Case
from harness import EndToEndTest, Layout, Outcome, build_case, run_case, train_case
from pipewright import pipeline
from pipewright.models import gpt
from pipewright.tensorfiles import token_walk

SEQUENCE, VOCABULARY = 8, 32
# Ranks, micro-batches, and chunks: None is what the schedule usually has.
SOME_SHAPES = [(2, 4, None), (4, 8, None), (2, 8, 4)]
EVERY_SHAPE = list(itertools.product((2, 3, 4), (4, 8), (None, 1, 2, 4)))


def schedules() -> list[str]:
    """All that `pipewright schedule` lists."""
    text = pipeline.call("pipewright", "schedule", "--help")
    section = text.split("SCHEDULES:\n\n")[1].split("\n\n")[0]
    return [line.split()[0] for line in section.splitlines()]


@dataclasses.dataclass(frozen=True)
class Shape:
    ranks: int
    microbatches: int
    chunks: int
    stages: int
    directions: int


def find_shape(
    schedule: str, ranks: int, microbatches: int, chunks: int | None
) -> Shape | None:
    """The shape in full, or None if the schedule does not serve it."""
    options = pipeline.flags(
        {"ranks": ranks, "microbatches": microbatches, "chunks": chunks}
    )
    command = ["pipewright", "schedule", "--schedule", schedule, *options, "--json"]
    try:
        made = json.loads(pipeline.call(*command))
    except pipeline.CommandError as error:
        if error.status != 1:
            raise
        return None
    placement = made["placement"]
    return Shape(
        ranks, microbatches, made["chunks"], len(placement[0]), len(placement)
    )


def find_shapes(schedule: str) -> list[Shape]:
    every = os.environ.get("PIPEWRIGHT_EVERY_SHAPE")
    wanted = EVERY_SHAPE if every else SOME_SHAPES
    shapes = [find_shape(schedule, *choice) for choice in wanted]
    return list(dict.fromkeys(shape for shape in shapes if shape))


def make_case(layers: int, microbatches: int) -> Case:
    config = gpt.GptConfig(
        layers=layers, width=8, heads=2, sequence=SEQUENCE, vocabulary=VOCABULARY
    )
    return Case(
        lambda: gpt.write_gpt(config),
        CROSS_ENTROPY,
        tokens=lambda: token_walk(SEQUENCE * 61 + 1, vocabulary=VOCABULARY),
        learning_rate=1e-2,
        clip=1.0,
        steps=3,
        microbatches=microbatches,
        microbatch_size=1,
    )


class Schedules(EndToEndTest):
    schedules: list[str] = []

    def train_single(self, layers: int, microbatches: int) -> Outcome:
        """What one rank makes of it: trained once."""
        key = (layers, microbatches)
        if key not in self.singles:
            folder = self.folder / f"single-{layers}-{microbatches}"
            folder.mkdir()
            self.singles[key] = train_case(make_case(*key), Layout(), folder)
        return self.singles[key]

    def test_every_shape(self) -> None:
        self.singles: dict[tuple[int, int], Outcome] = {}
        for schedule in self.schedules:
            shapes = find_shapes(schedule)
            self.assertTrue(shapes, f"{schedule} serves no shape")
            for shape in shapes:
                with self.subTest(f"{schedule}, {shape}"):
                    self.check_shape(schedule, shape, delays=shape == shapes[0])

    def check_shape(self, schedule: str, shape: Shape, delays: bool) -> None:
        # The embedding and the head are layers too.
        layers = max(6, shape.stages - 2)
        case = make_case(layers, shape.microbatches)
        single = self.train_single(layers, shape.microbatches)
        name = f"{schedule}-{shape.ranks}-{shape.microbatches}-{shape.chunks}"
        folder = self.folder / name
        folder.mkdir()
        layout = Layout(shape.ranks, schedule, chunks=shape.chunks)
        output, _ = build_case(case, layout, folder)
        outcome = run_case(case, output, folder)
        if shape.directions == 1:
            self.assert_same_bits(outcome, single)
        else:
            self.assert_agrees(outcome.losses, single.losses)
            self.assert_agrees(outcome.grad_norms, single.grad_norms)
            self.assert_same_bits(run_case(case, output, folder), outcome)
        if delays:
            self.assert_same_bits(run_case(case, output, folder, delays=7), outcome)
            threads = run_case(case, output, folder, transport="threads")
            self.assert_same_bits(threads, outcome)


if __name__ == "__main__":
    part, parts = int(sys.argv[1]), int(sys.argv[2])
    Schedules.schedules = schedules()[part - 1 :: parts]
    unittest.main(argv=sys.argv[:1])
