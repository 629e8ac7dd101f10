# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes exports.json and Exports/: models that PyTorch exported, trained by it.

Hugging Face's models, tiny, through both of PyTorch's exporters. Needs
the PyPI packages `torch`, `transformers`, `onnx` and `onnxscript`; made with
2.15, 5.24, 1.23 and 0.7:

    PYTHONPATH=python:test/EndToEnd python3 \
        test/EndToEnd/References/make_exports.py

All parameters are random, but for those of `fresh`, which are as PyTorch begins:
exporters merge initializers that are equal, as all biases of a new model are. Each model is trained in float64 too; the float32
numbers are kept only where both agree.
"""

from __future__ import annotations

import copy
import json
import pathlib
import types

import onnx
import torch
import transformers
from transformers.models.mixtral import modeling_mixtral as mixtral

from cases import EXPORTS, Case
from make_training import AGREEMENT, fit, samples
from pipewright.onnxfile import DataType, Tensor

COMMON = {"vocab_size": 64, "attn_implementation": "sdpa", "use_cache": False}
# A padding token's embedding would have no gradient, of which ONNX knows nothing.
UNPADDED = COMMON | {"pad_token_id": None}
SMALL = {
    "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2,
    "intermediate_size": 32,
}  # fmt: skip
NO_DROPOUT = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
GPT2 = COMMON | {
    "n_positions": 16, "n_embd": 16, "n_layer": 2, "n_head": 2,
    "resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0,
}  # fmt: skip
BERT = UNPADDED | SMALL | NO_DROPOUT | {"max_position_embeddings": 16}
LLAMA = UNPADDED | SMALL | {"num_key_value_heads": 1, "max_position_embeddings": 16}
MIXTRAL = LLAMA | {
    "num_local_experts": 4, "num_experts_per_tok": 2,
    # The only one of its ways that an exporter can write down.
    "experts_implementation": "batched_mm",
}  # fmt: skip
T5 = UNPADDED | {
    "d_model": 16, "d_kv": 8, "d_ff": 32, "num_layers": 2, "num_heads": 2,
    "dropout_rate": 0.0, "decoder_start_token_id": 0,
}  # fmt: skip
VIT = (
    SMALL
    | NO_DROPOUT
    | {"image_size": 16, "patch_size": 4, "num_labels": 10, "attn_implementation": "sdpa"}
)
RESNET = {
    "embedding_size": 8, "hidden_sizes": [8, 16], "depths": [1, 1],
    "layer_type": "basic", "num_labels": 10,
}  # fmt: skip


def loop_over_experts(
    self: torch.nn.Module,
    hidden: torch.Tensor,
    chosen: torch.Tensor,
    shares: torch.Tensor,
) -> torch.Tensor:
    """Each expert finds its tokens, as optimum writes it for a tracer."""
    result = torch.zeros_like(hidden)
    mask = torch.nn.functional.one_hot(chosen, self.num_experts).permute(2, 1, 0)
    for expert in range(self.num_experts):
        choice, token = torch.where(mask[expert])
        product = hidden[token] @ self.gate_up_proj[expert].T
        gate, up = product.chunk(2, dim=-1)
        rows = (self.act_fn(gate) * up) @ self.down_proj[expert].T
        result = result.index_add(0, token, rows * shares[token, choice, None])
    return result


def ask_all_experts(
    self: torch.nn.Module,
    hidden: torch.Tensor,
    chosen: torch.Tensor,
    shares: torch.Tensor,
) -> torch.Tensor:
    """Every expert works on every token, as optimum writes it for GPT-OSS."""
    table = shares.new_zeros(hidden.shape[0], self.num_experts)
    table = table.scatter(1, chosen, shares)
    repeated = hidden.repeat(self.num_experts, 1)
    each = repeated.view(self.num_experts, -1, hidden.shape[-1])
    gate, up = (each @ self.gate_up_proj.transpose(1, 2)).chunk(2, dim=-1)
    rows = (self.act_fn(gate) * up) @ self.down_proj.transpose(1, 2)
    return (rows * table.T[..., None]).sum(dim=0)


class Experts(torch.nn.Module):
    """Mixtral's layers of experts, one in each form that a tracer can follow."""

    def __init__(self):
        super().__init__()
        config = transformers.MixtralConfig(**MIXTRAL)
        self.embedding = torch.nn.Embedding(config.vocab_size, config.hidden_size)
        self.layers = torch.nn.ModuleList()
        for form in (loop_over_experts, ask_all_experts):
            layer = mixtral.MixtralSparseMoeBlock(config)
            layer.experts.forward = types.MethodType(form, layer.experts)
            self.layers.append(layer)
        self.head = torch.nn.Linear(config.hidden_size, config.vocab_size)
        for parameter in self.parameters():
            torch.nn.init.normal_(parameter, std=0.2)

    def forward(self, input_ids: torch.Tensor) -> types.SimpleNamespace:
        hidden = self.embedding(input_ids)
        for layer in self.layers:
            hidden = hidden + layer(hidden)
        return types.SimpleNamespace(logits=self.head(hidden))


