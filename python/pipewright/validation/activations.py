# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Published memory of activations, and what our schedules and compiler keep."""

from __future__ import annotations

import pathlib
import tomllib
from collections.abc import Callable
from functools import partial
from typing import Any

from ..models.gpt import GptConfig
from .product import Costs, inspect, schedule
from .table import Comparison, Row, Section, Table

DATA = tomllib.loads(
    (pathlib.Path(__file__).parent / "data/korthikanti.toml").read_text()
)

MIB = 2**20
GIB = 2**30

Model = dict[str, Any]


def sections() -> list[Section]:
    return [_published(), _kept()]


def _unit(model: Model) -> int:
    """s b h: the numbers of an activation between layers."""
    return DATA["sequence"] * model["microbatch"] * model["width"]


def _scores(model: Model) -> float:
    """a s / h: scores of attention per number of an activation."""
    return model["heads"] * DATA["sequence"] / model["width"]


def _layer_bytes(model: Model) -> dict[str, float]:
    """Table 2: what a rank keeps of a layer that `tensor` ranks share."""
    t, unit, scores = DATA["tensor"], _unit(model), _scores(model)
    return {
        "none": unit * (10 + 24 / t + 5 * scores / t),
        "sequence": unit * (34 + 5 * scores) / t,
        "selective": unit * (10 + 24 / t),
        "both": unit * 34 / t,
        "full": unit * 2,
    }


def _layers_in_flight(model: Model) -> float:
    """On the first rank, as our simulator counts them."""
    ranks, chunks = model["pipeline"], model["chunks"]
    name = "interleaved-1f1b" if chunks > 1 else "1f1b"
    options = [f"--chunks={chunks}"] if chunks > 1 else []
    microbatches = model["batch"] // model["microbatch"]
    result = schedule(name, ranks, microbatches, Costs(), *options)
    shares = result["metrics"]["peak_activations"][0]
    return shares * model["layers"] / ranks


def _gpt(model: Model, dropout: float = 0) -> GptConfig:
    """Three layers of the model."""
    return GptConfig(
        layers=3,
        width=model["width"],
        heads=model["heads"],
        sequence=DATA["sequence"],
        vocabulary=DATA["vocabulary"],
        mask="trilu",
        dropout=dropout,
        no_weights=True,
    )


def _middle_layer(model: Model, dropout: float) -> dict[str, Any]:
    layers = inspect(_gpt(model, dropout), "--precision=bf16")["layers"]
    return next(layer for layer in layers if layer["name"] == "transformer/h.1")


def _weight_bytes(model: Model) -> float:
    """18 bytes per parameter of the matrices, as the importer counts them."""
    biases_and_gains = 13 * model["width"]
    matrices = _middle_layer(model, dropout=0)["parameters"] - biases_and_gains
    return 18 * matrices * model["layers"] / (DATA["tensor"] * model["pipeline"])


def _in_flight(model: Model, layer: float) -> float:
    return layer * _layers_in_flight(model)


def _rows(model: Model) -> list[Row]:
    layer, gib, mib = _layer_bytes(model), model["gib"], model["layer-mib"]
    none, both, full = layer["none"], layer["both"], layer["full"]
    held = "selective, sequence parallelism"
    results: list[tuple[str, float, int, Callable[[], float]]] = [
        ("weights and optimizer", gib["weights"], GIB, partial(_weight_bytes, model)),
        ("no recomputation", gib["none"], GIB, partial(_in_flight, model, none)),
        (held, gib["selective"], GIB, partial(_in_flight, model, both)),
        ("a layer, no recomputation", mib["none"], MIB, lambda: none),
        (f"a layer, {held}", mib["selective"], MIB, lambda: both),
        ("a layer, full", mib["full"], MIB, lambda: full),
    ]

    def row(what: str, published: float, unit: int, ours: Callable[[], float]) -> Row:
        key = [model["name"], f"{what}, {'GiB' if unit == GIB else 'MiB'}"]
        return Row(key, lambda: [Comparison(published, ours() / unit)])

    return [row(*result) for result in results]


