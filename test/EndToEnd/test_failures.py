# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A lost rank stops the others; a slow rank changes nothing but time."""

import os
import pathlib
import random
import re
import signal
import subprocess
import time
import unittest

from cases import CASES
from harness import EndToEndTest, Layout, build_case
from pipewright.tensorfiles import read_safetensors

CASE = CASES["gpt-adamw"]
LAYOUT = Layout(3)
TIMEOUT = 20  # seconds without progress that a rank tolerates


def process_table() -> dict[int, tuple[int, str]]:
    """Parent and name of every process."""
    table = {}
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            stat = (entry / "stat").read_text()
        except OSError:
            continue  # it has just ended
        name = stat[stat.index("(") + 1 : stat.rindex(")")]
        parent = int(stat[stat.rindex(")") + 2 :].split()[1])
        table[int(entry.name)] = (parent, name)
    return table


def is_running(process: int) -> bool:
    """Whether it has not ended; who should bury it may not have done so yet."""
    try:
        stat = pathlib.Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False
    return stat[stat.rindex(")") + 2] != "Z"


def find_ranks(launcher: int) -> dict[int, int]:
    """Process of each rank below the process `launcher`."""
    table, ranks = process_table(), {}
    for process, (_, name) in table.items():
        match = re.fullmatch(r"rank-(\d+)", name)
        ancestor = process
        while match and ancestor in table and ancestor != launcher:
            ancestor = table[ancestor][0]
        if match and ancestor == launcher:
            ranks[int(match.group(1))] = process
    return ranks


class Failures(EndToEndTest):
    def setUp(self) -> None:
        super().setUp()
        self.build, _ = build_case(CASE, LAYOUT, self.folder)
        self.log = self.folder / "log.jsonl"

    def start(self, steps: int, *options: str) -> subprocess.Popen:
        """Starts a run and waits until it has trained some steps."""
        command = ["pipewright", "run", str(self.build), "--steps", str(steps)]
        command += ["--log", "jsonl", "--log-file", str(self.log)]
        command += ["--timeout", str(TIMEOUT), *CASE.write_data(self.folder), *options]
        run = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.addCleanup(run.kill)
        deadline = time.monotonic() + 60
        while not self.log.exists() or self.log.read_text().count("\n") < 3:
            self.assertIsNone(run.poll(), "the run ended early")
            self.assertLess(time.monotonic(), deadline, "the run does not start")
            time.sleep(0.02)
        return run

    def test_a_lost_rank_stops_all_others(self):
        run = self.start(steps=1000000)
        ranks = find_ranks(run.pid)
        self.assertEqual(sorted(ranks), [0, 1, 2])
        os.kill(ranks[1], signal.SIGKILL)
        _, errors = run.communicate(timeout=TIMEOUT)
        self.assertEqual(run.returncode, 10, errors)
        for rank in (0, 2):
            lost = rf"rank {rank}: error: rank 1 was lost while this rank was \w+ing .* in step"
            self.assertRegex(errors, lost)
        self.assertFalse(any(is_running(process) for process in ranks.values()))

    def test_a_stopped_rank_is_noticed(self):
        run = self.start(1000000, "--timeout", "3")
        ranks = find_ranks(run.pid)
        os.kill(ranks[1], signal.SIGSTOP)
        _, errors = run.communicate(timeout=TIMEOUT)
        self.assertEqual(run.returncode, 11, errors)

    def test_delays_change_nothing_but_time(self):
        outcomes = []
        for name, delays in (("steady", 0), ("delayed", 12)):
            parameters = self.folder / f"{name}.safetensors"
            self.log.unlink(missing_ok=True)
            run = self.start(300, "--save-parameters", str(parameters))
            generator = random.Random(0)
            for _ in range(delays):
                if ranks := find_ranks(run.pid):
                    self.pause(generator.choice(sorted(ranks.values())))
            _, errors = run.communicate(timeout=120)
            self.assertEqual(run.returncode, 0, errors)
            outcomes.append(read_safetensors(parameters))
        self.assertEqual(outcomes[0], outcomes[1])

    def pause(self, process: int) -> None:
        try:
            os.kill(process, signal.SIGSTOP)
            time.sleep(0.05)
            os.kill(process, signal.SIGCONT)
        except ProcessLookupError:
            pass  # the run has ended


if __name__ == "__main__":
    unittest.main()
