# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Published figures of schedules, as our simulator computes them."""

from __future__ import annotations

import pathlib
import re
import tomllib
from collections.abc import Iterator, Sequence

from .product import Costs, makespan, schedule, schedule_stages
from .table import Comparison, IdleTime, Row, Section, Table

HERE = pathlib.Path(__file__).resolve().parent
DATA = tomllib.loads((HERE / "data/schedules.toml").read_text())

TWICE = Costs(f=1, b=1, w=1)  # a backward takes two forwards


def sections() -> list[Section]:
    return [_gpipe(), _interleaved(), _unequal(), _zero_bubble(), _dualpipe()]


# GPipe


def _gpipe_throughput(ranks: int, microbatches: int, *options: str) -> float:
    """In models per unit: a micro-batch on a rank is a part of both."""
    work = ranks * microbatches
    return work / makespan("gpipe", ranks, microbatches, TWICE, *options)


def _gpipe_ideal() -> Table:
    def row(ranks: int, microbatches: int) -> Row:
        ideal = ranks * microbatches / (microbatches + ranks - 1)

        def compare() -> list[Comparison]:
            alone = 1 / (TWICE.f + TWICE.b + TWICE.w)
            speedup = _gpipe_throughput(ranks, microbatches) / alone
            return [Comparison(ideal, speedup, digits=3)]

        return Row([f"{ranks}", f"{microbatches}"], compare)

    gpipe = DATA["gpipe"]
    rows = [row(k, m) for k in gpipe["partitions"] for m in gpipe["microbatches"]]
    return Table(["K", "M"], rows)


def _gpipe_measured() -> Table:
    gpipe = DATA["gpipe"]

    def compare(name: str, index: int) -> list[Comparison]:
        ranks = gpipe["partitions"][index]
        base = _gpipe_throughput(2, 1, "--recompute")
        return [
            Comparison(
                published,
                _gpipe_throughput(ranks, microbatches, "--recompute") / base,
                digits=2,
                is_bound=name == "Transformer" and microbatches == 32,
            )
            for microbatches, published in zip(
                gpipe["microbatches"], _measured()[name][index]
            )
        ]

    rows = [
        Row([name, f"{ranks}"], lambda name=name, index=index: compare(name, index))
        for name in _measured()
        for index, ranks in enumerate(gpipe["partitions"])
    ]
    columns = [f"M = {microbatches}," for microbatches in gpipe["microbatches"]]
    return Table(["model", "K"], rows, columns, bound=0.055)


def _measured() -> dict[str, list[list[float]]]:
    torchgpipe = {"AmoebaNet-D, torchgpipe": DATA["torchgpipe"]["throughput"]}
    return DATA["gpipe"]["throughput"] | torchgpipe


def _gpipe() -> Section:
    return Section(
        "GPipe's scaling",
        f"""
{DATA['gpipe']['source']}, and {DATA['torchgpipe']['source']}.

The speedup over one device of K equal partitions with M micro-batches is
K M / (M + K − 1). Bound: exact.
""",
        [_gpipe_ideal(), _gpipe_measured()],
        """
The second table has measured throughput, over that of K = 2 with M = 1, which is the only
form in which it is published; ours is `gpipe --recompute` with equal partitions, and a
backward of two forwards. Inputs are missing: batches were "adjusted to fit memory if
necessary", which is why the Transformer is beyond K M / (M + K − 1) with M = 4; and
AmoebaNet's partitions are unequal by an amount that is not given. They are known well enough
only for the Transformer, whose layers are equal, with so many micro-batches that each is
small anyway. Bound for those: 5.5 %, of which two digits make up to 3 %.
""",
    )


# Interleaved


