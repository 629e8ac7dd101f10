# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Faults that are put into a run on CUDA devices are found.

Usage: test_cuda_faults.py LIBRARY
"""

from __future__ import annotations

import dataclasses
import pathlib
import re
import sys
import unittest

from cases import EXPORTS, Case
from cuda_double import FAULT_STATUS, run_on_double
from harness import EndToEndTest, Layout, build_case
from pipewright.pipeline import CommandError
from test_schedules import make_case

PEER_LOST_STATUS = 10
DID_NOT_HAPPEN = "the seeded fault did not happen"


class FaultTest(EndToEndTest):
    library = ""
    case: Case
    layout: Layout
    output = pathlib.Path()

    def setUp(self) -> None:
        super().setUp()
        self.output, _ = build_case(self.case, self.layout, self.folder)

    def diagnose(self, fault: str) -> tuple[int, str]:
        """The exit status and messages of a run with a fault; 0 if it is not
        found."""
        ranks = self.layout.ranks * self.layout.replicas
        try:
            run_on_double(
                self.library, self.case, self.output, self.folder, ranks, fault=fault
            )
        except CommandError as error:
            return error.status, error.diagnostics
        return 0, ""


class CudaFaults(FaultTest):
    case = dataclasses.replace(make_case(4, 4), steps=1)
    layout = Layout(3, "1f1b", target="cuda")

    def test_half_receives(self) -> None:
        for device, number in [(0, 0), (1, 0), (1, 5), (2, 3)]:
            with self.subTest(f"{device}, {number}"):
                status, messages = self.diagnose(f"receive:{device}:{number}")
                self.assertEqual(status, FAULT_STATUS)
                self.assertRegex(messages, r"receives \d+ bytes where rank \d sends")

    def test_crossed_communicators(self) -> None:
        for device, number in [(0, 0), (1, 0), (1, 5), (2, 3)]:
            with self.subTest(f"{device}, {number}"):
                status, messages = self.diagnose(f"communicator:{device}:{number}")
                self.assertNotEqual(status, 0)
                self.assertIn("deadlock: all threads wait", messages)

    def test_lost_devices(self) -> None:
        for device, number in [(0, 3), (1, 0), (2, 5)]:
            with self.subTest(f"{device}, {number}"):
                status, messages = self.diagnose(f"device:{device}:{number}")
                self.assertEqual(status, PEER_LOST_STATUS)
                self.assertRegex(messages, r"rank \d: error: .*NCCL: remote process")

    def test_missing_waits(self) -> None:
        """Many waits are the only order between two accesses, about two of five
        here; how many depends on which thread came first. Others are not needed
        in this run: at the end of a step, for memory that was not used before,
        and where a message was waited for already."""
        found, runs = [], 0
        for number in range(200):
            status, messages = self.diagnose(f"wait:1:{number}")
            if DID_NOT_HAPPEN in messages:
                break
            runs += 1
            if status:
                found.append(messages)
        self.assertGreater(runs, 20)
        self.assertLess(runs, 200)
        self.assertGreater(len(found), runs / 5)
        # Whether a read that does not wait comes too early depends on the order
        # that was drawn.
        for message in found:
            self.assertRegex(
                message, "without an order between them|which nothing has written"
            )
        # An event is missing before what was received is read, and before what
        # is being sent is written.
        for kind in (r"reads .*which receive", r"writes .*which send"):
            self.assertTrue(any(re.search(kind, message) for message in found), kind)


class ExchangeFaults(FaultTest):
    """Two pipelines of one rank have no messages but exchanges, and sums at the
    end."""

    case = dataclasses.replace(
        EXPORTS["mixtral-dynamo-18"], steps=1, microbatches=2
    )
    layout = Layout(target="cuda", replicas=2, peers=2)

    def test_half_blocks(self) -> None:
        for number in (0, 1, 5):
            with self.subTest(str(number)):
                status, messages = self.diagnose(f"receive:1:{number}")
                self.assertEqual(status, FAULT_STATUS)
                self.assertRegex(messages, r"receives \d+ bytes where rank \d sends")

    def test_crossed_communicators(self) -> None:
        for number in (0, 7):
            with self.subTest(str(number)):
                status, messages = self.diagnose(f"communicator:1:{number}")
                self.assertNotEqual(status, 0)
                self.assertIn("deadlock: all threads wait", messages)

    def test_lost_peers(self) -> None:
        for number in (0, 7):
            with self.subTest(str(number)):
                status, messages = self.diagnose(f"device:1:{number}")
                self.assertEqual(status, PEER_LOST_STATUS)
                self.assertRegex(messages, r"rank \d: error: .*NCCL: remote process")

    def test_missing_waits(self) -> None:
        """An event is missing before rows are sent, and before those that were
        received are read."""
        missing = [
            r"send and others .* reads .*which kernel",
            r"kernel .* reads .*which (send and others|copy)",
        ]
        for number in range(30):
            _, messages = self.diagnose(f"wait:1:{number}")
            missing = [kind for kind in missing if not re.search(kind, messages)]
            if not missing:
                return
        self.fail(f"not found: {missing}")


if __name__ == "__main__":
    FaultTest.library = sys.argv.pop(1)
    unittest.main()
