# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a language model of Llama's architecture.

The nodes are those of an export with a dynamic batch: RMSNorm and the rotation
of queries and keys spelled out, groups of queries that share a key and a value,
a gated MLP, no biases, a head of its own.

    python3 -m pipewright.models.llama --layers 4 --width 256 --heads 8 --groups 2 \\
        --hidden 688 -o llama.onnx

Of a large model the shapes alone say what it costs; this is Llama 3 8B:

    python3 -m pipewright.models.llama --layers 32 --width 4096 --heads 32 --groups 8 \\
        --hidden 14336 --sequence 8192 --vocabulary 128256 --no-weights -o llama.onnx
    pipewright inspect llama.onnx --params-from-inputs '^(model|lm_head)' --bind batch=1

With experts, of which a router chooses some for each token, in place of the MLP,
it is Mixtral's architecture (arXiv:2401.04088).
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass

from ..onnxfile import DataType, Graph, Scope, Tensor, float32, int64s
from . import weights
from .command_line import write_from_command_line
from .shapes import causal_mask, join, positions, size, view

EPSILON = 1e-5
MASKED = -3.4028234663852886e38  # the least float32
DEVIATION = 0.02
ROTARY_BASE = 500000.0  # the base of the slowest rotations in Llama 3


@dataclass(frozen=True)
class LlamaConfig:
    layers: int = 4
    width: int = 256
    heads: int = 8  # of queries
    groups: int = 2  # of queries that share a key and a value
    hidden: int = 688  # width of the MLP
    experts: int = 0  # in place of the MLP of each layer
    choices: int = 2  # experts of a token
    sequence: int = 128
    vocabulary: int = 256
    seed: int = 0
    no_weights: bool = False  # the parameters are inputs of the graph

    def __post_init__(self) -> None:
        if self.width % self.heads:
            raise ValueError(f"{self.heads} heads do not divide width {self.width}")
        if self.heads % self.groups:
            raise ValueError(f"{self.groups} groups do not divide {self.heads} heads")
        if self.experts and self.choices > self.experts:
            raise ValueError(f"a token cannot choose {self.choices} of {self.experts} experts")
        if self.head_width % 2:
            raise ValueError(f"heads of width {self.head_width} have no halves")

    @property
    def head_width(self) -> int:
        return self.width // self.heads


def write_llama(config: LlamaConfig) -> Graph:
    return _LlamaWriter(config).write()


