# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What '--trace' says of a run, against what the schedule says."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

COMPUTE = re.compile(r"(F|B|W|BW|R) s(\d+) mb(\d+)")


@dataclass(frozen=True)
class Action:
    op: str
    stage: int
    microbatch: int
    begin: float  # seconds
    seconds: float

    @property
    def end(self) -> float:
        return self.begin + self.seconds

    def key(self) -> tuple[str, int, int]:
        return self.op, self.stage, self.microbatch


def last_step(trace: dict[str, Any]) -> list[list[Action]]:
    """What each rank computed in the last step, in order of time."""
    steps: dict[int, list[list[Action]]] = defaultdict(lambda: [[]])
    events = [event for event in trace["traceEvents"] if event.get("ph") == "X"]
    for event in sorted(events, key=lambda event: event["ts"]):
        found = COMPUTE.fullmatch(event["name"])
        rank = steps[event["pid"]]
        if found:
            op, stage, microbatch = found[1], int(found[2]), int(found[3])
            begin, seconds = event["ts"] / 1e6, event["dur"] / 1e6
            rank[-1].append(Action(op, stage, microbatch, begin, seconds))
        elif event["cat"] == "update" and rank[-1]:
            rank.append([])
    return [
        next((step for step in reversed(steps[rank]) if step), [])
        for rank in sorted(steps)
    ]


def first_difference(
    planned: list[list[dict[str, Any]]], measured: list[list[Action]]
) -> str:
    """Where the order is not the planned one; empty if it is."""
    if len(planned) != len(measured):
        return f"{len(measured)} ranks ran, and {len(planned)} were planned"
    for rank, (wanted, found) in enumerate(zip(planned, measured)):
        keys = [(a["op"], a["stage"], a["mb"]) for a in wanted if COMPUTE.match(text(a))]
        actual = [action.key() for action in found]
        for place, (one, other) in enumerate(zip(keys, actual)):
            if one != other:
                return f"action {place} of rank {rank} is {other}, planned is {one}"
        if len(keys) != len(actual):
            return f"rank {rank} ran {len(actual)} actions, planned are {len(keys)}"
    return ""


def text(action: dict[str, Any]) -> str:
    return f"{action['op']} s{action['stage']} mb{action['mb']}"


def stage_costs(measured: list[list[Action]]) -> list[dict[str, float]]:
    """Mean times of each stage, as 'pipewright schedule --stage-cost' takes
    them; a backward in one piece counts half to each of its gradients."""
    times: dict[tuple[int, str], list[float]] = defaultdict(list)
    for action in (action for rank in measured for action in rank):
        for op in ("B", "W") if action.op == "BW" else (action.op,):
            share = 0.5 if action.op == "BW" else 1.0
            times[action.stage, op].append(share * action.seconds)
    stages = 1 + max(stage for stage, _ in times)

    def mean(stage: int, op: str) -> float:
        values = times[stage, op]
        return sum(values) / len(values) if values else 0.0

    return [
        {name: mean(stage, name.upper()) for name in ("f", "b", "w")}
        for stage in range(stages)
    ]


def span(measured: list[list[Action]]) -> float:
    actions = [action for rank in measured for action in rank]
    return max(a.end for a in actions) - min(a.begin for a in actions)


def concurrency(measured: list[list[Action]]) -> float:
    """How many ranks compute at a time, on average over the step."""
    busy = sum(action.seconds for rank in measured for action in rank)
    return busy / span(measured)
