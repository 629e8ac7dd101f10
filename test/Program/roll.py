"""Rolls the programs of every schedule.

Rolled and unrolled again they must be what they were. Of schedules with a
period, more micro-batches must not make them longer.
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


# The others have messages that are made in the same moment, of which the dry
# run decides the order; that has no period.
PERIODIC = {"gpipe", "1f1b", "looped-bfs", "zb-h1", "interleaved-zb", "zb-v",
            "hanayo", "v-half"}


def write(name, microbatches):
    """The programs on 4 ranks, or None if the schedule has two directions."""
    arguments = ["--schedule", name, "--ranks", "4", "--microbatches",
                 str(microbatches)]
    written = subprocess.run(["pipewright", "schedule", *arguments,
                              "--format", "mlir"], text=True,
                             capture_output=True)
    if written.returncode == 0:
        return written.stdout
    assert "programs" in written.stderr, written.stderr
    return None


def length(name, microbatches):
    flat = write(name, microbatches)
    if flat is None:
        return None
    flat = run("pp-opt", text=flat)
    rolled = run("pp-opt", "--pp-roll", text=flat)
    again = run("pp-opt", "--pp-unroll", text=rolled)
    assert again == flat, f"{name}: unrolled it is not what it was"
    return len(rolled.splitlines())


for name in names():
    lengths = [length(name, m) for m in (32, 64)]
    print(name, *lengths)
    if name in PERIODIC:
        assert lengths[0] and lengths[0] == lengths[1], f"{name}: {lengths}"
