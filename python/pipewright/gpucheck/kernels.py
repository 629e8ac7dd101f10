# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether kernels compute what they should, and how many bytes they move."""

from __future__ import annotations

import json
import pathlib
import shutil
import tempfile
from typing import Any

from .machine import Deadline
from .report import Failure, Part, Skip

#: Of what a copy on the device reaches.
BANDWIDTH_GOAL = 0.85


def run_tests(
    program: pathlib.Path, only: str, deadline: Deadline, prefix: list[str]
) -> list[dict[str, Any]]:
    """The tests of a GoogleTest program, as its JSON lists them."""
    if not program.exists():
        raise Skip(f"{program.name} was not built")
    with tempfile.TemporaryDirectory() as folder:
        output = pathlib.Path(folder, "tests.json")
        command = [*prefix, program, f"--gtest_filter={only}"]
        try:
            deadline.run([*command, f"--gtest_output=json:{output}"], seconds=180)
        except Failure:
            if not output.exists() or prefix:
                raise
        return list_tests(json.loads(output.read_text()))


def list_tests(results: dict[str, Any]) -> list[dict[str, Any]]:
    return [test for suite in results["testsuites"] for test in suite["testsuite"]]


def judge(tests: list[dict[str, Any]], part: Part) -> None:
    ran = [test for test in tests if test.get("result") == "COMPLETED"]
    if not ran:
        raise Failure("no test ran")
    failed = [test for test in ran if test.get("failures")]
    for test in ran:
        name = f"{test['classname']}.{test['name']}"
        part.rows.append({"test": name, "passed": test not in failed})
    if failed:
        first = failed[0]["failures"][0]["failure"].splitlines()
        raise Failure(f"{len(failed)} of {len(ran)} tests failed: {' '.join(first[:4])}")
    part.text = f"{len(ran)} tests"


def check_runtime(build: pathlib.Path, deadline: Deadline, part: Part) -> None:
    # What the library refuses is its own matter.
    only = "-MatMulDeathTest.*"
    judge(run_tests(build / "test/Unit/gpu-runtime", only, deadline, []), part)


def check_generated(build: pathlib.Path, deadline: Deadline, part: Part) -> None:
    only = "DeviceKernels.Compute*"
    judge(run_tests(build / "test/Unit/gpu-kernels", only, deadline, []), part)


def check_memory(build: pathlib.Path, deadline: Deadline, part: Part) -> None:
    sanitizer = shutil.which("compute-sanitizer")
    if not sanitizer:
        raise Skip("there is no compute-sanitizer")
    program = build / "test/Unit/gpu-kernels"
    for tool in ("memcheck", "racecheck"):
        prefix = [sanitizer, f"--tool={tool}", "--error-exitcode=1"]
        run_tests(program, "DeviceKernels.ComputeTheCases", deadline, prefix)
        part.rows.append({"tool": tool, "faults": 0})
    part.text = "no fault in the kernels of the cases"


def bandwidth_rows(tests: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """From what DeviceKernels.MoveBytes records: bytes in a second of each
    function, and of a copy of as many."""
    rows = []
    for test in tests:
        for name, value in test.items():
            copy = test.get(f"{name}_copy")
            if copy is not None:
                rows.append(
                    {
                        "function": name,
                        "GB/s": float(value) / 1e9,
                        "copy GB/s": float(copy) / 1e9,
                        "of a copy": float(value) / float(copy),
                    }
                )
    return rows


def judge_bandwidth(rows: list[dict[str, Any]], part: Part) -> None:
    if not rows:
        raise Failure("nothing was measured")
    part.rows = rows
    slow = [row["function"] for row in rows if row["of a copy"] < BANDWIDTH_GOAL]
    part.text = f"all {len(rows)} reach {BANDWIDTH_GOAL:.0%} of a copy"
    if slow:
        part.miss(f"below {BANDWIDTH_GOAL:.0%} of a copy: {', '.join(slow)}")


def check_bandwidth(build: pathlib.Path, deadline: Deadline, part: Part) -> None:
    program = build / "test/Unit/gpu-kernels"
    tests = run_tests(program, "DeviceKernels.MoveBytes", deadline, [])
    if any(test.get("failures") for test in tests):
        raise Failure(tests[0]["failures"][0]["failure"].splitlines()[0])
    judge_bandwidth(bandwidth_rows(tests), part)
