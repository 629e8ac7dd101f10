# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes memory.json: the activation memory of GPT models in PyTorch.

One forward and backward of one micro-batch on a CPU, in float32, with the
operators that the ONNX graph has (attention spelled out). Every operator that
runs is seen by a dispatch mode, also those of autograd; each new storage among
its results is counted until it is freed. Parameters, their gradients, which are
there before, the causal mask and the inputs do not count. Needs PyTorch; made
with 2.15:

    PYTHONPATH=python:test/EndToEnd python3 \
        test/EndToEnd/References/make_memory.py

`forward_bytes` are alive after the forward: what autograd saved. `peak_bytes`
are the most that are alive at any time.
"""

from __future__ import annotations

import json
import pathlib
import tempfile
import weakref

import torch
import torch.nn.functional as F
from memory_cases import MEMORY_CASES, MemoryCase
from pipewright.models import gpt
from pipewright.onnxfile import DataType, read_initializers
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_iter

import make_training


class LiveStorages(TorchDispatchMode):
    """Counts the bytes of the storages that operators make."""

    def __init__(self, excluded: list[torch.Tensor]):
        super().__init__()
        self.excluded = {tensor.untyped_storage()._cdata for tensor in excluded}
        self.sizes: dict[int, int] = {}
        self.bytes = 0
        self.peak = 0

    def __torch_dispatch__(self, function, types, arguments=(), options=None):
        results = function(*arguments, **(options or {}))
        for result in tree_iter(results):
            if isinstance(result, torch.Tensor):
                self.add(result.untyped_storage())
        return results

    def add(self, storage: torch.UntypedStorage) -> None:
        key = storage._cdata
        if key in self.sizes or key in self.excluded:
            return
        self.sizes[key] = storage.nbytes()
        self.bytes += storage.nbytes()
        self.peak = max(self.peak, self.bytes)
        weakref.finalize(storage, self.remove, key)

    def remove(self, key: int) -> None:
        self.bytes -= self.sizes.pop(key)


def measure(case: MemoryCase) -> dict[str, int]:
    config = case.model
    with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
        gpt.write_gpt(config).save(file.name)
        initializers = read_initializers(pathlib.Path(file.name))
    parameters = {
        name: make_training.to_torch(tensor).requires_grad_()
        for name, tensor in initializers.items()
        if tensor.dtype == DataType.FLOAT and name.startswith("transformer.")
    }
    for parameter in parameters.values():
        parameter.grad = torch.zeros_like(parameter)
    ids = torch.arange(case.batch * config.sequence) % config.vocabulary
    ids = ids.reshape(case.batch, config.sequence)
    mask = torch.ones(config.sequence, config.sequence, dtype=torch.bool)

    gradients = [parameter.grad for parameter in parameters.values()]
    with LiveStorages([*parameters.values(), *gradients, ids]) as live:
        logits = make_training.gpt(parameters, ids, config.heads, config.layers)
        loss = F.cross_entropy(logits.flatten(0, 1), ids.flatten())
        del logits  # A training loop need not hold it.
        forward = live.bytes - mask.nbytes
        loss.backward()
    return {"forward_bytes": forward, "peak_bytes": live.peak - mask.nbytes}


def main() -> None:
    cases = {name: measure(case) for name, case in MEMORY_CASES.items()}
    text = {"made_by": f"PyTorch {torch.__version__}", "cases": cases}
    file = pathlib.Path(__file__).with_name("memory.json")
    file.write_text(json.dumps(text, indent=2) + "\n")


if __name__ == "__main__":
    main()
