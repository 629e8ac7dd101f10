# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes docs/validation.md, or checks that it is as made.

    python3 -m pipewright.validation            # what takes seconds
    python3 -m pipewright.validation --slow     # all of it, in minutes
    python3 -m pipewright.validation --check

Without --slow the rows that take long stay as the page has them.
"""

from __future__ import annotations

import argparse
import difflib
import pathlib
import re
import sys
import textwrap
from collections.abc import Sequence

from . import activations, iteration, schedules, sizes
from .table import Section, Table

PAGE = pathlib.Path(__file__).resolve().parents[3] / "docs/validation.md"

INTRODUCTION = """\
<!-- Made by 'python3 -m pipewright.validation --slow'. -->
# Public results, and ours

What others published of pipelines and transformers, and what Pipewright says from the same inputs.
`pipewright schedule` and `pipewright inspect` computed what stands under "ours", unless a section
says what else did; [python/pipewright/validation](../python/pipewright/validation) asks them, and
holds what was published, with its source. A test makes this page again and fails if it differs or if
a deviation exceeds the bound of its table. Where a publication does not give all inputs, we say so
and set no bound.
"""


def sections() -> list[Section]:
    parts = (schedules, sizes, activations, iteration)
    return [section for part in parts for section in part.sections()]


class Page:
    """The old page, with the sections in place that are made again."""

    def __init__(self, old: str, with_slow: bool):
        self.old = {
            text.splitlines()[0]: f"## {text}" for text in old.split("\n## ")[1:]
        }
        self.old_lines = old.splitlines()
        self.with_slow = with_slow
        self.problems: list[str] = []

    def make(self, sections: Sequence[Section], only: re.Pattern[str]) -> str:
        parts = [INTRODUCTION]
        for section in sections:
            is_chosen = only.search(section.title)
            kept = self.old.get(section.title, f"## {section.title}\n")
            parts.append(self._section(section) if is_chosen else kept.rstrip("\n"))
        return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"

    def _section(self, section: Section) -> str:
        parts = [f"## {section.title}", _wrap(section.text)]
        parts += [self._table(table) for table in section.tables]
        if section.note:
            parts.append(_wrap(section.note))
        self.problems += [
            f"{section.title}: {problem}"
            for table in section.tables
            for problem in table.problems
        ]
        return "\n\n".join(parts)

    def _table(self, table: Table) -> str:
        lines = [table.head()]
        for line, is_whole in table.lines(self.with_slow):
            lines.append(line if is_whole else self._find(line))
        return "\n".join(lines)

    def _find(self, beginning: str) -> str:
        """The row of the old page that begins so."""
        rows = (line for line in self.old_lines if line.startswith(beginning))
        return next(rows, beginning)


def _wrap(text: str) -> str:
    paragraphs = text.strip().split("\n\n")
    wrapper = textwrap.TextWrapper(100, break_long_words=False, break_on_hyphens=False)
    return "\n\n".join(
        text.strip() if text.lstrip().startswith("|") else wrapper.fill(" ".join(text.split()))
        for text in paragraphs
    )


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="pipewright.validation",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--slow", action="store_true", help="compute all rows")
    parser.add_argument("--only", type=re.compile, default="", metavar="REGEX",
                        help="sections whose title matches")
    parser.add_argument("--check", action="store_true",
                        help="report what differs, write nothing")
    parser.add_argument("--page", type=pathlib.Path, default=PAGE)
    arguments = parser.parse_args()

    old = arguments.page.read_text() if arguments.page.exists() else ""
    page = Page(old, arguments.slow)
    new = page.make(sections(), arguments.only)
    for problem in page.problems:
        print(problem, file=sys.stderr)
    if not arguments.check:
        arguments.page.write_text(new)
    elif old != new:
        difference = difflib.unified_diff(
            old.splitlines(), new.splitlines(), "the page", "as made", lineterm="", n=0
        )
        print(*difference, sep="\n", file=sys.stderr)
        return 1
    return 1 if page.problems else 0


if __name__ == "__main__":
    sys.exit(main())
