# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares what `pipewright plan` finds with what it finds in parts of its search."""

from __future__ import annotations

import json
import subprocess
import sys


def plan(model: str, *options: str) -> dict | None:
    """The search as JSON; none if it is refused."""
    command = ["pipewright", "plan", model, "--ranks", "2", "--global-batch", "8", "--json"]
    command += ["--loss", "cross-entropy:logits,labels", *options]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    return json.loads(run.stdout) if run.returncode == 0 else None


def compare_with_parts(model: str) -> None:
    """No choice that is searched alone has a faster plan than all together."""
    best = plan(model)["plans"][0]["step_seconds"]
    parts = [
        plan(model, "--schedule", schedule, "--microbatch-size", size, "--top", "1")
        for schedule in ("1f1b", "gpipe", "zb-h1", "interleaved-1f1b", "dualpipev")
        for size in ("1", "2", "4")
    ]
    seconds = [part["plans"][0]["step_seconds"] for part in parts if part]
    print(len(seconds) >= 10, min(seconds) >= best * (1 - 1e-9))


def plan_with_little_memory(model: str, plan_file: str) -> None:
    """Layers are computed again, as few as make it fit."""
    options = ("--schedule", "gpipe", "--microbatch-size", "1")
    free = plan(model, *options)["plans"][0]
    limit = free["peak_bytes"] * 7 // 8
    tight = plan(model, *options, "--memory", str(limit), "-o", plan_file)["plans"][0]
    print(set(free["layer_remats"]), set(tight["layer_remats"]) != {"none"})
    print(tight["step_seconds"] > free["step_seconds"], tight["peak_bytes"] <= limit)
    print("peak", tight["peak_bytes"])


if __name__ == "__main__":
    compare_with_parts(sys.argv[1])
    plan_with_little_memory(*sys.argv[1:])
