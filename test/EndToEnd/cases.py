# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the end-to-end tests train: shared with the maker of the references."""

from __future__ import annotations

import pathlib
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from pipewright.models import gpt, small
from pipewright.onnxfile import DataType, Graph, Tensor
from pipewright.tensorfiles import (
    integers,
    token_walk,
    uniform,
    write_npy,
    write_tokens,
)

IGNORED = -100
EXPORTED = pathlib.Path(__file__).parent / "Exports"


@dataclass(frozen=True)
class ExportedModel:
    """A model that PyTorch exported."""

    name: str

    def save(self, path: pathlib.Path) -> None:
        shutil.copyfile(EXPORTED / f"{self.name}.onnx", path)


@dataclass(frozen=True)
class Case:
    """A model, its data and how it is trained."""

    graph: Callable[[], Graph | ExportedModel]
    loss: str
    data: Callable[[], dict[str, Tensor]] = dict  # samples of each input, or
    tokens: Callable[[], list[int]] | None = None  # a token stream
    optimizer: str = "adamw"
    learning_rate: float = 1e-3
    momentum: float = 0.0
    clip: float | None = None
    steps: int = 10
    microbatches: int = 4
    microbatch_size: int = 2
    # Nodes with which the second and later stages begin, by number of stages;
    # else the cut that balances the stages.
    cuts: dict[int, list[str]] = field(default_factory=dict)
    bind: str | None = None
    precision: str | None = None  # as the model says
    loss_scale: str | None = None
    # Relative, to PyTorch.
    loss_tolerance: float = 1e-4
    norm_tolerance: float = 1e-4

    @property
    def global_batch(self) -> int:
        return self.microbatches * self.microbatch_size

    def write_data(self, folder: pathlib.Path) -> list[str]:
        """Writes the data files; the options by which a run reads them."""
        if self.tokens:
            write_tokens(folder / "tokens.bin", self.tokens())
            return ["--data", str(folder / "tokens.bin")]
        options = []
        for name, tensor in self.data().items():
            write_npy(folder / f"{name}.npy", tensor)
            options += ["--data", f"{name}={folder}/{name}.npy"]
        return options

    def run_options(self) -> list[str]:
        options = ["--lr", repr(self.learning_rate)]
        if self.momentum:
            options += ["--momentum", repr(self.momentum)]
        if self.clip:
            options += ["--clip-grad-norm", repr(self.clip)]
        if self.loss_scale:
            options += ["--loss-scale", self.loss_scale]
        return options


def small_gpt() -> Graph:
    config = gpt.GptConfig(layers=4, width=32, heads=4, sequence=16, vocabulary=64)
    return gpt.write_gpt(config)


def gpt_tokens() -> list[int]:
    return token_walk(16 * 61 + 1, vocabulary=64)


def whole_images() -> dict[str, Tensor]:
    return {
        "x": integers([20, 4, 9, 9], seed=1, limit=3),
        "labels": integers([20], seed=2, limit=small.CLASSES),
    }


def classified_samples(count: int = 20) -> dict[str, Tensor]:
    """Not a multiple of the batch: the sequence of samples wraps within one."""
    return {
        "x": uniform([count, small.FEATURES], seed=1),
        "labels": integers([count], seed=2, limit=small.CLASSES),
    }


def regression_samples() -> dict[str, Tensor]:
    return {
        "x": uniform([20, small.FEATURES], seed=1),
        "target": uniform([20, small.CLASSES], seed=3),
    }


def masked_tokens() -> dict[str, Tensor]:
    """Labels of which each sample ignores another number, some all."""
    labels = list(integers([16, 8], seed=5, limit=32).values())
    for sample in range(16):
        for position in range(sample * 5 % 9):
            labels[sample * 8 + position] = IGNORED
    return {
        "input_ids": integers([16, 8], seed=4, limit=32),
        "labels": Tensor.of(DataType.INT64, [16, 8], labels),
    }


def exported_tokens(*inputs: str) -> dict[str, Tensor]:
    """Sequences, of unequal lengths if there is a mask that can say so."""
    has_mask = "attention_mask" in inputs
    lengths = [16 - sample % 9 if has_mask else 16 for sample in range(20)]
    mask = [int(at < length) for length in lengths for at in range(16)]
    labels = list(integers([20, 16], seed=7, limit=64).values())
    samples = {
        name: integers([20, 16], seed=seed, limit=64)
        for name, seed in (("input_ids", 6), ("decoder_input_ids", 8))
        if name in inputs
    }
    if has_mask:
        samples["attention_mask"] = Tensor.of(DataType.INT64, [20, 16], mask)
    labels = [label if kept else IGNORED for label, kept in zip(labels, mask)]
    return samples | {"labels": Tensor.of(DataType.INT64, [20, 16], labels)}


