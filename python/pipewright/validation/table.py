# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tables of published results beside our own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

ROUNDING = 1e-9  # what an exact result may differ by: sums of floats


@dataclass(frozen=True)
class Comparison:
    published: float
    ours: float
    digits: int | None = None  # after the point; None: as many as there are
    unit: float = 1  # what is shown is divided by it
    is_bound: bool = True  # else not all inputs are known: shown only

    @property
    def deviation(self) -> float:
        return self.ours / self.published - 1

    def show(self, value: float) -> str:
        value /= self.unit
        return f"{value:.12g}" if self.digits is None else f"{value:,.{self.digits}f}"

    def show_deviation(self) -> str:
        if abs(self.deviation) <= ROUNDING:
            return "0"
        sign = "−" if self.deviation < 0 else "+"
        return sign + _percent(abs(self.deviation))


@dataclass(frozen=True)
class IdleTime(Comparison):
    """Of parts of a step: the deviation is that of the time of the step."""

    @property
    def deviation(self) -> float:
        return (1 - self.published) / (1 - self.ours) - 1


@dataclass(frozen=True)
class Row:
    """What is compared, and the results; `slow` ones take minutes."""

    key: Sequence[str]
    compare: Callable[[], Sequence[Comparison]]
    slow: bool = False


@dataclass
class Table:
    """One or several comparisons per row, in columns called `columns`."""

    key: Sequence[str]
    rows: Sequence[Row]
    columns: Sequence[str] = ("",)
    reference: str = "published"
    bound: float = ROUNDING  # of a deviation
    has_mean: bool = False  # a last line tells the mean and the largest deviation
    problems: list[str] = field(default_factory=list)

    def head(self) -> str:
        cells = list(self.key)
        for column in self.columns:
            cells += [f"{column} {self.reference}".strip(), "ours", "deviation"]
        return f"{_line(cells)}\n{_line(['---'] * len(cells))}"

    def lines(self, with_slow: bool) -> Iterator[tuple[str, bool]]:
        """Each row, and whether it is whole: without slow ones, some are only
        what they begin with."""
        deviations = []
        for row in self.rows:
            if row.slow and not with_slow:
                yield _line(row.key), False
                continue
            cells = list(row.key)
            for comparison in row.compare():
                cells += [
                    comparison.show(comparison.published),
                    comparison.show(comparison.ours),
                    comparison.show_deviation(),
                ]
                deviations.append(abs(comparison.deviation))
                if comparison.is_bound and abs(comparison.deviation) > self.bound:
                    self.problems.append(
                        f"{', '.join(row.key)}: deviation {comparison.deviation:+.4%} "
                        f"is beyond {self.bound:.4%}"
                    )
            yield _line(cells), True
        if self.has_mean:
            mean = sum(deviations) / len(deviations)
            yield "", True
            most = _percent(max(deviations))
            yield f"The deviation is {_percent(mean)} on average, {most} at most.", True


@dataclass
class Section:
    """A public result: what it is, where it is published, and how we compare."""

    title: str
    text: str
    tables: Sequence[Table]
    note: str = ""


def _percent(part: float) -> str:
    return f"{100 * part:.2f} %"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
