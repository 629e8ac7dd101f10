"""Rolls the programs of every schedule.

Rolled and unrolled again they must be what they were, and more micro-batches
must not make them longer.
"""

import re
import subprocess


def run(*command, text=None):
    return subprocess.run(command, input=text, check=True, text=True,
                          capture_output=True).stdout


def names():
    text = run("pipewright", "schedule", "--help")
    section = re.search(r"SCHEDULES:\n\n(.*?)\n\n", text, re.S).group(1)
    # 'auto' searches: what it finds has no period.
    return [line.split()[0] for line in section.splitlines()
            if line.split()[0] != "auto"]


def write(name, microbatches):
    """The programs on 4 ranks."""
    arguments = ["--schedule", name, "--ranks", "4", "--microbatches",
                 str(microbatches)]
    return run("pipewright", "schedule", *arguments, "--format", "mlir")


def length(name, microbatches):
    flat = run("pp-opt", text=write(name, microbatches))
    rolled = run("pp-opt", "--pp-roll", text=flat)
    again = run("pp-opt", "--pp-unroll", text=rolled)
    assert again == flat, f"{name}: unrolled it is not what it was"
    return len(rolled.splitlines())


for name in names():
    lengths = [length(name, m) for m in (32, 64)]
    print(name, *lengths)
    assert lengths[0] == lengths[1], f"{name}: {lengths}"
