# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes precision.json: the cases of 16 bits and of float64, by PyTorch.

Mixed precision is torch.autocast on CPU, except that the loss is of float32, as
autocast has it on CUDA: a loss of bfloat16 has two digits. A model that is
stored in 16 bits is computed in them, from weights that are kept in float32.
Needs PyTorch; made with 2.15:

    PYTHONPATH=python:test/EndToEnd python3 \
        test/EndToEnd/References/make_precision.py
"""

from __future__ import annotations

import json
import pathlib
from collections.abc import Callable
from dataclasses import replace

import torch

from cases import CASES, PRECISION_CASES
from make_training import Parameters, fit, gpt, load, tied_embedding

STEPS = 20
# Of float16: what is small in a gradient has all its digits.
LOSS_SCALE = 2**10
TYPES = {"bf16": torch.bfloat16, "f16": torch.float16, "f64": torch.float64}

Forward = Callable[[dict[str, torch.Tensor]], torch.Tensor]


def mixed(parameters: Parameters, dtype: torch.dtype) -> Forward:
    def forward(batch: dict[str, torch.Tensor]) -> torch.Tensor:
        with torch.autocast("cpu", dtype):
            logits = gpt(parameters, batch["input_ids"])
        return logits.float()

    return forward


def stored(parameters: Parameters, dtype: torch.dtype) -> Forward:
    def forward(batch: dict[str, torch.Tensor]) -> torch.Tensor:
        read = {name: value.to(dtype) for name, value in parameters.items()}
        logits = tied_embedding(read, batch["input_ids"])
        return logits.to(torch.promote_types(dtype, torch.float32))

    return forward


def train(name: str) -> tuple[list[float], list[float]]:
    model, kind = name.split("-")
    dtype = TYPES[kind]
    case = replace(PRECISION_CASES[name], steps=STEPS)
    scale = LOSS_SCALE if dtype == torch.float16 else 1
    if model == "gpt":
        parameters, data = load(case, torch.float32)
        forward = mixed(parameters, dtype)
        return fit(case, forward, list(parameters.values()), data, scale)
    # The writer rounds the same numbers; float64 holds them as they are.
    master = torch.promote_types(dtype, torch.float32)
    parameters, data = load(CASES["tied-embedding"], torch.float32)
    parameters = {
        key: value.detach().to(dtype).to(master).requires_grad_()
        for key, value in parameters.items()
    }
    forward = stored(parameters, dtype)
    return fit(case, forward, list(parameters.values()), data, scale)


def main() -> None:
    results = {"pytorch": torch.__version__, "cases": {}}
    for name in PRECISION_CASES:
        losses, norms = train(name)
        results["cases"][name] = {"losses": losses, "grad_norms": norms}
        print(f"{name}: {losses[0]:.6f} -> {losses[-1]:.6f}, norm {norms[0]:.4f}")
    path = pathlib.Path(__file__).parent / "precision.json"
    path.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
