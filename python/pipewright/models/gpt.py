# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a language model of GPT-2's architecture.

The nodes and their names are those of a TorchScript export with a dynamic
batch: shape arithmetic around each Reshape, the causal mask cut out of a
buffer, GELU spelled out, the token embedding shared with the output head.

    python3 -m pipewright.models.gpt --layers 12 --width 192 --heads 6 -o gpt.onnx

Of a large model the shapes alone say what it costs:

    python3 -m pipewright.models.gpt --layers 96 --width 12288 --heads 96 \
        --sequence 2048 --vocabulary 51200 --mask trilu --no-weights -o gpt3.onnx
    pipewright inspect gpt3.onnx --params-from-inputs '^transformer' --bind batch=1
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass

from ..onnxfile import DataType, Graph, Scope, Tensor, float32, int64, int64s
from . import weights
from .command_line import write_from_command_line
from .shapes import causal_mask, positions, size, vector, view

EPSILON = 1e-5
MASKED = -3.4028234663852886e38  # the least float32
DEVIATION = 0.02


@dataclass(frozen=True)
class GptConfig:
    layers: int = 12
    width: int = 192
    heads: int = 6
    sequence: int = 128
    vocabulary: int = 256
    seed: int = 0
    mask: str = "buffer"  # or "trilu": made once from ones, as newer exports do
    head: str = "matmul"  # or "gemm": of the flattened activations
    spelled_out_normalization: bool = False  # as below opset 17
    symbolic_sequence: bool = False
    dropout: float = 0.0
    no_weights: bool = False  # the parameters are inputs of the graph

    def __post_init__(self) -> None:
        if self.width % self.heads:
            raise ValueError(f"{self.heads} heads do not divide width {self.width}")


def write_gpt(config: GptConfig) -> Graph:
    return _GptWriter(config).write()