class _LlamaWriter:
    mask: str  # of all layers
    rotation: tuple[str, str]  # of all layers: cosine and sine

    def __init__(self, config: LlamaConfig):
        self.config = config
        self.graph = Graph("main_graph")
        self.parameters = weights.Parameters(
            self.graph, config.seed, config.no_weights
        )

    def write(self) -> Graph:
        config, model = self.config, self.graph.scope("/model")
        ids = self.graph.input("input_ids", DataType.INT64, ["batch", config.sequence])
        table = self.parameters.normal(
            "model.embed_tokens.weight", [config.vocabulary, config.width], DEVIATION
        )
        x = model.child("embed_tokens").node("Gather", table, ids)
        length = size(model, ids, 1)
        self.mask = causal_mask(model, length, length)
        self.rotation = self._rotation(model.child("rotary_emb"), length)
        for index in range(config.layers):
            x = self._layer(model.child(f"layers.{index}"), x)
        x = self._normalize(model.child("norm"), x)
        head = self.graph.scope("/lm_head")
        self._linear(head, x, config.width, config.vocabulary, name="logits")
        self.graph.output(
            "logits", DataType.FLOAT, ["batch", config.sequence, config.vocabulary]
        )
        return self.graph

    @staticmethod
    def _name(scope: Scope, suffix: str) -> str:
        """The parameter `suffix` of the module, as PyTorch names it."""
        return scope.path.strip("/").replace("/", ".") + f".{suffix}"

    def _linear(
        self,
        scope: Scope,
        x: str,
        inputs: int,
        outputs: int,
        deviation: float = DEVIATION,
        name: str | None = None,
    ) -> str:
        """PyTorch's Linear without a bias."""
        weight = self.parameters.normal(
            self._name(scope, "weight"), [outputs, inputs], deviation
        )
        weight = scope.node("Transpose", weight, perm=[1, 0])
        return scope.node("MatMul", x, weight, name=name)

    def _normalize(self, scope: Scope, x: str) -> str:
        gain = self.parameters.full(
            self._name(scope, "weight"), [self.config.width], 1.0
        )
        square = scope.node("Pow", x, scope.constant(float32(2.0)))
        mean = scope.node("ReduceMean", square, axes=[-1])
        shifted = scope.node("Add", mean, scope.constant(float32(EPSILON)))
        factor = scope.node("Reciprocal", scope.node("Sqrt", shifted))
        return scope.node("Mul", gain, scope.node("Mul", x, factor))

    def _rotation(self, scope: Scope, length: str) -> tuple[str, str]:
        """Cosine and sine of each position's angles, for each pair of halves."""
        width = self.config.head_width
        angles = [ROTARY_BASE ** (-2 * i / width) for i in range(width // 2)]
        angles = scope.constant(Tensor.of(DataType.FLOAT, [width // 2], angles))
        places = scope.node("Cast", positions(scope, length), to=int(DataType.FLOAT))
        places = scope.node("Unsqueeze", places, scope.constant(int64s(2)))
        products = scope.node("Mul", places, angles)
        products = scope.node("Concat", products, products, axis=-1)
        axis = scope.constant(int64s(1))
        cosine = scope.node("Unsqueeze", scope.node("Cos", products), axis)
        return cosine, scope.node("Unsqueeze", scope.node("Sin", products), axis)

    def _layer(self, scope: Scope, x: str) -> str:
        normal = self._normalize(scope.child("input_layernorm"), x)
        x = scope.node("Add", x, self._attention(scope.child("self_attn"), normal))
        normal = self._normalize(scope.child("post_attention_layernorm"), x)
        if self.config.experts:
            mlp = self._experts(scope.child("block_sparse_moe"), normal)
        else:
            mlp = self._mlp(scope.child("mlp"), normal)
        return scope.node("Add", x, mlp)

    @property
    def _residual_deviation(self) -> float:
        """What is added to the residual stream starts smaller."""
        return DEVIATION / math.sqrt(2 * self.config.layers)

    def _attention(self, scope: Scope, x: str) -> str:
        config = self.config
        query = self._heads(scope, "q_proj", x, config.heads)
        key = self._heads(scope, "k_proj", x, config.groups)
        value = self._heads(scope, "v_proj", x, config.groups)
        query = self._rotate(scope, query)
        key = self._repeat(scope, self._rotate(scope, key))
        value = self._repeat(scope, value)

        key = scope.node("Transpose", key, perm=[0, 1, 3, 2])
        scores = scope.node("MatMul", query, key)
        scale = scope.constant(float32(1 / math.sqrt(config.head_width)))
        scores = scope.node("Mul", scores, scale)
        masked = scope.constant(float32(MASKED))
        scores = scope.node("Where", self.mask, scores, masked)
        mixed = scope.node("MatMul", scope.node("Softmax", scores, axis=-1), value)

        mixed = scope.node("Transpose", mixed, perm=[0, 2, 1, 3])
        batch, length = size(scope, mixed, 0), size(scope, mixed, 1)
        mixed = view(scope, mixed, batch, length, config.width)
        return self._linear(
            scope.child("o_proj"),
            mixed,
            config.width,
            config.width,
            self._residual_deviation,
        )

    def _heads(self, scope: Scope, name: str, x: str, heads: int) -> str:
        width = self.config.head_width
        x = self._linear(scope.child(name), x, self.config.width, heads * width)
        batch, length = size(scope, x, 0), size(scope, x, 1)
        x = view(scope, x, batch, length, heads, width)
        return scope.node("Transpose", x, perm=[0, 2, 1, 3])

    def _rotate(self, scope: Scope, x: str) -> str:
        cosine, sine = self.rotation
        half = self.config.head_width // 2
        sizes = scope.constant(int64s(half, half))
        first, second = scope.node("Split", x, sizes, axis=-1, results=2)
        turned = scope.node("Concat", scope.node("Neg", second), first, axis=-1)
        return scope.node(
            "Add", scope.node("Mul", x, cosine), scope.node("Mul", turned, sine)
        )

    def _repeat(self, scope: Scope, x: str) -> str:
        """Each head once for each query of its group."""
        config = self.config
        batch, length = size(scope, x, 0), size(scope, x, 2)
        times = config.heads // config.groups
        if times == 1:
            return x
        shape = join(scope, batch, config.groups, times, length, config.head_width)
        x = scope.node("Unsqueeze", x, scope.constant(int64s(2)))
        x = scope.node("Expand", x, shape)
        return view(scope, x, batch, config.heads, length, config.head_width)

    def _experts(self, scope: Scope, x: str) -> str:
        """As ONNX Runtime's operator, which takes the scores of each token."""
        config = self.config
        width, hidden, experts = config.width, config.hidden, config.experts
        rows = view(scope, x, -1, width)
        scores = self._linear(scope.child("gate"), rows, width, experts)

        def weights_of(name: str, shape: list[int], deviation: float) -> str:
            name = self._name(scope.child("experts").child(name), "weight")
            return self.parameters.normal(name, [experts, *shape], deviation)

        gate = weights_of("w1", [hidden, width], DEVIATION)
        down = weights_of("w2", [width, hidden], self._residual_deviation)
        up = weights_of("w3", [hidden, width], DEVIATION)
        no_bias = ""
        return scope.node(
            "MoE",
            *(x, scores, gate, no_bias, down, no_bias, up),
            domain="com.microsoft",
            activation_type="silu",
            k=config.choices,
            normalize_routing_weights=1,
        )

    def _mlp(self, scope: Scope, x: str) -> str:
        width, hidden = self.config.width, self.config.hidden
        gate = self._linear(scope.child("gate_proj"), x, width, hidden)
        act = scope.child("act_fn")
        gate = act.node("Mul", gate, act.node("Sigmoid", gate))
        up = self._linear(scope.child("up_proj"), x, width, hidden)
        product = scope.node("Mul", gate, up)
        return self._linear(
            scope.child("down_proj"), product, hidden, width, self._residual_deviation
        )


NUMBERS = {
    "layers": "layers",
    "width": "width of the activations between layers",
    "heads": "heads of queries",
    "groups": "heads of keys and values",
    "hidden": "width of the MLP",
    "experts": "experts of each layer in place of its MLP",
    "choices": "experts of a token",
    "sequence": "tokens",
    "vocabulary": "distinct tokens",
    "seed": "of the weights",
}


def main() -> None:
    defaults = LlamaConfig()
    parser = argparse.ArgumentParser(
        prog="pipewright.models.llama",
        description="Write a language model of Llama's architecture as ONNX.",
    )
    for option, meaning in NUMBERS.items():
        default = getattr(defaults, option)
        parser.add_argument(f"--{option}", type=int, default=default, metavar="N",
                            help=f"{meaning}; default {default}")
    write_from_command_line(parser, LlamaConfig, write_llama)


if __name__ == "__main__":
    main()