def _published() -> Section:
    def compare(model: Model) -> list[Comparison]:
        layer = _layer_bytes(model)
        return [
            Comparison(published, 100 * layer[policy] / layer["none"], digits=2)
            for policy, published in model["percent"].items()
        ]

    rows = [row for model in DATA["models"] for row in _rows(model)]
    shares = [
        Row([model["name"]], lambda model=model: compare(model))
        for model in DATA["models"]
    ]
    columns = ["sequence parallelism,", "selective,", "both,", "full,"]
    return Section(
        "Memory of activations",
        f"""
{DATA['source']}: figure 1 and table 2. With s tokens, b samples in a micro-batch, width h,
a heads and t = 8 ranks that share a layer, it keeps s b h (10 + 24 / t + 5 a s / (h t)) bytes, with sequence
parallelism and selective recomputation 34 s b h / t, with full recomputation 2 s b h. Ours is this
times the layers in flight on the first rank, which `pipewright schedule` counts (1 + (p − 1) / (p v) times
as many if interleaved), and for weights 18 bytes times the parameters of the matrices that
`pipewright inspect` counts. Bound: exact.
""",
        [
            Table(["model", "what a rank holds"], rows),
            Table(["percent of tensor parallelism alone"], shares, columns, bound=0.012),
        ],
        """
The second table is figure 7. What makes its percentages differ from the formulas of table 2, the
paper does not say. Bound: 1.2 %.
""",
    )


# Bytes per number of an activation and per score of attention: the paper's without
# recomputation, ours without it, and ours with the selective one.
TERMS = {
    "inputs of the two normalizations": ((4, 0), (6, 0), (6, 0)),
    "input of the product that makes queries, keys and values": (
        (2, 0), (2, 0), (0, 0)
    ),
    "queries, keys and values": ((6, 0), (6, 0), (6, 0)),
    "softmax": ((0, 2), (0, 4), (0, 0)),
    "dropout of the softmax: mask and result": ((0, 3), (0, 0), (0, 0)),
    "input of the projection": ((2, 0), (2, 0), (2, 0)),
    "masks of the other two dropouts": ((2, 0), (0, 0), (0, 0)),
    "input of the MLP": ((2, 0), (2, 0), (0, 0)),
    "input of GELU": ((8, 0), (8, 0), (8, 0)),
    "result of GELU": ((8, 0), (8, 0), (0, 0)),
}


def _sum(side: int, scores: float) -> float:
    terms = (term[side] for term in TERMS.values())
    return sum(per_number + per_score * scores for per_number, per_score in terms)


def _show(term: tuple[int, int]) -> str:
    number, score = term
    parts = [f"{number}"] if number or not score else []
    return " + ".join(parts + ([f"{score} a s / h"] if score else []))


def _terms() -> str:
    lines = [
        "| bytes / (s b h) | theirs | ours | ours, selective |",
        "| --- | --- | --- | --- |",
    ]
    for name, sides in TERMS.items():
        lines.append(f"| {name} | {' | '.join(map(_show, sides))} |")
    return "\n".join(lines)


def _kept_by(model: Model, dropout: float, key: str = "residual_bytes") -> float:
    """By our compiler of a layer, over s b h."""
    kept = _middle_layer(model, dropout)[key]
    return kept / (DATA["sequence"] * model["width"])


def _kept() -> Section:
    def compare(model: Model) -> list[Comparison]:
        scores = _scores(model)
        # Means and deviations of the two normalizations, in f32.
        ours = _sum(1, scores) + 16 / model["width"]
        dropped = _kept_by(model, dropout=0.1)
        return [
            Comparison(_sum(0, scores), dropped, digits=2, is_bound=False),
            Comparison(ours, dropped, digits=2),
            Comparison(34, _kept_by(model, dropout=0), digits=2, is_bound=False),
        ]

    rows = [
        Row([model["name"]], lambda model=model: compare(model))
        for model in DATA["models"]
    ]
    columns = ["34 + 5 a s / h,", "sum of our terms,", "without dropout,"]

    def compare_policies(model: Model) -> list[Comparison]:
        selective = _kept_by(model, 0.1, "residual_bytes_selective")
        full = _kept_by(model, 0.1, "residual_bytes_full")
        return [
            Comparison(34, selective, digits=2, is_bound=False),
            Comparison(_sum(2, _scores(model)), selective, digits=2),
            Comparison(2, full, digits=2),
        ]

    policies = [
        Row([model["name"]], lambda model=model: compare_policies(model))
        for model in DATA["models"]
    ]
    return Section(
        "What the compiler keeps of a layer",
        """
The paper's s b h (34 + 5 a s / h) bytes of a GPT layer that is not shared (t = 1), and the `residual_bytes`
that `pipewright inspect --precision bf16` gives for a layer of our GPT with dropout. Bound: exact for
the sum of the terms below; the rest are other choices, and have none.
""",
        [
            Table(["model"], rows, columns, reference="expected"),
            Table(["recomputation"], policies,
                  ["selective,", "sum of our terms,", "full,"], "expected"),
        ],
        """
Without dropout, attention is one op that keeps no scores, and the count is that of the paper for
selective recomputation. The second table has recomputation: our selective one also makes the results of
normalizations and GELU again.

Masks are not kept, since they are made again from a counter. What is added up between layers is in f32 inside of
a layer, and so are softmax and what it keeps; its dropped result is computed again.
""" + "\n\n" + _terms(),
    )