def _closed_forms() -> Table:
    """1F1B and GPipe take (M + p - 1)(F + B), of which interleaving saves the
    part 1 - 1 / v of the bubble."""

    def row(name: str, ranks: int, microbatches: int, chunks: int) -> Row:
        total = TWICE.f + TWICE.b + TWICE.w
        published = total * (microbatches + (ranks - 1) / chunks)
        options = [f"--chunks={chunks}"] if chunks > 1 else []
        shape = [f"`{name}`", f"{ranks}", f"{microbatches}", f"{chunks}"]
        return Row(
            shape,
            lambda: [
                Comparison(
                    published, makespan(name, ranks, microbatches, TWICE, *options)
                )
            ],
        )

    rows = [
        row(name, ranks, microbatches, 1)
        for ranks, microbatches in ((4, 8), (8, 24), (8, 32))
        for name in ("gpipe", "1f1b")
    ]
    rows += [
        row("interleaved-1f1b", *shape) for shape in ((4, 8, 2), (8, 24, 3), (8, 32, 3))
    ]
    return Table(["schedule", "p", "M", "v"], rows)


def _in_flight() -> Table:
    """Of each rank, in chunks."""

    def row(name: str, ranks: int, microbatches: int, chunks: int, rank: int) -> Row:
        if name == "gpipe":
            published = microbatches
        elif chunks == 1:
            published = ranks - rank
        else:
            published = 2 * (ranks - rank - 1) + (chunks - 1) * ranks + 1
        options = [f"--chunks={chunks}"] if chunks > 1 else []

        def compare() -> list[Comparison]:
            result = schedule(name, ranks, microbatches, TWICE, *options)
            peaks = result["metrics"]["peak_activations"]
            # In micro-batches of a rank's whole share.
            return [Comparison(published, peaks[rank] * chunks)]

        return Row([f"`{name}`, p {ranks}, M {microbatches}, v {chunks}", f"{rank}"],
                   compare)

    rows = [row("gpipe", 8, 32, 1, 0), row("gpipe", 8, 32, 1, 7)]
    rows += [row("1f1b", 8, 32, 1, rank) for rank in range(8)]
    rows += [row("interleaved-1f1b", 4, 8, 2, rank) for rank in range(4)]
    return Table(["micro-batches in flight of", "rank"], rows)


def _torchtitan() -> Table:
    data = DATA["torchtitan"]
    ranks, rates = data["ranks"], data["tokens_per_second"]
    published = rates["interleaved-1f1b"] / rates["1f1b"]

    def row(microbatches: int) -> Row:
        def compare() -> list[Comparison]:
            plain = makespan("1f1b", ranks, ranks, TWICE) / ranks
            interleaved = makespan(
                "interleaved-1f1b", ranks, microbatches, TWICE, "--chunks=2"
            )
            gain = plain / (interleaved / microbatches)
            return [Comparison(published, gain, digits=2, is_bound=False)]

        return Row([f"8 and {microbatches}"], compare)

    return Table(["Llama 405B, micro-batches of plain and interleaved"],
                 [row(ranks), row(2 * ranks)])


def _interleaved() -> Section:
    return Section(
        "Megatron's interleaved schedule against the plain one",
        f"""
{_SC21}, section 2.2: with times F and B of a rank's share, here 1 and 2, a step takes
(M + p − 1) (F + B) with GPipe's schedule and 1F1B, and M (F + B) + (p − 1) (F + B) / v with v
chunks. V. Korthikanti et al., arXiv:2205.05198, section 4.2.3: rank r keeps p − r micro-batches in
flight, interleaved 2 (p − r − 1) + (v − 1) p + 1 chunks of them, which on rank 0 is
1 + (p − 1) / (p v) times as much as without chunks. Bound: exact.
""",
        [_closed_forms(), _in_flight(), _torchtitan()],
        f"""
The last table has a measured gain ({DATA['torchtitan']['source']}: 100 tokens/s with
1F1B, 128 interleaved). It does not say how many micro-batches and chunks there were; 8 micro-batches
and 2 chunks come near, and as many micro-batches as stages, torchtitan's default, would gain more
than was measured.
""",
    )


_SC21 = """D. Narayanan et al., "Efficient Large-Scale Language Model Training on GPU \
Clusters Using Megatron-LM", SC21, arXiv:2104.04473"""