class Fresh(torch.nn.Module):
    """Norms and biases as they are before training.

    The biases of convolutions are not zeros: the exporter would leave them out.
    """

    def __init__(self, width: int = 16):
        super().__init__()
        self.stem = torch.nn.Conv2d(3, width, 4, stride=4)
        self.groups = torch.nn.ModuleList(torch.nn.GroupNorm(4, width) for _ in range(2))
        self.convolutions = torch.nn.ModuleList(
            torch.nn.Conv2d(width, width, 3, padding=1) for _ in range(2)
        )
        self.norms = torch.nn.ModuleList(torch.nn.LayerNorm(width) for _ in range(2))
        self.wide = torch.nn.ModuleList(torch.nn.Linear(width, 32) for _ in range(2))
        self.narrow = torch.nn.ModuleList(torch.nn.Linear(32, width) for _ in range(2))
        self.head = torch.nn.Linear(width, 10)
        for layer in (*self.wide, *self.narrow):
            torch.nn.init.zeros_(layer.bias)

    def forward(self, pixel_values: torch.Tensor) -> types.SimpleNamespace:
        hidden = self.stem(pixel_values)
        for norm, convolution in zip(self.groups, self.convolutions):
            hidden = hidden + convolution(torch.nn.functional.silu(norm(hidden)))
        hidden = hidden.flatten(2).transpose(1, 2)
        for norm, wide, narrow in zip(self.norms, self.wide, self.narrow):
            hidden = hidden + narrow(torch.nn.functional.gelu(wide(norm(hidden))))
        logits = self.head(hidden.mean(dim=1))
        return types.SimpleNamespace(logits=logits)


class Traced(torch.nn.Module):
    """What a trace tells, and the graph does not: that a batch norm trains and that
    a table is no parameter. Its parts are written as a sequence.
    """

    def __init__(self, width: int = 8, length: int = 16):
        super().__init__()
        self.stem = torch.nn.Conv2d(3, width, 4, stride=4)
        self.norm = torch.nn.BatchNorm2d(width)
        self.steps = torch.nn.LSTM(width, width, batch_first=True)
        self.wide = torch.nn.Linear(width, 2 * width + 4)
        self.mix = torch.nn.Linear(width + 4, width)
        self.head = torch.nn.Linear(width, 10)
        self.register_buffer("weights", torch.linspace(0.5, 1.5, length)[:, None])

    def forward(self, pixel_values: torch.Tensor) -> types.SimpleNamespace:
        hidden = self.norm(self.stem(pixel_values)).flatten(2).transpose(1, 2)
        hidden, _ = self.steps(hidden * self.weights)
        gate, rest = self.wide(hidden).split([8, 12], dim=-1)
        rest, last = rest.split(8, dim=-1)
        hidden = torch.cat([hidden + gate.sigmoid() * rest, last], dim=-1)
        logits = self.head(self.mix(hidden).tanh().mean(dim=1))
        return types.SimpleNamespace(logits=logits)


# By the first part of an export's name.
MODELS = {
    "gpt2": lambda: transformers.GPT2LMHeadModel(transformers.GPT2Config(**GPT2)),
    "bert": lambda: transformers.BertForMaskedLM(transformers.BertConfig(**BERT)),
    "llama": lambda: transformers.LlamaForCausalLM(transformers.LlamaConfig(**LLAMA)),
    "mixtral": lambda: transformers.MixtralForCausalLM(
        transformers.MixtralConfig(**MIXTRAL)
    ),
    "experts": Experts,
    "fresh": Fresh,
    "traced": Traced,
    "t5": lambda: transformers.T5ForConditionalGeneration(transformers.T5Config(**T5)),
    "vit": lambda: transformers.ViTForImageClassification(transformers.ViTConfig(**VIT)),
    "resnet": lambda: transformers.ResNetForImageClassification(
        transformers.ResNetConfig(**RESNET)
    ),
}
# With these no rounding decides which experts a token goes to.
SEEDS = {"mixtral": 0, "experts": 0}


