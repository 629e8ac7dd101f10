# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every schedule trains GPT on CUDA devices as on the CPU.

Its products add in another order, so losses are the same within rounding. The
same executables run with messages over NCCL, from the second step on as a graph,
and on one device with copies: the bits are the same. Each schedule draws another
order among those that CUDA allows.

Usage: test_cuda_schedules.py LIBRARY PART OF
"""

from __future__ import annotations

import dataclasses
import sys
import unittest

from cuda_double import largest_difference, run_on_double
from harness import EndToEndTest, Layout, build_case, train_case
from test_schedules import Shape, find_shape, make_case, schedules

# Ranks and micro-batches, the first that a schedule serves.
SHAPES = [(3, 4), (4, 8), (2, 4)]


def first_shape(schedule: str) -> Shape:
    shapes = [find_shape(schedule, *shape, None) for shape in SHAPES]
    return next(shape for shape in shapes if shape)


class CudaSchedules(EndToEndTest):
    library = ""
    schedules: list[str] = []

    def test_every_schedule(self) -> None:
        for seed, schedule in enumerate(self.schedules):
            with self.subTest(schedule):
                self.check_schedule(schedule, seed)

    def check_schedule(self, schedule: str, seed: int) -> None:
        shape = first_shape(schedule)
        layers = max(4, shape.stages - 2)
        case = dataclasses.replace(make_case(layers, shape.microbatches), steps=3)
        folder = self.folder / schedule
        folder.mkdir()
        single = train_case(case, Layout(), folder)
        layout = Layout(shape.ranks, schedule, target="cuda")
        output, _ = build_case(case, layout, folder)
        outcomes = [
            run_on_double(
                self.library,
                case,
                output,
                folder,
                shape.ranks,
                transport=transport,
                seed=seed,
                graph=transport == "threads",
            )
            for transport in ("threads", "local")
        ]
        self.assert_same_bits(*outcomes)
        self.assert_agrees(outcomes[0].losses, single.losses, 2e-5)
        self.assert_agrees(outcomes[0].grad_norms, single.grad_norms, 2e-4)
        # AdamW moves each by at most the rate, whatever its gradient.
        self.assertLess(
            largest_difference(outcomes[0], single), case.learning_rate / 10
        )


if __name__ == "__main__":
    CudaSchedules.library = sys.argv[1]
    part, parts = int(sys.argv[2]), int(sys.argv[3])
    CudaSchedules.schedules = schedules()[part - 1 :: parts]
    unittest.main(argv=sys.argv[:1])
