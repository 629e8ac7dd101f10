# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes training.json: losses and gradient norms of the cases, by PyTorch.

The models are written here by hand, from their meaning: only the initial
weights are read from the ONNX files. Needs PyTorch; made with 2.15:

    PYTHONPATH=python:test/EndToEnd python3 \
        test/EndToEnd/References/make_training.py

Each case runs in float64 too; the float32 numbers are kept only where both
agree, so that rounding does not decide what the tests compare.
"""

from __future__ import annotations

import json
import pathlib
import tempfile
from collections.abc import Callable

import torch
import torch.nn.functional as F

from cases import CASES, IGNORED, Case
from pipewright.onnxfile import DataType, Tensor, read_initializers

AGREEMENT = 1e-5  # relative, between float32 and float64
TYPES = {DataType.FLOAT: torch.float32, DataType.INT64: torch.int64}

Parameters = dict[str, torch.Tensor]


def to_torch(tensor: Tensor) -> torch.Tensor:
    values = torch.tensor(tensor.values().tolist(), dtype=TYPES[tensor.dtype])
    return values.reshape(tensor.shape)


def linear(p: Parameters, name: str, x: torch.Tensor) -> torch.Tensor:
    return F.linear(x, p[f"{name}.weight"], p[f"{name}.bias"])


def gpt(
    p: Parameters, input_ids: torch.Tensor, heads: int = 4, layers: int = 4
) -> torch.Tensor:
    def norm(name, x):
        return F.layer_norm(x, x.shape[-1:], p[f"{name}.weight"], p[f"{name}.bias"])

    def conv1d(name, x):
        return x @ p[f"{name}.weight"] + p[f"{name}.bias"]

    batch, length = input_ids.shape
    x = p["transformer.wte.weight"][input_ids] + p["transformer.wpe.weight"][:length]
    width = x.shape[-1]
    hidden = torch.ones(length, length, dtype=torch.bool).triu(1)
    for index in range(layers):
        h = f"transformer.h.{index}"
        joined = conv1d(f"{h}.attn.c_attn", norm(f"{h}.ln_1", x))
        q, k, v = (
            part.reshape(batch, length, heads, width // heads).transpose(1, 2)
            for part in joined.split(width, dim=-1)
        )
        scores = q @ k.transpose(-1, -2) / (width // heads) ** 0.5
        mixed = scores.masked_fill(hidden, float("-inf")).softmax(-1) @ v
        mixed = mixed.transpose(1, 2).reshape(batch, length, width)
        x = x + conv1d(f"{h}.attn.c_proj", mixed)
        inner = conv1d(f"{h}.mlp.c_fc", norm(f"{h}.ln_2", x))
        x = x + conv1d(f"{h}.mlp.c_proj", F.gelu(inner, approximate="tanh"))
    return norm("transformer.ln_f", x) @ p["transformer.wte.weight"].T


def skip_mlp(p: Parameters, x: torch.Tensor) -> torch.Tensor:
    first = x = linear(p, "layers.0.linear", x).relu()
    for index in range(1, 5):
        x = linear(p, f"layers.{index}.linear", x).relu()
        if index == 3:
            x = x + first
    return linear(p, "head", x)


def tied_embedding(p: Parameters, input_ids: torch.Tensor) -> torch.Tensor:
    x = p["tokens.weight"][input_ids]
    for index in range(2):
        x = (x @ p[f"layers.{index}.weight"]).tanh() + x
    return x @ p["tokens.weight"].T


def mixed_boundary(p: Parameters, x: torch.Tensor) -> torch.Tensor:
    x = linear(p, "layers.0.linear", x).tanh()
    levels = (x.detach() * 4).trunc()
    y = torch.where(x > 0.1, x, x * levels) + x.bfloat16().to(x.dtype)
    y = linear(p, "layers.1.linear", y).relu()
    y = linear(p, "layers.2.linear", (y + x * x) * levels).tanh()
    return linear(p, "head", y)


def two_outputs(p: Parameters, x: torch.Tensor) -> torch.Tensor:
    left, right = linear(p, "layers.0.linear", x).tanh().split(8, dim=1)
    left, right = linear(p, "layers.1.left", left), linear(p, "layers.1.right", right)
    return linear(p, "head", left * right.sigmoid())


def pooling(p: Parameters, x: torch.Tensor) -> torch.Tensor:
    def scale_and_add(name, x):
        scaled = F.conv2d(x, p[f"{name}.scale"], groups=x.shape[1])
        return scaled + p[f"{name}.bias"]

    x = scale_and_add("layers.0", x.to(p["layers.0.scale"].dtype))
    x = scale_and_add("layers.1", F.max_pool2d(x, 3, stride=2, padding=1))
    x = scale_and_add("layers.2", F.max_pool2d(x, 2, stride=1, dilation=2))
    x = F.avg_pool2d(x, 2, stride=1, padding=1, count_include_pad=False)
    return linear(p, "head", F.adaptive_max_pool2d(x, 1).flatten(1))


MODELS = {
    "gpt-adamw": gpt,
    "gpt-clipped": gpt,
    "skip-mlp-adamw": skip_mlp,
    "skip-mlp-momentum": skip_mlp,
    "tied-embedding": tied_embedding,
    "mixed-boundary": mixed_boundary,
    "two-outputs": two_outputs,
    "pooling": pooling,
}


def samples(case: Case) -> dict[str, torch.Tensor]:
    """All samples of each input; a window of tokens has the next ones as labels."""
    if not case.tokens:
        return {name: to_torch(tensor) for name, tensor in case.data().items()}
    tokens = torch.tensor(case.tokens())
    length = next(shape[1] for _, _, shape in case.graph().inputs)
    count = (len(tokens) - 1) // length
    return {
        "input_ids": tokens[: count * length].reshape(count, length),
        "labels": tokens[1 : count * length + 1].reshape(count, length),
    }


def batch_loss(case: Case, output: torch.Tensor, batch: Parameters) -> torch.Tensor:
    if case.loss.startswith("mse"):
        return F.mse_loss(output, batch["target"])
    classes = output.shape[-1]
    return F.cross_entropy(
        output.reshape(-1, classes), batch["labels"].reshape(-1), ignore_index=IGNORED
    )


def make_optimizer(case: Case, parameters: list[torch.Tensor]) -> torch.optim.Optimizer:
    if case.optimizer == "sgd":
        return torch.optim.SGD(parameters, case.learning_rate, case.momentum)
    return torch.optim.AdamW(parameters, case.learning_rate, weight_decay=0.01)


def load(case: Case, dtype: torch.dtype) -> tuple[Parameters, Parameters]:
    """The initial weights, and the samples of each input."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.onnx"
        case.graph().save(path)
        initial = read_initializers(path)
    parameters = {
        key: to_torch(tensor).to(dtype).requires_grad_()
        for key, tensor in initial.items()
        if tensor.dtype == DataType.FLOAT
    }
    data = {
        key: value.to(dtype) if value.is_floating_point() else value
        for key, value in samples(case).items()
    }
    return parameters, data


