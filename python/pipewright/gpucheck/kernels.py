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
    only = "-MatMulDeathTest.*:Speed.*"
    judge(run_tests(build / "test/Unit/gpu-runtime", only, deadline, []), part)


def check_generated(build: pathlib.Path, deadline: Deadline, part: Part) -> None:
    only = "DeviceKernels.Compute*"
    judge(run_tests(build / "test/Unit/gpu-kernels", only, deadline, []), part)


def check_memory(build: pathlib.Path, deadline: Deadline, part: Part) -> None:
    sanitizer = shutil.which("compute-sanitizer")
    if not sanitizer:
        raise Skip("there is no compute-sanitizer")
    programs = {
        "gpu-kernels": "DeviceKernels.ComputeTheCases",
        "gpu-runtime": "Updates.*:Experts.*-Updates.SumSquaresOfALargeTensor",
    }
    for tool in ("memcheck", "racecheck"):
        prefix = [sanitizer, f"--tool={tool}", "--error-exitcode=1"]
        for name, only in programs.items():
            run_tests(build / "test/Unit" / name, only, deadline, prefix)
            part.rows.append({"tool": tool, "program": name, "faults": 0})
    part.text = "no fault"


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


def measure(program: pathlib.Path, only: str, deadline: Deadline) -> list[dict]:
    """Tests that record numbers; all must pass."""
    tests = run_tests(program, only, deadline, [])
    for test in tests:
        for failure in test.get("failures", []):
            raise Failure(failure["failure"].splitlines()[0])
    return tests


def check_bandwidth(build: pathlib.Path, deadline: Deadline, part: Part) -> None:
    unit = build / "test/Unit"
    tests = measure(unit / "gpu-kernels", "DeviceKernels.MoveBytes", deadline)
    tests += measure(unit / "gpu-runtime", "Speed.OfUpdates", deadline)
    judge_bandwidth(bandwidth_rows(tests), part)


def flops_rows(
    tests: list[dict[str, Any]], peak: float | None
) -> list[dict[str, Any]]:
    """From what Speed.OfProducts and Speed.OfAttention record."""
    end = "_flops"
    return [
        {
            "product": name.removesuffix(end),
            "TFLOP/s": float(value) / 1e12,
            "of the peak": float(value) / peak if peak else "peak unknown",
        }
        for test in tests
        for name, value in test.items()
        if name.endswith(end)
    ]


def check_products(
    build: pathlib.Path, peak: float | None, deadline: Deadline, part: Part
) -> None:
    program = build / "test/Unit/gpu-runtime"
    tests = measure(program, "Speed.OfProducts:Speed.OfAttention", deadline)
    part.rows = flops_rows(tests, peak)
    if not part.rows:
        raise Failure("nothing was measured")
    part.text = f"{len(part.rows)} measured"