class Logits(torch.nn.Module):
    """A model of Hugging Face with tensors for inputs and output."""

    def __init__(self, model: torch.nn.Module, inputs: list[str]):
        super().__init__()
        self.model = model
        self.inputs = inputs

    def forward(self, *tensors):
        return self.model(**dict(zip(self.inputs, tensors))).logits


def get_family(name: str) -> str:
    return name.partition("-")[0]


def get_inputs(name: str) -> list[str]:
    return [key for key in EXPORTS[name].data() if key != "labels"]


def make_model(name: str) -> torch.nn.Module:
    model = MODELS[get_family(name)]()
    with torch.no_grad():
        for parameter in model.parameters() if get_family(name) != "fresh" else ():
            parameter.add_(0.05 * torch.randn_like(parameter))
    # Only a batch normalization trains otherwise than it infers.
    model.train(get_family(name) in ("resnet", "traced"))
    return Logits(model, get_inputs(name))


def export(name: str, model: torch.nn.Module, path: pathlib.Path) -> None:
    """The last two parts of a name are the exporter and the operator set."""
    _, exporter, opset = name.rsplit("-", 2)
    inputs = get_inputs(name)
    # Not the size that is trained: that is bound when it is built.
    examples = [make_example(EXPORTS[name].data()[key]) for key in inputs]
    axes = [get_axes(example) for example in examples]
    if exporter == "dynamo":
        sizes = {"batch": torch.export.Dim("batch")}
        sizes["sequence"] = torch.export.Dim("sequence", max=16)
        dims = tuple({at: sizes[dim] for at, dim in axis.items()} for axis in axes)
        options = {"dynamic_shapes": (dims,), "optimize": get_family(name) != "traced"}
    else:
        options = {"dynamic_axes": dict(zip(inputs, axes))}
        if model.training:
            mode = torch.onnx.TrainingMode.TRAINING
            options |= {"training": mode, "do_constant_folding": False}
    torch.onnx.export(
        model,
        tuple(examples),
        str(path),
        input_names=inputs,
        output_names=["logits"],
        opset_version=int(opset),
        dynamo=exporter == "dynamo",
        external_data=False,
        **options,
    )
    forget_sources(path)


def make_example(samples: Tensor) -> torch.Tensor:
    """Two samples like `samples`, but half as long if they are sequences."""
    if samples.dtype == DataType.INT64:
        return torch.ones(2, samples.shape[1] // 2, dtype=torch.int64)
    return torch.zeros(2, *samples.shape[1:])


def get_axes(example: torch.Tensor) -> dict[int, str]:
    names = {0: "batch"}
    return names if example.is_floating_point() else names | {1: "sequence"}


def forget_sources(path: pathlib.Path) -> None:
    """Takes stack traces, which name files of this machine, out of a model."""
    model = onnx.load(path)
    for node in model.graph.node:
        node.doc_string = ""
        kept = [
            entry
            for entry in node.metadata_props
            if "stack_trace" not in entry.key
            and ("fx_node" not in entry.key or node.op_type == "BatchNormalization")
        ]
        del node.metadata_props[:]
        node.metadata_props.extend(kept)
    onnx.save(model, path)


def train(case: Case, model: Logits, dtype: torch.dtype) -> list[float]:
    """The losses of all steps, then their gradient norms."""
    model = copy.deepcopy(model).to(dtype)
    data = {
        key: value.to(dtype) if value.is_floating_point() else value
        for key, value in samples(case).items()
    }

    def forward(batch: dict[str, torch.Tensor]) -> torch.Tensor:
        # One micro-batch after the other, as a batch normalization sees them.
        parts = [batch[key].split(case.microbatch_size) for key in model.inputs]
        return torch.cat([model(*part) for part in zip(*parts)])

    losses, norms = fit(case, forward, list(model.parameters()), data)
    return losses + norms


def main() -> None:
    here = pathlib.Path(__file__).parent
    results = {"pytorch": torch.__version__, "cases": {}}
    for name, case in EXPORTS.items():
        torch.manual_seed(SEEDS.get(get_family(name), 0))
        model = make_model(name)
        export(name, model, here.parent / "Exports" / f"{name}.onnx")
        values = train(case, model, torch.float32)
        for value, exact in zip(values, train(case, model, torch.float64)):
            if abs(value - exact) > AGREEMENT * abs(exact):
                raise SystemExit(f"{name}: float32 {value}, float64 {exact}")
        results["cases"][name] = {
            "losses": values[: case.steps],
            "grad_norms": values[case.steps :],
        }
    (here / "exports.json").write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