# What closed forms do not say


def _slow_stage() -> Table:
    ranks, microbatches = 4, 16

    def row(position: int, expected: float) -> Row:
        stages = [{"f": 1, "b": 1, "w": 1} for _ in range(ranks)]
        stages[position] = {"f": 2, "b": 2, "w": 2}

        def compare() -> list[Comparison]:
            result = schedule_stages("1f1b", ranks, microbatches, stages)
            return [Comparison(expected, result["metrics"]["makespan"])]

        return Row([f"{position}"], compare)

    rows = [row(position, 99 + 2 * position) for position in range(ranks)]
    return Table(["slow stage"], rows, reference="expected")


def _latency() -> Table:
    ranks, microbatches = 4, 16

    def row(latency: float) -> Row:
        # A steady micro-batch pays as well: once per p of them on each rank, and
        # once for each but the first of the last incomplete group.
        groups, rest = divmod(microbatches - 1, ranks)
        hops = (ranks - 1) * (1 + groups) + max(0, rest - 1)
        expected = 3 * (microbatches + ranks - 1) + 2 * latency * hops

        def compare() -> list[Comparison]:
            costs = Costs(f=1, b=1, w=1, comm=latency)
            return [Comparison(expected, makespan("1f1b", ranks, microbatches, costs))]

        return Row([f"{latency:g}"], compare)

    rows = [row(latency) for latency in (0.1, 0.5, 1)]
    return Table(["time of a hop"], rows, reference="expected")


def _unequal() -> Section:
    return Section(
        "What closed forms do not say",
        """
1F1B on 4 ranks with 16 micro-batches, F = 1 and B = 2. First, one stage is twice as slow: planners
that take the sum of all stages and M − 1 times the slowest (S. Fan et al., "DAPPLE",
PPoPP 2021, arXiv:2007.01045) say 105 wherever it is. Then a hop between ranks takes
time: who adds 2 (p − 1) hops once gets 57.6, 60 and 63. What is expected here is not published: it
comes from another simulator. Bound: exact.
""",
        [_slow_stage(), _latency()],
    )


# Zero bubble


ROW = re.compile(r"^\s+\{(\d+), (\d+), \{([^}]*)\}, ([^}]*)\}[,}]", re.MULTILINE)