def train(name: str, dtype: torch.dtype) -> tuple[list[float], list[float]]:
    case = CASES[name]
    parameters, data = load(case, dtype)

    def forward(batch: dict[str, torch.Tensor]) -> torch.Tensor:
        return MODELS[name](parameters, batch.get("input_ids", batch.get("x")))

    return fit(case, forward, list(parameters.values()), data)


def fit(
    case: Case,
    forward: Callable[[dict[str, torch.Tensor]], torch.Tensor],
    parameters: list[torch.Tensor],
    data: dict[str, torch.Tensor],
    loss_scale: float = 1,
) -> tuple[list[float], list[float]]:
    """The losses and gradient norms of the steps that train `parameters`.

    Gradients are computed of the loss times `loss_scale`.
    """
    optimizer = make_optimizer(case, parameters)
    count = len(next(iter(data.values())))
    losses, norms = [], []
    for step in range(case.steps):
        first = step * case.global_batch
        chosen = [i % count for i in range(first, first + case.global_batch)]
        batch = {key: value[chosen] for key, value in data.items()}
        loss = batch_loss(case, forward(batch), batch)
        optimizer.zero_grad()
        (loss * loss_scale).backward()
        for parameter in parameters:
            parameter.grad /= loss_scale
        limit = case.clip or float("inf")
        norm = torch.nn.utils.clip_grad_norm_(parameters, limit)
        optimizer.step()
        losses.append(loss.item())
        norms.append(norm.item())
    return losses, norms


def main() -> None:
    torch.manual_seed(0)
    results = {"pytorch": torch.__version__, "cases": {}}
    for name in CASES:
        losses, norms = train(name, torch.float32)
        exact_losses, exact_norms = train(name, torch.float64)
        for value, exact in zip(losses + norms, exact_losses + exact_norms):
            if abs(value - exact) > AGREEMENT * abs(exact):
                raise SystemExit(f"{name}: float32 {value}, float64 {exact}")
        results["cases"][name] = {"losses": losses, "grad_norms": norms}
        print(f"{name}: {losses[0]:.6f} -> {losses[-1]:.6f}, norm {norms[0]:.4f}")
    path = pathlib.Path(__file__).parent / "training.json"
    path.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
