# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls `pipewright build` and `pipewright run`.

Options are keyword arguments: `microbatch_size=2` is `--microbatch-size 2`, a
list repeats the option, True is an option without a value.
"""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
from collections.abc import Sequence
from typing import Any

Path = str | os.PathLike[str]


class CommandError(RuntimeError):
    """A program refused its input or failed."""

    def __init__(self, command: Sequence[str], status: int, diagnostics: str):
        super().__init__(
            f"{' '.join(command)}: exit status {status}\n{diagnostics.rstrip()}"
        )
        self.status = status
        self.diagnostics = diagnostics


def flags(options: dict[str, Any]) -> list[str]:
    words = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        for item in value if isinstance(value, (list, tuple)) else [value]:
            if item is True:
                words.append(flag)
            elif item is not None and item is not False:
                words += [flag, str(item)]
    return words


def call(*command: Path) -> str:
    """The standard output of a command."""
    words = [os.fspath(word) for word in command]
    result = subprocess.run(words, capture_output=True, text=True)
    if result.returncode != 0:
        raise CommandError(words, result.returncode, result.stderr)
    return result.stdout


def build(model: Path, output: Path, **options: Any) -> dict[str, Any]:
    """Compiles a model; the manifest of what was made."""
    call("pipewright", "build", model, "-o", output, *flags(options))
    return json.loads((pathlib.Path(output) / "manifest.json").read_text())


def run(directory: Path, *arguments: str, **options: Any) -> list[dict[str, Any]]:
    """Trains, or evaluates, what `build` made; the lines of its log."""
    output = call(
        "pipewright", "run", directory, "--log", "jsonl", *arguments, *flags(options)
    )
    return [json.loads(line) for line in output.splitlines()]