def exported_images() -> dict[str, Tensor]:
    return {
        "pixel_values": uniform([20, 3, 16, 16], seed=6),
        "labels": integers([20], seed=7, limit=10),
    }


EXPORTED_INPUTS = {
    "bert": ["input_ids", "attention_mask"],
    "t5": ["input_ids", "decoder_input_ids"],
}


def exported(name: str) -> Case:
    family = name.partition("-")[0]
    if family in ("vit", "resnet", "fresh", "traced"):
        return Case(
            lambda: ExportedModel(name), CROSS_ENTROPY, exported_images, bind="batch=2"
        )
    inputs = EXPORTED_INPUTS.get(family, ["input_ids"])
    return Case(
        lambda: ExportedModel(name),
        CROSS_ENTROPY,
        lambda: exported_tokens(*inputs),
        bind="batch=2,sequence=16",
    )


# The result of layer 0 is used by layer 3, one, two or three stages later.
SKIP_CUTS = {
    2: ["/layers.1/linear/Gemm"],
    3: ["/layers.1/linear/Gemm", "/layers.3/linear/Gemm"],
    4: [f"/layers.{index}/linear/Gemm" for index in (1, 2, 3)],
}
# Layer 0 alone on rank 0: all that it passes on crosses a boundary.
FIRST_LAYER_CUTS = {
    2: ["/layers.1/linear/Gemm"],
    3: ["/layers.1/linear/Gemm", "/layers.2/linear/Gemm"],
    4: ["/layers.1/linear/Gemm", "/layers.2/linear/Gemm", "/head/Gemm"],
}

CROSS_ENTROPY = "cross-entropy:logits,labels"

CASES = {
    "gpt-adamw": Case(small_gpt, CROSS_ENTROPY, tokens=gpt_tokens),
    "gpt-clipped": Case(
        small_gpt, CROSS_ENTROPY, tokens=gpt_tokens, clip=0.25, learning_rate=3e-3
    ),
    "skip-mlp-adamw": Case(
        small.skip_mlp,
        CROSS_ENTROPY,
        classified_samples,
        learning_rate=1e-2,
        cuts=SKIP_CUTS,
    ),
    "skip-mlp-momentum": Case(
        small.skip_mlp,
        "mse:logits,target",
        regression_samples,
        optimizer="sgd",
        learning_rate=0.05,
        momentum=0.9,
        cuts=SKIP_CUTS,
    ),
    "tied-embedding": Case(
        small.tied_embedding,
        CROSS_ENTROPY,
        masked_tokens,
        learning_rate=1e-2,
    ),
    "mixed-boundary": Case(
        small.mixed_boundary,
        CROSS_ENTROPY,
        classified_samples,
        learning_rate=3e-3,
        cuts=FIRST_LAYER_CUTS,
    ),
    "two-outputs": Case(
        small.two_outputs, CROSS_ENTROPY, classified_samples, learning_rate=1e-2
    ),
    "pooling": Case(
        small.pooling,
        CROSS_ENTROPY,
        whole_images,
        optimizer="sgd",
        # After an update rounding would decide which elements are equal.
        learning_rate=0.0,
    ),
}

def rounded(digits: int) -> dict[str, float]:
    """What floats of so many binary digits allow.

    A loss averages over logits that are each wrong by half a last place, a
    gradient is rounded on the way forwards and back, and by another order of
    sums each time. Rounding has no bias, so steps do not add up to more.
    """
    return {"loss_tolerance": 2.0**-digits, "norm_tolerance": 4 * 2.0**-digits}


# Small enough for no step to overflow.
LOSS_SCALE = "dynamic,init=128"


def stored(dtype: DataType, digits: int, **options: str) -> Case:
    """A model of another float type, with the same weights but for rounding."""
    return replace(
        CASES["tied-embedding"],
        graph=lambda: small.tied_embedding(dtype=dtype),
        **rounded(digits),
        **options,
    )


PRECISION_CASES = {
    "gpt-bf16": replace(CASES["gpt-adamw"], precision="bf16", **rounded(8)),
    "gpt-f16": replace(
        CASES["gpt-adamw"], precision="f16", loss_scale=LOSS_SCALE, **rounded(11)
    ),
    "tied-bf16": stored(DataType.BFLOAT16, 8),
    "tied-f16": stored(DataType.FLOAT16, 11, loss_scale=LOSS_SCALE),
    "tied-f64": stored(DataType.DOUBLE, 40),
}

# By model, exporter and operator set.
EXPORTS = {
    name: exported(name)
    for name in (
        "gpt2-dynamo-23",
        "bert-dynamo-18",
        "bert-torchscript-14",
        "llama-dynamo-18",
        "llama-dynamo-23",
        "mixtral-dynamo-18",
        "experts-torchscript-17",
        "t5-torchscript-14",
        "vit-dynamo-18",
        "resnet-torchscript-17",
        "fresh-dynamo-18",
        "traced-dynamo-18",
    )
}
