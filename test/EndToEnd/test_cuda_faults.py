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

from cuda_double import FAULT_STATUS, run_on_double
from harness import EndToEndTest, Layout, build_case
from pipewright.pipeline import CommandError
from test_schedules import make_case

RANKS = 3
PEER_LOST_STATUS = 10
DID_NOT_HAPPEN = "the seeded fault did not happen"


class CudaFaults(EndToEndTest):
    library = ""
    output = pathlib.Path()

    def setUp(self) -> None:
        super().setUp()
        self.case = dataclasses.replace(make_case(4, 4), steps=1)
        layout = Layout(RANKS, "1f1b", target="cuda")
        self.output, _ = build_case(self.case, layout, self.folder)

    def diagnose(self, fault: str) -> tuple[int, str]:
        """The exit status and messages of a run with a fault; 0 if it is not
        found."""
        try:
            run_on_double(
                self.library, self.case, self.output, self.folder, RANKS, fault=fault
            )
        except CommandError as error:
            return error.status, error.diagnostics
        return 0, ""

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


if __name__ == "__main__":
    CudaFaults.library = sys.argv.pop(1)
    unittest.main()