class _GptWriter:
    mask: str | None = None  # of all layers

    def __init__(self, config: GptConfig):
        self.config = config
        self.graph = Graph("main_graph")
        self.parameters = weights.Parameters(
            self.graph, config.seed, config.no_weights
        )
        self.root = self.graph.scope()
        self.transformer = self.graph.scope("/transformer")

    def write(self) -> Graph:
        sequence = (
            "sequence" if self.config.symbolic_sequence else self.config.sequence
        )
        ids = self.graph.input("input_ids", DataType.INT64, ["batch", sequence])
        x = self._embed(ids)
        if self.config.mask == "trilu":
            length = size(self.transformer, ids, 1)
            self.mask = causal_mask(self.transformer, length, length)
        for index in range(self.config.layers):
            x = self._block(index, x)
        x = self._normalize(self.transformer.child("ln_f"), "transformer.ln_f", x)
        self._head(x)
        self.graph.output(
            "logits", DataType.FLOAT, ["batch", sequence, self.config.vocabulary]
        )
        return self.graph

    def _embed(self, ids: str) -> str:
        config, scope = self.config, self.transformer
        table = self.parameters.normal(
            "transformer.wte.weight", [config.vocabulary, config.width], DEVIATION
        )
        positions_table = self.parameters.normal(
            "transformer.wpe.weight", [config.sequence, config.width], DEVIATION
        )
        length = size(scope, ids, 1)
        ids = view(scope, ids, -1, length)
        tokens = scope.child("wte").node("Gather", table, ids)
        places = scope.child("wpe").node(
            "Gather", positions_table, positions(scope, length)
        )
        return self._drop(scope.child("drop"), scope.node("Add", tokens, places))

    def _block(self, index: int, x: str) -> str:
        scope = self.transformer.child(f"h.{index}")
        name = f"transformer.h.{index}"
        normal = self._normalize(scope.child("ln_1"), f"{name}.ln_1", x)
        attention = self._attention(scope.child("attn"), f"{name}.attn", normal)
        x = scope.node("Add", attention, x)
        normal = self._normalize(scope.child("ln_2"), f"{name}.ln_2", x)
        return scope.node("Add", x, self._mlp(scope.child("mlp"), f"{name}.mlp", normal))

    def _normalize(self, scope: Scope, name: str, x: str) -> str:
        width = self.config.width
        gain = self.parameters.full(f"{name}.weight", [width], 1.0)
        bias = self.parameters.full(f"{name}.bias", [width], 0.0)
        if not self.config.spelled_out_normalization:
            return scope.node(
                "LayerNormalization", x, gain, bias, axis=-1, epsilon=EPSILON
            )
        mean = scope.node("ReduceMean", x, axes=[-1])
        centred = scope.node("Sub", x, mean)
        square = scope.node("Pow", centred, scope.constant(float32(2.0)))
        variance = scope.node("ReduceMean", square, axes=[-1])
        shifted = scope.node("Add", variance, scope.constant(float32(EPSILON)))
        scaled = scope.node("Div", centred, scope.node("Sqrt", shifted))
        return scope.node("Add", scope.node("Mul", scaled, gain), bias)

    def _drop(self, scope: Scope, x: str) -> str:
        if not self.config.dropout:
            return x
        ratio = scope.constant(float32(self.config.dropout))
        training = scope.constant(Tensor.of(DataType.BOOL, [], [1]))
        return scope.node("Dropout", x, ratio, training)

    def _linear(
        self,
        scope: Scope,
        name: str,
        x: str,
        inputs: int,
        outputs: int,
        deviation: float = DEVIATION,
    ) -> str:
        """Hugging Face's Conv1D: a view as a matrix, addmm, a view back."""
        weight = self.parameters.normal(f"{name}.weight", [inputs, outputs], deviation)
        bias = self.parameters.full(f"{name}.bias", [outputs], 0.0)
        batch, length = size(scope, x, 0), size(scope, x, 1)
        matrix = view(scope, x, -1, size(scope, x, 2))
        matrix = scope.node("Gemm", matrix, weight, bias, alpha=1.0, beta=1.0)
        return view(scope, matrix, batch, length, outputs)

    def _residual(self, scope: Scope, name: str, x: str, inputs: int) -> str:
        """A projection that is added to the residual stream starts smaller."""
        deviation = DEVIATION / math.sqrt(2 * self.config.layers)
        x = self._linear(scope, name, x, inputs, self.config.width, deviation)
        return self._drop(scope.child("dropout"), x)

    def _attention(self, scope: Scope, name: str, x: str) -> str:
        width = self.config.width
        joined = self._linear(
            scope.child("c_attn"), f"{name}.c_attn", x, width, 3 * width
        )
        sizes = scope.constant(int64s(width, width, width))
        query, key, value = scope.node("Split", joined, sizes, axis=2, results=3)
        query = self._heads(scope, query, [0, 2, 1, 3])
        key = self._heads(scope, key, [0, 2, 3, 1])
        value = self._heads(scope, value, [0, 2, 1, 3])

        scale = math.sqrt(width // self.config.heads)
        scores = scope.node("MatMul", query, key)
        scores = scope.node("Div", scores, scope.constant(float32(scale)))
        mask = self.mask or self._cut_mask(scope, query, key)
        scores = scope.node("Where", mask, scores, scope.constant(float32(MASKED)))
        attention = scope.node("Softmax", scores, axis=-1)
        attention = self._drop(scope.child("attn_dropout"), attention)
        mixed = scope.node("MatMul", attention, value)

        mixed = scope.node("Transpose", mixed, perm=[0, 2, 1, 3])
        batch, length = size(scope, mixed, 0), size(scope, mixed, 1)
        mixed = view(scope, mixed, batch, length, width)
        return self._residual(scope.child("c_proj"), f"{name}.c_proj", mixed, width)

    def _heads(self, scope: Scope, x: str, order: list[int]) -> str:
        config = self.config
        batch, length = size(scope, x, 0), size(scope, x, 1)
        head_width = config.width // config.heads
        split = view(scope, x, batch, length, config.heads, head_width)
        return scope.node("Transpose", split, perm=order)

    def _cut_mask(self, scope: Scope, query: str, key: str) -> str:
        """True where a query may see a key: a part of the buffer."""
        queries, keys = size(scope, query, 2), size(scope, key, 3)
        mask = self._mask_buffer()
        first = scope.node("Sub", keys, queries)
        mask = self._slice(scope, mask, vector(scope, first), keys, axis=2)
        return self._slice(scope, mask, scope.constant(int64s(0)), keys, axis=3)

    def _mask_buffer(self) -> str:
        length = self.config.sequence
        values = (row >= column for row in range(length) for column in range(length))
        name = "transformer.h.0.attn.bias"
        if name in self.graph.initializers:
            return name
        return self.graph.initializer(
            name, Tensor.of(DataType.BOOL, [1, 1, length, length], values)
        )

    def _slice(self, scope: Scope, x: str, start: str, end: str, axis: int) -> str:
        return scope.node(
            "Slice",
            x,
            start,
            vector(scope, end),
            scope.constant(int64s(axis)),
            scope.constant(int64s(1)),
        )

    def _mlp(self, scope: Scope, name: str, x: str) -> str:
        width = self.config.width
        hidden = self._linear(scope.child("c_fc"), f"{name}.c_fc", x, width, 4 * width)
        hidden = self._gelu(scope.child("act"), hidden)
        return self._residual(
            scope.child("c_proj"), f"{name}.c_proj", hidden, 4 * width
        )

    def _gelu(self, scope: Scope, x: str) -> str:
        """0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))."""

        def number(value: float) -> str:
            return scope.constant(float32(value))

        half = scope.node("Mul", x, number(0.5))
        cube = scope.node("Pow", x, number(3.0))
        inner = scope.node("Add", x, scope.node("Mul", cube, number(0.044715)))
        inner = scope.node("Mul", inner, number(math.sqrt(2 / math.pi)))
        tanh = scope.node("Tanh", inner)
        return scope.node("Mul", half, scope.node("Add", tanh, number(1.0)))

    def _head(self, x: str) -> None:
        """The token embedding again, transposed."""
        config, scope = self.config, self.graph.scope("/lm_head")
        table = "transformer.wte.weight"
        if config.head == "matmul":
            table = scope.node("Transpose", table, perm=[1, 0])
            scope.node("MatMul", x, table, name="logits")
            return
        batch, length = size(scope, x, 0), size(scope, x, 1)
        matrix = view(scope, x, -1, config.width)
        logits = scope.node("Gemm", matrix, table, transB=1)
        view(scope, logits, batch, length, config.vocabulary, name="logits")


def main() -> None:
    defaults = GptConfig()
    parser = argparse.ArgumentParser(
        prog="pipewright.models.gpt",
        description="Write a language model of GPT-2's architecture as ONNX.",
    )
    for option in ("layers", "width", "heads", "sequence", "vocabulary", "seed"):
        default = getattr(defaults, option)
        parser.add_argument(f"--{option}", type=int, default=default, metavar="N",
                            help=f"default {default}")
    parser.add_argument("--mask", choices=["buffer", "trilu"], default=defaults.mask,
                        help="where the causal mask comes from")
    parser.add_argument("--head", choices=["matmul", "gemm"], default=defaults.head,
                        help="how the logits are computed")
    parser.add_argument("--spelled-out-normalization", action="store_true",
                        help="LayerNorm as ReduceMean, Sub, Pow, ...")
    parser.add_argument("--symbolic-sequence", action="store_true",
                        help="declare the sequence length as 'sequence'")
    parser.add_argument("--dropout", type=float, default=defaults.dropout, metavar="P",
                        help="drop embeddings, attention and what layers add with "
                        "this probability, as in training; default none")
    write_from_command_line(parser, GptConfig, write_gpt)


if __name__ == "__main__":
    main()
