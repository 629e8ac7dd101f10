# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs all checks that need a GPU, and writes a report.

It takes less than ten minutes and asks for nothing. Exit status: 0 if no part
failed, also where there is no GPU; 1 if one did, or with --strict missed its
goal.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import sys
import tempfile
import time
from collections.abc import Callable, Sequence

from . import block, kernels, machine, pipelines, report
from .machine import Deadline
from .report import FAILED, MISSED, SKIPPED, Part

ROOT = pathlib.Path(__file__).resolve().parents[3]
SECONDS = 570
TARGETS = ("pipewright", "pprt", "pprt-cuda", "gpu-runtime", "gpu-kernels")


def arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "gpu-check",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--build",
        type=pathlib.Path,
        metavar="FOLDER",
        default=ROOT / "build/default",
        help="of CMake; default: build/default, which is made if it is not there",
    )
    parser.add_argument(
        "--output",
        type=pathlib.Path,
        metavar="FOLDER",
        default=ROOT / "build/gpu-check",
        help="gets report.md and report.json; default: build/gpu-check",
    )
    parser.add_argument(
        "--python", metavar="FILE", help="a Python that has torch with CUDA"
    )
    parser.add_argument(
        "--strict", action="store_true", help="a missed goal is a failure, too"
    )
    return parser.parse_args(words)


def run_part(part: Part, work: Callable[[Part], None]) -> None:
    print(f"{part.name} ...", flush=True)
    begin = time.monotonic()
    try:
        work(part)
    except report.Skip as reason:
        part.status, part.text = SKIPPED, str(reason)
    except report.Failure as reason:
        part.status, part.text = FAILED, str(reason)
    except (OSError, LookupError, ValueError) as reason:
        # What a program wrote is not what is expected of it.
        part.status = FAILED
        part.text = f"{type(reason).__name__}: {reason}"
    part.seconds = time.monotonic() - begin
    print(f"{part.name}: {part.status}: {part.text}", flush=True)


def build_all(build: pathlib.Path, deadline: Deadline, part: Part) -> None:
    if not (build / "CMakeCache.txt").exists():
        preset = ["-S", ROOT, "-B", build, "-G", "Ninja"]
        deadline.run(["cmake", *preset, "-DCMAKE_BUILD_TYPE=RelWithDebInfo"])
    deadline.run(["cmake", "--build", build, "--target", *TARGETS], seconds=3600)
    part.text = f"in {build}"


def run_all(options: argparse.Namespace, facts: dict) -> list[Part]:
    # To build is not part of the time.
    part = Part("build")
    run_part(part, lambda part: build_all(options.build, Deadline(3600), part))
    if part.status == FAILED:
        return [part]
    os.environ["PATH"] = f"{options.build / 'bin'}:{os.environ['PATH']}"
    deadline = Deadline(SECONDS)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        build, arch = options.build, facts["arch"]
        works: dict[str, Callable[[Part], None]] = {
            "the runtime's kernels": lambda p: kernels.check_runtime(build, deadline, p),
            "generated kernels": lambda p: kernels.check_generated(build, deadline, p),
            "bandwidth": lambda p: kernels.check_bandwidth(build, deadline, p),
            "products": lambda p: kernels.check_products(
                build, machine.peak_flops(facts["name"]), deadline, p
            ),
            "pipelines": lambda p: pipelines.check(folder, arch, deadline, p),
            "a block": lambda p: block.check(folder, facts, options.python, deadline, p),
            "compute-sanitizer": lambda p: kernels.check_memory(build, deadline, p),
        }
        parts = [part]
        for title, work in works.items():
            parts.append(Part(title))
            run_part(parts[-1], work)
    return parts


def main(words: Sequence[str] | None = None) -> int:
    options = arguments(words)
    try:
        facts = machine.facts()
    except report.Skip as reason:
        print(f"gpu-check: nothing to check: {reason}")
        return 0
    parts = run_all(options, facts)
    report.write(options.output, facts, parts)
    print(f"gpu-check: {options.output / 'report.md'}")
    bad = (FAILED, MISSED) if options.strict else (FAILED,)
    return int(any(part.status in bad for part in parts))


if __name__ == "__main__":
    sys.exit(main())
