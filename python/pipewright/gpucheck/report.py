# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What came out of each part, as JSON and as a page."""

from __future__ import annotations

import json
import pathlib
from dataclasses import asdict, dataclass, field
from typing import Any

PASSED = "passed"
FAILED = "failed"
MISSED = "missed its goal"
SKIPPED = "skipped"


class Skip(Exception):
    """What a part needs is missing; the message says what."""


class Failure(Exception):
    """Something is wrong; the message says what."""


@dataclass
class Part:
    name: str
    status: str = PASSED
    #: Why it is not passed, or what came out in a sentence.
    text: str = ""
    seconds: float = 0.0
    #: Rows of a table, each a dictionary with the same keys.
    rows: list[dict[str, Any]] = field(default_factory=list)

    def miss(self, text: str) -> None:
        self.status, self.text = MISSED, text


def show(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def page(facts: dict[str, Any], parts: list[Part]) -> str:
    """The report in Markdown."""
    lines = ["# What this machine's GPU says", ""]
    lines += [f"- {name}: {show(value)}" for name, value in facts.items()]
    lines += ["", "| part | | seconds | |", "|---|---|---|---|"]
    for part in parts:
        lines.append(
            f"| {part.name} | {part.status} | {part.seconds:.0f} | {part.text} |"
        )
    for part in parts:
        if not part.rows:
            continue
        keys = list(part.rows[0])
        lines += ["", f"## {part.name}", "", f"| {' | '.join(keys)} |"]
        lines.append("|" + "---|" * len(keys))
        for row in part.rows:
            lines.append(f"| {' | '.join(show(row.get(key, '')) for key in keys)} |")
    return "\n".join(lines) + "\n"


def write(folder: pathlib.Path, facts: dict[str, Any], parts: list[Part]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "report.md").write_text(page(facts, parts))
    everything = {"machine": facts, "parts": [asdict(part) for part in parts]}
    (folder / "report.json").write_text(json.dumps(everything, indent=1) + "\n")
