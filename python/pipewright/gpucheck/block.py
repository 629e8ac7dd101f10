# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A block of a GPT, forward and backward, against torch.compile."""

from __future__ import annotations

import json
import pathlib
import statistics
import sys

from . import traces
from .machine import Deadline, peak_flops
from .pipelines import LOSS, write_model
from .report import Failure, Part, Skip

#: Times of torch.compile.
TIME_GOAL = 1.03
SIZES = {"width": 1024, "heads": 16, "sequence": 1024}
BATCH = 8
#: The one in the middle of three.
BLOCK = "h.1"


def flops(batch: int, sequence: int, width: int) -> int:
    """Of a forward and a backward: four projections, two products of eight times
    their share, scores and their sums; twice as much backward."""
    tokens = batch * sequence
    forward = 24 * tokens * width**2 + 4 * tokens * sequence * width
    return 3 * forward


def find_torch(candidates: list[str], deadline: Deadline) -> str:
    """A Python whose torch has a GPU."""
    for python in candidates:
        try:
            test = "import torch; print(torch.cuda.is_available())"
            if deadline.run([python, "-c", test], seconds=60).strip() == "True":
                return python
        except (Failure, OSError):
            continue
    raise Skip(f"no torch with CUDA in {', '.join(candidates)}; see --python")


def block_seconds(trace: dict, stage: int) -> float:
    """Of the stage in the last step: all that it computes for one micro-batch."""
    actions = [a for rank in traces.last_step(trace) for a in rank if a.stage == stage]
    if not actions:
        raise Failure(f"stage {stage} computed nothing")
    return sum(action.seconds for action in actions)


def block_stage(manifest: dict) -> int:
    for stage in manifest["stages"]:
        if [name.endswith(BLOCK) for name in stage["layers"]] == [True]:
            return stage["stage"]
    raise Failure("no stage has the block alone")


def measure_ours(folder: pathlib.Path, arch: str, deadline: Deadline) -> float:
    model = write_model(folder, deadline, layers=3, vocabulary=256, **SIZES)
    inspect = ["pipewright", "inspect", model, "--json", f"--bind=batch={BATCH}"]
    layers = json.loads(deadline.run([*inspect, LOSS]))["layers"]
    names = [layer["name"] for layer in layers]
    at = next(i for i, name in enumerate(names) if name.endswith(BLOCK))
    output, data = folder / "block", folder / "block.txt"
    data.write_bytes(bytes(i * i % 251 for i in range(1 << 20)))
    command = ["pipewright", "build", model, "-o", output, "--force", "--ranks=3"]
    command += ["--target=cuda", f"--arch={arch}", "--precision=bf16"]
    command += ["--microbatches=1", f"--microbatch-size={BATCH}", "--schedule=gpipe"]
    deadline.run([*command, LOSS, f"--split-at={names[at]},{names[at + 1]}"])
    stage = block_stage(json.loads((output / "manifest.json").read_text()))
    seconds = []
    for _ in range(3):
        trace = folder / "block-trace.json"
        run = ["pipewright", "run", output, "--transport=local", f"--data={data}"]
        deadline.run([*run, "--steps=8", "--lr=1e-4", f"--trace={trace}"])
        seconds.append(block_seconds(json.loads(trace.read_text()), stage))
    return statistics.median(seconds)


def check(
    folder: pathlib.Path,
    facts: dict,
    python: str | None,
    deadline: Deadline,
    part: Part,
) -> None:
    ours = measure_ours(folder, facts["arch"], deadline)
    work = flops(BATCH, SIZES["sequence"], SIZES["width"])
    peak = peak_flops(facts["name"])

    def add_row(who: str, seconds: float) -> None:
        use = work / seconds / peak if peak else "peak unknown"
        row = {"who": who, "ms": 1e3 * seconds, "TFLOP/s": work / seconds / 1e12}
        part.rows.append({**row, "of the peak": use})

    add_row("Pipewright", ours)
    candidates = [python] if python else [sys.executable, "python3", "/usr/bin/python3"]
    interpreter = find_torch(candidates, deadline)
    script = pathlib.Path(__file__).with_name("torch_block.py")
    sizes = [f"--{name}={value}" for name, value in SIZES.items()]
    result = json.loads(
        deadline.run([interpreter, script, f"--batch={BATCH}", *sizes], seconds=180)
    )
    add_row(f"torch.compile {result['version']}", result["seconds"])
    judge(ours, result["seconds"], part)


def judge(ours: float, theirs: float, part: Part) -> None:
    part.text = f"{ours / theirs:.3f} times torch.compile's time"
    if ours > TIME_GOAL * theirs:
        part.miss(f"{part.text}; the goal is {TIME_GOAL}")
