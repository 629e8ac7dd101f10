# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pipelines that share experts out train as one does that has all of them.

Each computes the rows of all for its experts, so that sums of gradients have
another order: numbers are the same within rounding, and the same bits each time.

Usage: test_experts.py CASE...
"""

from __future__ import annotations

import dataclasses
import math
import sys
import unittest

from cases import CASES, EXPORTS, Case
from cuda_double import largest_difference
from harness import (
    EndToEndTest,
    Layout,
    Outcome,
    build_case,
    evaluate_case,
    run_case,
    train_case,
)
from pipewright import pipeline

STEPS = 4
MICROBATCHES = 8
LAYOUTS = [
    Layout(1, replicas=2, peers=2),
    Layout(2, replicas=2, peers=2),
    Layout(2, "zb-h1", "full", replicas=4, peers=2),
    Layout(1, remat="selective", replicas=4, peers=4),
    Layout(2, "interleaved-1f1b", chunks=2, replicas=2, peers=2),
    Layout(2, "dualpipev", chunks=2, replicas=2, peers=2),
]


def prepare(name: str) -> Case:
    case = (CASES | EXPORTS)[name]
    return dataclasses.replace(case, steps=STEPS, microbatches=MICROBATCHES)


class Experts(EndToEndTest):
    def __init__(self, name: str, method: str):
        super().__init__(method)
        self.name = name

    def assert_close(self, case: Case, actual: Outcome, expected: Outcome) -> None:
        self.assert_agrees(actual.losses, expected.losses, case.loss_tolerance)
        self.assert_agrees(actual.grad_norms, expected.grad_norms, case.norm_tolerance)
        largest = largest_difference(actual, expected)
        self.assertLess(largest, case.learning_rate / 10)

    def train(self) -> None:
        case = prepare(self.name)
        single = train_case(case, Layout(), self.folder)
        for layout in LAYOUTS:
            with self.subTest(str(layout)):
                output, manifest = build_case(case, layout, self.folder)
                self.assertEqual(manifest["mesh"]["dp"], layout.replicas)
                self.assertEqual(manifest["mesh"]["ep"], layout.peers)
                outcome = run_case(case, output, self.folder)
                self.assert_close(case, outcome, single)
                again = run_case(case, output, self.folder, delays=5)
                self.assert_same_bits(again, outcome)
                threads = run_case(case, output, self.folder, transport="threads")
                self.assert_same_bits(threads, outcome)

    def share_out(self) -> None:
        """A rank has a part of the experts' weights, of which the manifest tells
        the whole shapes."""
        case = prepare(self.name)
        manifests = {}
        for peers in (1, 2):
            layout = Layout(replicas=2, peers=peers)
            _, manifests[peers] = build_case(case, layout, self.folder)
        shapes = {
            peers: {
                parameter["name"]: parameter["shape"]
                for stage in manifest["stages"]
                for parameter in stage["parameters"]
            }
            for peers, manifest in manifests.items()
        }
        self.assertEqual(shapes[2], shapes[1])
        shared = [
            parameter
            for stage in manifests[2]["stages"]
            for parameter in stage["parameters"]
            if parameter.get("shards") == 2
        ]
        self.assertTrue(shared)
        left_out = sum(4 * math.prod(parameter["shape"]) // 2 for parameter in shared)
        memory = {peers: manifests[peers]["memory"][0] for peers in manifests}
        saved = memory[1]["parameters"] - memory[2]["parameters"]
        # Places in the arena are rounded up.
        self.assertLessEqual(abs(saved - left_out), 64 * len(shared))

    def drop_rows(self) -> None:
        """With room for all rows of one peer nothing changes; with less, some
        rows get no expert, the same ones each time."""
        case = prepare(self.name)
        layout = Layout(replicas=2, peers=2)
        outcomes = []
        for capacity in (None, 2, 0.25):
            output, _ = build_case(
                case,
                layout,
                self.folder,
                name=f"capacity-{capacity}",
                expert_capacity=capacity,
            )
            outcomes.append(run_case(case, output, self.folder))
        everything, enough, little = outcomes
        self.assert_same_bits(enough, everything)
        self.assertTrue(all(map(math.isfinite, little.losses)))
        self.assertNotEqual(little.losses[0], everything.losses[0])
        threads = run_case(case, output, self.folder, transport="threads")
        self.assert_same_bits(threads, little)

    def evaluate(self) -> None:
        """The outputs of all pipelines are in one file, in the samples' order."""
        case = prepare(self.name)
        losses, values = [], []
        for layout in (Layout(), Layout(2, replicas=4, peers=2)):
            output, _ = build_case(case, layout, self.folder)
            step_losses, files = evaluate_case(case, output, self.folder, steps=2)
            losses.append(step_losses)
            [logits] = files.values()
            values.append(list(logits.values()))
        self.assert_agrees(losses[1], losses[0], case.loss_tolerance)
        self.assertEqual(len(values[1]), len(values[0]))
        largest = max(abs(a - b) for a, b in zip(*values))
        self.assertLess(largest, 1e-4)


class Refusals(EndToEndTest):
    """What cannot be shared out is refused, and nothing is written."""

    def __init__(self) -> None:
        super().__init__("refuse")

    def refuse(self) -> None:
        for name, replicas, reason in (
            ("mixtral-dynamo-18", 3, "4 experts"),
            ("two-outputs", 2, "experts"),
        ):
            with self.subTest(name):
                case = dataclasses.replace(prepare(name), microbatches=replicas)
                folder = self.folder / name
                folder.mkdir()
                layout = Layout(replicas=replicas, peers=replicas)
                with self.assertRaises(pipeline.CommandError) as caught:
                    build_case(case, layout, folder)
                self.assertEqual(caught.exception.status, 1)
                errors = caught.exception.diagnostics.count("error:")
                self.assertEqual(errors, 1, caught.exception.diagnostics)
                self.assertIn(reason, caught.exception.diagnostics)
                self.assertFalse((folder / layout.folder_name()).exists())


if __name__ == "__main__":
    tests = unittest.TestSuite(Experts(name, "train") for name in sys.argv[1:])
    for method in ("share_out", "drop_rows", "evaluate"):
        tests.addTest(Experts(sys.argv[1], method))
    tests.addTest(Refusals())
    sys.exit(not unittest.TextTestRunner(verbosity=2).run(tests).wasSuccessful())
