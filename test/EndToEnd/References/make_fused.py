# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes Exports/fused-operators.onnx, and fused.json: its loss by ONNX Runtime.

Two layers of com.microsoft's operators: one as the optimizer fuses GPT-2's, one
with grouped heads and experts beside each other. Needs the PyPI packages `onnx`
and `onnxruntime`; made with 1.23 and 1.32:

    PYTHONPATH=python:test/EndToEnd python3 \
        test/EndToEnd/References/make_fused.py
"""

from __future__ import annotations

import json
import pathlib

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

import fused

SIZE, EXPERTS, INNER = 16, 4, 12
HEADS = {"num_heads": 2}
EPSILON = {"epsilon": 1e-5}


class Graph:
    def __init__(self) -> None:
        self.random = np.random.default_rng(0)
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []

    def constant(self, name: str, value: np.ndarray) -> str:
        self.initializers.append(numpy_helper.from_array(value, name))
        return name

    def weight(self, name: str, *shape: int, deviation: float = 0.2) -> str:
        values = self.random.standard_normal(shape) * deviation
        return self.constant(name, values.astype(np.float32))

    def gain(self, name: str) -> str:
        return self.constant(name, np.ones(SIZE, np.float32))

    def add(
        self,
        operator: str,
        operands: list[str],
        *results: str,
        domain: str = "com.microsoft",
        **attributes: object,
    ) -> str:
        self.nodes.append(
            helper.make_node(
                operator,
                operands,
                results,
                name=results[0],
                domain=domain,
                **attributes,
            )
        )
        return results[0]

    def project(self, x: str, name: str, rows: int, columns: int) -> str:
        return self.add(
            "MatMul", [x, self.weight(f"{name}.w", rows, columns)], name, domain=""
        )


def add_first_layer(graph: Graph, x: str, residual: str) -> tuple[str, str]:
    pre, weight = "layers.0/", graph.weight
    attention = graph.add(
        "Attention",
        [
            x,
            weight(pre + "qkv", SIZE, 3 * SIZE),
            weight(pre + "qkv.b", 3 * SIZE),
            "mask",
        ],
        pre + "attention",
        unidirectional=1,
        **HEADS,
    )
    projected = graph.project(attention, pre + "projection", SIZE, SIZE)
    norm, skip = pre + "norm1", pre + "skip1"
    graph.add(
        "SkipLayerNormalization",
        [
            projected,
            residual,
            graph.gain(pre + "gain1"),
            weight(pre + "shift1", SIZE),
            weight(pre + "bias1", SIZE),
        ],
        norm,
        "",
        "",
        skip,
        **EPSILON,
    )
    inner = graph.project(norm, pre + "up", SIZE, 2 * SIZE)
    inner = graph.add("FastGelu", [inner, weight(pre + "up.b", 2 * SIZE)], pre + "gelu")
    outer = graph.project(inner, pre + "down", 2 * SIZE, SIZE)
    graph.add(
        "SkipLayerNormalization",
        [outer, skip, graph.gain(pre + "gain2"), weight(pre + "shift2", SIZE)],
        pre + "norm2",
        "",
        "",
        pre + "skip2",
        **EPSILON,
    )
    return pre + "norm2", pre + "skip2"


def add_second_layer(graph: Graph, x: str, residual: str) -> str:
    pre, weight = "layers.1/", graph.weight
    heads = [
        graph.project(x, pre + name, SIZE, size)
        for name, size in (("q", SIZE), ("k", SIZE // 2), ("v", SIZE // 2))
    ]
    total = graph.constant("total", np.array(fused.SEQUENCE, np.int32))
    attention = graph.add(
        "GroupQueryAttention",
        [*heads, "", "", "last", total],
        pre + "attention",
        kv_num_heads=1,
        **HEADS,
    )
    norm, skip = pre + "norm1", pre + "skip1"
    graph.add(
        "SkipSimplifiedLayerNormalization",
        [attention, residual, graph.gain(pre + "gain1")],
        norm,
        "",
        "",
        skip,
        **EPSILON,
    )
    flat = graph.constant("flat", np.array([-1, SIZE], np.int64))
    tokens = graph.add("Reshape", [norm, flat], pre + "tokens", domain="")
    experts = graph.add(
        "MoE",
        [
            norm,
            graph.project(tokens, pre + "router", SIZE, EXPERTS),
            weight(pre + "fc1", EXPERTS, 2 * INNER, SIZE),
            weight(pre + "fc1.b", EXPERTS, 2 * INNER),
            weight(pre + "fc2", EXPERTS, SIZE, INNER),
            weight(pre + "fc2.b", EXPERTS, SIZE),
        ],
        pre + "experts",
        k=2,
        activation_type="swiglu",
        swiglu_fusion=1,
        normalize_routing_weights=1,
        activation_alpha=1.75,
        activation_beta=1.0,
        swiglu_limit=7.0,
    )
    return graph.add(
        "SkipSimplifiedLayerNormalization",
        [experts, skip, graph.gain(pre + "gain2")],
        pre + "norm2",
        **EPSILON,
    )


def make_model() -> onnx.ModelProto:
    graph = Graph()
    tables = [
        graph.weight("words", fused.VOCABULARY, SIZE),
        graph.weight("positions", fused.SEQUENCE, SIZE),
    ]
    graph.add(
        "EmbedLayerNormalization",
        ["ids", "", *tables, "", graph.gain("gain"), graph.weight("shift", SIZE)],
        "embeddings",
        "",
        "sum",
    )
    x, residual = add_first_layer(graph, "embeddings", "sum")
    x = add_second_layer(graph, x, residual)
    graph.project(x, "logits", SIZE, fused.VOCABULARY)

    def value(name: str, dtype: int, *shape: int) -> onnx.ValueInfoProto:
        return helper.make_tensor_value_info(name, dtype, ["batch", *shape])

    inputs = [
        value("ids", TensorProto.INT32, fused.SEQUENCE),
        value("mask", TensorProto.INT32, fused.SEQUENCE),
        value("last", TensorProto.INT32),
    ]
    outputs = [value("logits", TensorProto.FLOAT, fused.SEQUENCE, fused.VOCABULARY)]
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(
        helper.make_graph(graph.nodes, "fused", inputs, outputs, graph.initializers),
        opset_imports=opsets,
        ir_version=8,
    )


def loss_of(model: onnx.ModelProto) -> float:
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    data = {
        name: np.array(tensor.values()).reshape(tensor.shape)
        for name, tensor in fused.inputs().items()
    }
    labels = data.pop("labels")
    feeds = {name: values.astype(np.int32) for name, values in data.items()}
    logits = session.run(["logits"], feeds)[0].astype(np.float64)
    exponentials = np.exp(logits - logits.max(-1, keepdims=True))
    probabilities = exponentials / exponentials.sum(-1, keepdims=True)
    chosen = np.take_along_axis(probabilities, labels[..., None], -1)
    return float(-np.log(chosen).mean())


def main() -> None:
    model = make_model()
    onnx.save(model, fused.MODEL)
    document = {"onnxruntime": onnxruntime.__version__, "loss": loss_of(model)}
    output = pathlib.Path(__file__).parent / "fused.json"
    output.write_text(json.dumps(document) + "\n")


if __name__ == "__main__":
    main()
