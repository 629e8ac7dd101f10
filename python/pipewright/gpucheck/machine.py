# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The GPU, and programs that are run on it."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Sequence
from typing import Any

from .report import Failure, Skip

QUERY = ("name", "driver_version", "compute_cap", "memory.total", "clocks.max.sm")

#: Dense products of 16-bit floats in a second, as NVIDIA's data sheets have
#: them; names by what nvidia-smi's contain.
PEAK_FLOPS = {
    "B200": 2250e12,
    "H200": 989e12,
    "H100 PCIe": 756e12,
    "H100": 989e12,
    "A100": 312e12,
    "L40S": 362e12,
    "RTX 4090": 165e12,
}


def parse_query(output: str) -> dict[str, Any]:
    """The first device of nvidia-smi's table without a header or units."""
    lines = [line for line in output.splitlines() if line.strip()]
    if not lines:
        raise Skip("nvidia-smi lists no GPU")
    values = [value.strip() for value in lines[0].split(",")]
    facts: dict[str, Any] = dict(zip(QUERY, values))
    facts["devices"] = len(lines)
    facts["arch"] = "sm_" + facts["compute_cap"].replace(".", "")
    return facts


def facts() -> dict[str, Any]:
    if not shutil.which("nvidia-smi"):
        raise Skip("there is no nvidia-smi")
    words = ["nvidia-smi", f"--query-gpu={','.join(QUERY)}"]
    result = subprocess.run(
        [*words, "--format=csv,noheader,nounits"], capture_output=True, text=True
    )
    if result.returncode != 0:
        output = (result.stderr or result.stdout).strip()
        raise Skip(f"nvidia-smi says '{output}'")
    return parse_query(result.stdout)


def peak_flops(name: str) -> float | None:
    for known, flops in PEAK_FLOPS.items():
        if known in name:
            return flops
    return None


class Deadline:
    """All parts together have so much time."""

    def __init__(self, seconds: float):
        self.end = time.monotonic() + seconds

    def left(self) -> float:
        return self.end - time.monotonic()

    def run(
        self,
        command: Sequence[str | os.PathLike[str]],
        seconds: float = 120,
        environment: dict[str, str] | None = None,
    ) -> str:
        """What a program writes to stdout. It fails if the program does."""
        words = [os.fspath(word) for word in command]
        limit = min(seconds, self.left())
        if limit < 5:
            raise Skip("there is no time left")
        try:
            result = subprocess.run(
                words,
                capture_output=True,
                text=True,
                timeout=limit,
                env={**os.environ, **(environment or {})},
            )
        except subprocess.TimeoutExpired:
            raise Failure(f"'{' '.join(words)}' took more than {limit:.0f} s") from None
        if result.returncode != 0:
            said = (result.stderr.strip() or result.stdout.strip()).splitlines()
            raise Failure(
                f"'{' '.join(words)}' ended with {result.returncode}: "
                + " ".join(said[-3:])
            )
        return result.stdout
