"""What `pipewright build --schedule auto` promises.

The step that it predicts is no longer than that of any other schedule on the
same stages, with the same costs; and it asks for no more stages than the model
can be cut into.

Usage: build_auto.py DIRECTORY, which is made anew.
"""

import json
import pathlib
import re
import shutil
import sys

from pipewright import pipeline
from pipewright.models import gpt

MICROBATCHES = 6
OPTIONS = {
    "microbatches": MICROBATCHES,
    "microbatch_size": 2,
    "loss": "cross-entropy:logits,labels",
    "arch": "x86-64-v3",
}


def build(model, output, **options):
    return pipeline.build(model, output, **OPTIONS, **options)


def makespan(staged, schedule):
    """Of a step by `schedule` on the stages of a module, or None if it has
    others."""
    attach = f"--pp-attach-schedule=schedule={schedule} microbatches={MICROBATCHES}"
    programs = staged.with_suffix(f".{schedule}.mlir")
    try:
        pipeline.call("pp-opt", staged, attach, "-o", programs)
    except pipeline.CommandError as error:
        assert error.status == 1, error
        return None
    made = pipeline.call("pp-translate", "--emit-schedule-json", programs)
    return json.loads(made)["metrics"]["makespan"]


def schedules():
    text = pipeline.call("pipewright", "schedule", "--help")
    section = re.search(r"SCHEDULES:\n\n(.*?)\n\n", text, re.S).group(1)
    return [line.split()[0] for line in section.splitlines()]


def check_never_worse(folder):
    ir = folder / "ir"
    build(folder / "gpt.onnx", folder / "build", ranks=2, schedule="auto", emit_ir=ir)
    times = {name: makespan(ir / "07-remat.mlir", name) for name in schedules()}
    times = {name: time for name, time in times.items() if time}
    print(times)
    assert len(times) >= 3, "too few schedules have the placement"
    assert times["auto"] <= min(times.values()) * (1 + 1e-9)
    # The plan has the order that was found for these costs.
    plan = pipeline.call("pp-translate", "--emit-schedule-json",
                         folder / "build" / "plan.mlir")
    assert json.loads(plan)["metrics"]["makespan"] == times["auto"]


def check_chunks(folder):
    """The model's four layers make one stage for each of four ranks, not two."""
    manifest = build(folder / "gpt.onnx", folder / "four", ranks=4, schedule="auto")
    assert len(manifest["stages"]) == 4, manifest["stages"]


def main():
    folder = pathlib.Path(sys.argv[1])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    gpt.write_gpt(
        gpt.GptConfig(layers=2, width=16, heads=2, sequence=8, vocabulary=32)
    ).save(folder / "gpt.onnx")
    check_never_worse(folder)
    check_chunks(folder)


main()
