# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes exports.json and Exports/: models that PyTorch exported, trained by it.

Hugging Face's GPT-2 and BERT, tiny, through both of PyTorch's exporters. Needs
the PyPI packages `torch`, `transformers`, `onnx` and `onnxscript`; made with
2.15, 5.24, 1.23 and 0.7:

    PYTHONPATH=python:test/EndToEnd python3 \
        test/EndToEnd/References/make_exports.py

All parameters are random: exporters merge initializers that are equal, as all
biases of a new model are.
"""

from __future__ import annotations

import json
import pathlib

import onnx
import torch
import transformers

from cases import EXPORTS, Case
from make_training import fit, samples

COMMON = {"vocab_size": 64, "attn_implementation": "sdpa"}
GPT2 = COMMON | {
    "n_positions": 16, "n_embd": 16, "n_layer": 2, "n_head": 2,
    "resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0, "use_cache": False,
}  # fmt: skip
BERT = COMMON | {
    "max_position_embeddings": 16, "hidden_size": 16, "num_hidden_layers": 2,
    "num_attention_heads": 2, "intermediate_size": 32, "hidden_dropout_prob": 0.0,
    "attention_probs_dropout_prob": 0.0,
    # Its embedding would have no gradient, of which ONNX knows nothing.
    "pad_token_id": None,
}  # fmt: skip


class Logits(torch.nn.Module):
    """A model of Hugging Face with tensors for inputs and output."""

    def __init__(self, model: torch.nn.Module):
        super().__init__()
        self.model = model

    def forward(self, input_ids, attention_mask=None):
        return self.model(input_ids=input_ids, attention_mask=attention_mask).logits


def make_model(name: str) -> torch.nn.Module:
    if name.startswith("gpt2"):
        model = transformers.GPT2LMHeadModel(transformers.GPT2Config(**GPT2))
    else:
        model = transformers.BertForMaskedLM(transformers.BertConfig(**BERT))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.05 * torch.randn_like(parameter))
    return Logits(model.eval())


def export(name: str, model: torch.nn.Module, path: pathlib.Path) -> None:
    """The last two parts of a name are the exporter and the operator set."""
    _, exporter, opset = name.rsplit("-", 2)
    inputs = [key for key in EXPORTS[name].data() if key != "labels"]
    # Not the size that is trained: that is bound when it is built.
    arguments = tuple(torch.ones(2, 8, dtype=torch.int64) for _ in inputs)
    if exporter == "dynamo":
        dims = {0: torch.export.Dim("batch"), 1: torch.export.Dim("sequence", max=16)}
        dynamic = {"dynamic_shapes": tuple(dims for _ in inputs)}
    else:
        axes = {0: "batch", 1: "sequence"}
        dynamic = {"dynamic_axes": dict.fromkeys(inputs, axes)}
    torch.onnx.export(
        model,
        arguments,
        str(path),
        input_names=inputs,
        output_names=["logits"],
        opset_version=int(opset),
        dynamo=exporter == "dynamo",
        external_data=False,
        **dynamic,
    )
    forget_sources(path)


def forget_sources(path: pathlib.Path) -> None:
    """Takes stack traces, which name files of this machine, out of a model."""
    model = onnx.load(path)
    for node in model.graph.node:
        node.doc_string = ""
        kept = [
            entry
            for entry in node.metadata_props
            if "stack_trace" not in entry.key and "fx_node" not in entry.key
        ]
        del node.metadata_props[:]
        node.metadata_props.extend(kept)
    onnx.save(model, path)


def train(case: Case, model: torch.nn.Module) -> dict[str, list[float]]:
    def forward(batch: dict[str, torch.Tensor]) -> torch.Tensor:
        return model(**{key: batch[key] for key in batch if key != "labels"})

    losses, norms = fit(case, forward, list(model.parameters()), samples(case))
    return {"losses": losses, "grad_norms": norms}


def main() -> None:
    here = pathlib.Path(__file__).parent
    results = {"pytorch": torch.__version__, "cases": {}}
    for name, case in EXPORTS.items():
        torch.manual_seed(0)
        model = make_model(name)
        export(name, model, here.parent / "Exports" / f"{name}.onnx")
        results["cases"][name] = train(case, model)
    (here / "exports.json").write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
