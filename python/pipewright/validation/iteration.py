# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times of Megatron-LM's steps on A100: layers by formula, the pipeline by
`pipewright schedule`.

    python3 -m pipewright.validation.iteration    # fits what the data files hold
"""

from __future__ import annotations

import copy
import functools
import pathlib
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .megatron import WIDTH, Device, Layer, Link, read
from .product import schedule_stages
from .table import Comparison, Row, Section, Table

FOLDER = pathlib.Path(__file__).parent / "data"
DATA = tomllib.loads((FOLDER / "korthikanti.toml").read_text())

POLICIES = {"full": "full", "selective": "selective, with sequence parallelism"}

# Bytes per parameter of an update in mixed precision: gradients are unscaled
# (8), their norm is taken (4), Adam reads them (4) and passes over the parameter
# and two moments (24), the parameter is copied in 16 bits (6), and gradients are
# set to zero (4).
UPDATE_BYTES = 50


@dataclass(frozen=True)
class Machine:
    device: Device
    inside: Link
    between: Link

    @classmethod
    def of(cls, device: dict[str, Any], topology: dict[str, Any]) -> Machine:
        inside, between = (
            Link(link["latency_seconds"], link["bytes_per_second"])
            for link in (topology["links"][key] for key in ("nvlink", "infiniband"))
        )
        return cls(Device(device), inside, between)


def machine() -> Machine:
    device = read(FOLDER / "a100-megatron.json")
    return Machine.of(device, read(FOLDER / "dgx-a100-megatron.json"))


def _layer(machine: Machine, model: dict[str, Any], sequence_parallel: bool) -> Layer:
    return Layer(
        machine.device,
        machine.inside,
        DATA["tensor"],
        model["heads"],
        model["width"],
        DATA["sequence"],
        model["microbatch"],
        sequence_parallel,
    )


def _add_head(device: Device, layer: Layer, stage: dict[str, float]) -> None:
    """Logits and their cross entropy, which passes over them in 32 bits."""
    vocabulary = DATA["vocabulary"] // layer.tensor
    product = device.product(layer.rows, layer.width, vocabulary)
    logits = layer.rows * vocabulary
    stage["f"] += product + 3 * device.pass_over(4 * logits)
    stage["b"] += 2 * product + device.pass_over(6 * logits)


def seconds(machine: Machine, model: dict[str, Any], policy: str) -> float:
    """Of a step with `full` recomputation, or with `selective` recomputation
    and sequence parallelism."""
    layer = _layer(machine, model, sequence_parallel=policy == "selective")
    forward, backward = layer.forward(), layer.backward()
    backward += forward if policy == "full" else layer.attention()

    ranks, chunks = model["pipeline"], model["chunks"]
    layers = model["layers"] / (ranks * chunks)
    # Each rank sends its part of the activations and waits for that.
    message = WIDTH * layer.rows * model["width"] / layer.tensor
    hop = machine.between.latency + message / machine.between.bandwidth
    stages = [
        {"f": layers * forward + hop, "b": layers * backward + hop, "w": 0.0}
        for _ in range(ranks * chunks)
    ]
    stages[-1]["f"] -= hop
    stages[0]["b"] -= hop
    _add_head(machine.device, layer, stages[-1])

    name = "interleaved-1f1b" if chunks > 1 else "1f1b"
    options = [f"--chunks={chunks}"] if chunks > 1 else []
    microbatches = model["batch"] // model["microbatch"]
    result = schedule_stages(name, ranks, microbatches, stages, *options)
    weights = 12 * model["width"] ** 2 * model["layers"] / ranks
    parameters = (weights + DATA["vocabulary"] * model["width"]) / layer.tensor
    update = machine.device.pass_over(UPDATE_BYTES * parameters)
    return result["metrics"]["makespan"] + update


# The fit


def fitted(values: Sequence[float]) -> Machine:
    """The machine with other parts of the peak for products of 2e10 and 1e12 FLOPs
    and another bandwidth inside a node, in 300 GB/s."""
    small, large, link = values
    device = copy.deepcopy(machine().device.table)
    device["compute_efficiency"][-2:] = [[2e10, small], [1e12, large]]
    topology = read(FOLDER / "dgx-a100-megatron.json")
    topology["links"]["nvlink"]["bytes_per_second"] = 300e9 * link
    return Machine.of(device, topology)


def error(values: Sequence[float], policies: Sequence[str] = tuple(POLICIES)) -> float:
    """The sum of the squares of the relative deviations."""
    machine = fitted(values)
    return sum(
        (seconds(machine, model, policy) / model["seconds"][policy] - 1) ** 2
        for model in DATA["models"]
        for policy in policies
    )


def fit(policies: Sequence[str] = tuple(POLICIES)) -> list[float]:
    """Least squares, by a search along the axes whose steps become smaller."""
    best, step = [0.6, 0.8, 0.7], 0.1
    least = error(best, policies)
    while step > 1e-3:
        moved = False
        for index in range(len(best)):
            for factor in (1 + step, 1 - step):
                other = [*best[:index], best[index] * factor, *best[index + 1 :]]
                if (new := error(other, policies)) < least * (1 - 1e-4):
                    best, least, moved = other, new, True
        step /= 1 if moved else 2
    return best


@functools.cache
def _fitted_to_full() -> Machine:
    return fitted(fit(["full"]))


# The page


def sections() -> list[Section]:
    return [_steps(), _layers()]


def _steps() -> Section:
    def row(model: dict[str, Any], policy: str) -> Row:
        published = model["seconds"][policy]
        return Row(
            [model["name"], POLICIES[policy]],
            lambda: [Comparison(published, seconds(machine(), model, policy), digits=2)],
        )

    def predict(model: dict[str, Any]) -> list[Comparison]:
        ours = seconds(_fitted_to_full(), model, "selective")
        return [Comparison(model["seconds"]["selective"], ours, digits=2)]

    rows = [row(model, policy) for model in DATA["models"] for policy in POLICIES]
    predicted = [
        Row([model["name"], "selective, from full"], lambda model=model: predict(model),
            slow=True)
        for model in DATA["models"]
    ]
    return Section(
        "Times of Megatron's steps",
        f"""
{DATA['source']}, table 5: seconds of a step of four models on A100, without data
parallelism. A calculator adds up the layers of Megatron-LM, as they are shared by 8 ranks, and gives
`pipewright schedule --stage-cost` the times of the stages. An op costs what [the
formula](Devices.md#the-formula) says of
[a100-megatron.json](../python/pipewright/validation/data/a100-megatron.json), the device `a100` with two
figures fitted: the parts of the peak that products of 2·10¹⁰ and 10¹² FLOPs reach. The third
and last fitted one is the bandwidth of NVLink. So three figures were fitted, to these eight times. Bound: 5 %
each.
""",
        [
            Table(["model", "recomputation"], rows, bound=0.05, has_mean=True),
            Table(["model", "recomputation"], predicted, bound=0.05),
        ],
        """
The second table fits the three figures to the times with full recomputation alone, and predicts the
others.

The same eight times are the test of Calculon (M. Isaev et al., SC23), whose own validation is off by
3.65 % on average and by 8.87 % at most.
""",
    )


def _layers() -> Section:
    model = next(model for model in DATA["models"] if model["name"] == "22B")

    def compare(name: str) -> list[Comparison]:
        layer = _layer(machine(), model, name.endswith("sequence"))
        forward, backward = layer.forward(), layer.backward()
        if name == "full":
            backward += forward
        elif name.startswith("selective"):
            backward += layer.attention()
        published = DATA["layer"][name]
        return [
            Comparison(published["forward"], 1e3 * forward, digits=1),
            Comparison(published["backward"], 1e3 * backward, digits=1),
        ]

    rows = [
        Row([name.replace("-sequence", ", with sequence parallelism")],
            lambda name=name: compare(name))
        for name in DATA["layer"]
    ]
    return Section(
        "Times of a layer",
        f"""
{DATA['source']}, table 4: milliseconds of a layer of the 22B model. Nothing
was fitted to these. Bound: 10 %.
""",
        [Table(["recomputation"], rows, ["forward,", "backward,"], bound=0.1)],
        """
Our gradients are slower: we add what Megatron-LM exchanges between ranks to what it
computes, where in a backward part of it happens at the same time.
""",
    )


if __name__ == "__main__":
    print("parts of the peak at 2e10 and 1e12, of 300 GB/s:", *fit())