def _zero_bubble_rows() -> Iterator[tuple[str, int, int, Costs, Sequence[float]]]:
    """The table that our C++ tests have too: model, ranks, micro-batches,
    times, and the rates of 1F1B, ZB-H1, ZB-H2, ZB-2p."""
    table = HERE.parents[2] / "test/ZeroBubbleTable.h"
    rows = ROW.findall(table.read_text())
    models = DATA["zero-bubble"]["models"]
    assert len(rows) == 3 * len(models), f"{table} has {len(rows)} rows"
    for index, (ranks, microbatches, times, others) in enumerate(rows):
        f, b, w = map(float, times.split(","))
        comm, *rates = map(float, others.split(","))
        costs = Costs(f, b, w, comm)
        yield models[index // 3], int(ranks), int(microbatches), costs, rates


def _span_rate(*arguments: object) -> float:
    """The idle part of the longest span of a rank."""
    metrics = schedule(*arguments)["metrics"]
    return metrics["span_bubble"] / metrics["span"]


def _zero_bubble() -> Section:
    by_hand, searched = [], []
    for model, ranks, microbatches, costs, rates in _zero_bubble_rows():
        key = [model, f"{ranks}", f"{microbatches}"]

        def compare(shape=(ranks, microbatches, costs), rates=rates):
            names = ("1f1b", "zb-h1", "zb-h2")
            return [
                IdleTime(rate, round(_span_rate(name, *shape), 4), digits=4)
                for name, rate in zip(names, rates)
            ]

        def search(shape=(ranks, microbatches, costs), rate=rates[3]):
            options = ["--objective=span", f"--memory-limit={2 * shape[0]}"]
            ours = round(_span_rate("auto", *shape, *options), 4)
            return [IdleTime(rate, ours, digits=4, is_bound=ours > rate)]

        by_hand.append(Row(key, compare))
        searched.append(Row(key, search, slow=(ranks, microbatches) != (8, 24)))
    key = ["model", "p", "M"]
    return Section(
        "Zero bubble",
        f"""
{DATA['zero-bubble']['source']}. The rate is the idle part of the
longest time from a rank's first start to its last end; the deviation is that of this time. Bound:
exact in the four digits that are published.
""",
        [
            Table(key, by_hand, ["1F1B", "ZB-H1", "ZB-H2"]),
            Table(key, searched, ["ZB-2p"], bound=0.001),
        ],
        """
ZB-2p is the result of the authors' search with room for 2 p micro-batches; ours is
`--schedule auto --objective span --memory-limit 2p`. Bound: a step at most 0.1 % longer. Their
count of memory leaves out what only the gradient for the inputs needs once that is done, ours
does not; with more room, `auto` is faster than all of these.
""",
    )


# DualPipe


def _dualpipe_row(name: str, ranks: int, microbatches: int, costs: Costs) -> Row:
    """Costs are those of a stage; each rank of a V has two."""
    stages = 2 if name == "dualpipev" else 1
    half = ranks * stages // 2
    backward = costs.b + costs.w
    published = (half - 1) * (costs.fb + backward - 3 * costs.w)
    exact = published - min((half - 1) * (costs.b - costs.f), costs.f)
    share = Costs(*(stages * value for value in (costs.f, costs.b, costs.w)), 0,
                  stages * costs.fb)

    def compare() -> list[Comparison]:
        idle = max(schedule(name, ranks, microbatches, share)["metrics"]["idle"])
        return [
            Comparison(published, idle, digits=2, is_bound=costs.b == costs.f),
            Comparison(exact, idle, digits=2),
        ]

    times = "/".join(f"{time:g}" for time in (costs.f, costs.b, costs.w, costs.fb))
    return Row([f"`{name}`", f"{ranks}", f"{microbatches}", times], compare)


def _dualpipe() -> Section:
    equal = Costs(1, 1, 1, 0, 2.5)
    overlapped = Costs(2, 2, 1, 0, 3.5)
    rows = [
        _dualpipe_row("dualpipe", 8, 20, equal),
        _dualpipe_row("dualpipe", 16, 40, equal),
        _dualpipe_row("dualpipe", 16, 64, overlapped),
        _dualpipe_row("dualpipev", 4, 10, equal),
        _dualpipe_row("dualpipev", 8, 32, overlapped),
        _dualpipe_row("dualpipe", 16, 64, Costs(1, 1.25, 0.75, 0, 2.5)),
        _dualpipe_row("dualpipe", 16, 64, Costs(1, 1.1, 0.75, 0, 2.5)),
    ]
    return Section(
        "DeepSeek-V3's DualPipe",
        """
README.md of github.com/deepseek-ai/DualPipe: the bubble is
(PP / 2 − 1) (F&B + B − 3 W), where PP counts stages, of which a rank of `dualpipev` has two, F&B is
the time of an overlapped pair, and B that of the *whole* backward. DeepSeek-V3 has 16 ranks. Times in
the table are those of a stage: F, the gradient for the inputs, W, F&B. The bubble is that of
the idlest rank.
""",
        [
            Table(
                ["schedule", "p", "M", "times"], rows, ["", "general form,"]
            )
        ],
        """
The published form is exact if the gradient for the inputs takes as long as a forward, and too
high by up to F if it takes longer; the general one is in [Schedules](Schedules.md). Bound: exact,
for the published form where it is. `pipewright schedule` takes the time of a pair as an input; how
the two halves of a pair share a device's streams, which github.com/deepseek-ai/profile-data shows for
one layer, is not among the things that a command computes, and so is not compared.
""",
    )
