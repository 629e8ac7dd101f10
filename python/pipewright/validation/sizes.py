# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Parameters and FLOPs of published models, as our importer counts them."""

from __future__ import annotations

import pathlib
import tomllib
from typing import Any

from ..models.gpt import GptConfig
from ..models.llama import LlamaConfig
from .product import inspect
from .table import Comparison, Row, Section, Table

DATA = tomllib.loads((pathlib.Path(__file__).parent / "data/sizes.toml").read_text())


def sections() -> list[Section]:
    return [_parameters(), _flops()]


def _llama(model: dict[str, Any]) -> LlamaConfig:
    shape = {key: model[key] for key in ("layers", "width", "heads", "groups", "hidden")}
    return LlamaConfig(
        vocabulary=DATA["llama"]["vocabulary"], no_weights=True, **shape
    )


def gpt(model: dict[str, Any]) -> GptConfig:
    """A GPT with learned positions, biases and a tied head."""
    return GptConfig(
        layers=model["layers"],
        width=model["width"],
        heads=model["heads"],
        sequence=DATA["gpt"]["sequence"],
        vocabulary=DATA["gpt"]["vocabulary"],
        mask="trilu",
        no_weights=True,
    )


def _is_slow(model: dict[str, Any]) -> bool:
    """All but the smallest ones and the largest."""
    return 25 < float(model["billions"]) < 1000


def _gpt_parameters(model: dict[str, Any]) -> int:
    """The paper's P, and the last normalization, which it leaves out."""
    h, layers = model["width"], model["layers"]
    tables = (DATA["gpt"]["vocabulary"] + DATA["gpt"]["sequence"]) * h
    return layers * (12 * h * h + 13 * h) + tables + 2 * h


def _parameters() -> Section:
    def llama_row(model: dict[str, Any]) -> Row:
        return Row(
            [f"Llama 3 {model['name']}"],
            lambda: [
                Comparison(
                    model["parameters"], inspect(_llama(model))["parameters"], digits=0
                )
            ],
        )

    def gpt_row(model: dict[str, Any]) -> Row:
        formula = _gpt_parameters(model)
        # What the paper prints is the formula, in billions.
        assert f"{formula / 1e9:.1f}" == model["billions"], model
        return Row(
            [f"GPT {model['billions']}B"],
            lambda: [Comparison(formula, inspect(gpt(model))["parameters"], digits=0)],
            _is_slow(model),
        )

    rows = [*map(llama_row, DATA["llama"]["models"])]
    rows += [*map(gpt_row, DATA["gpt"]["models"])]
    return Section(
        "Numbers of parameters",
        f"""
Llama: {DATA['llama']['source']}. GPT: {DATA['gpt']['source']}, which has them in
billions with one decimal; in full they are its formula
P = 12 L h² (1 + 13 / (12 h) + (V + s) / (12 L h)), and 2 h of the last normalization.
Ours are what the importer counts in an ONNX model of that size whose weights are inputs
without values: a file of at most four megabytes. Bound: exact.
""",
        [Table(["model"], rows)],
    )


def _products(model: dict[str, Any]) -> float:
    """FLOPs of an iteration without recomputation, by the paper's formula."""
    h, layers, s = model["width"], model["layers"], DATA["gpt"]["sequence"]
    head = DATA["gpt"]["vocabulary"] / (12 * layers * h)
    return 72 * model["batch"] * s * layers * h * h * (1 + s / (6 * h) + head)


def _scores(model: dict[str, Any]) -> float:
    """FLOPs of the product of queries and keys of an iteration."""
    s = DATA["gpt"]["sequence"]
    return 2 * model["batch"] * s * s * model["width"] * model["layers"]


def _flops() -> Section:
    def row(model: dict[str, Any]) -> Row:
        def compare() -> list[Comparison]:
            ours = model["batch"] * sum(
                layer[f"flops_{part}"]
                for layer in inspect(gpt(model))["layers"]
                for part in ("forward", "backward_input", "backward_weight")
            )
            products = _products(model)
            return [
                Comparison(products, ours, digits=4, unit=1e18),
                Comparison(products + _scores(model), ours, digits=4, unit=1e18),
            ]

        return Row(
            [f"GPT {model['billions']}B", f"{model['batch']}"], compare, _is_slow(model)
        )

    return Section(
        "FLOPs of an iteration",
        f"""
{DATA['gpt']['source']} and section 5.1: 96 B s L h² (1 + s / (6 h) + V / (16 L h))
with recomputation of all layers, of which 72 B s L h² (1 + s / (6 h) + V / (12 L h))
without it. In 10¹⁸ FLOPs. Bound: 3 %.
""",
        [
            Table(
                ["model", "batch"],
                [row(model) for model in DATA["gpt"]["models"]],
                ["", "with the scores again,"],
                bound=0.03,
            )
        ],
        """
The formula counts matrix products only. We count all ops, and the scores twice, since
our attention keeps none of them and its gradient computes them again; the second
comparison adds those 2 B s² h L. What is left are normalizations, biases, GELU, softmax,
masks, the loss, and sums of gradients: a part that falls with the width. Neither the
formula nor we take off the half of the scores that a causal mask hides.
""",
    )
