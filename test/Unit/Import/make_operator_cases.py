# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes OperatorCases/: operators of ONNX Runtime, with what it computes.

The folders have the layout of ONNX's own operator tests. Needs the PyPI
packages `numpy`, `onnx` and `onnxruntime`; made with 2.4, 1.23 and 1.32:

    python3 test/Unit/Import/make_operator_cases.py

What ONNX Runtime does not run on a CPU is given to it in another form that
means the same: `Case.equivalent`. ONNX's own evaluator computes ONNX's own
operators.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence

import numpy as np

from attention_cases import (
    attention_cases,
    group_query_cases,
    multi_head_cases,
    onnx_attention_cases,
)
from operator_case import FOLDER, Case, Random, evaluate, ints, write

# ===-----------------------------------------------------------------------===#
# Norms, activations, products
# ===-----------------------------------------------------------------------===#


def norm_cases() -> dict[str, Case]:
    random = Random("norm")

    def skip(*operands: np.ndarray | None, **options: object) -> Case:
        return Case("SkipLayerNormalization", [random(2, 3, 4), *operands], **options)

    def skip_rms(*operands: np.ndarray, **options: object) -> Case:
        return Case(
            "SkipSimplifiedLayerNormalization", [random(2, 3, 4), *operands], **options
        )

    def embed(*operands: np.ndarray | None, results: int = 3) -> Case:
        tables = [random(5, 4), random(6, 4)]
        words, segments, segment_table, *more = operands
        return Case(
            "EmbedLayerNormalization",
            [words, segments, *tables, segment_table, random(4), random(4), *more],
            results,
            {"epsilon": 1e-3},
            integers=[1],
        )

    words, segments = ints([1, 4, 0], [3, 3, 2]), ints([0, 0, 1], [1, 0, 1])
    mask = ints([1, 1, 0], [0, 0, 1])
    return {
        "skip_layer_norm": skip(
            random(2, 3, 4), random(4), random(4), random(4), results=4
        ),
        "skip_layer_norm_of_rows": skip(random(3, 4), random(4)),
        "skip_layer_norm_of_sample": skip(
            random(1, 3, 4), random(4), None, random(4), attributes={"epsilon": 0.5}
        ),
        "skip_rms_norm": skip_rms(random(2, 3, 4), random(4), random(4), results=4),
        "skip_rms_norm_sum": skip_rms(
            random(2, 3, 4),
            random(4),
            results=4,
            left_out=[1, 2],
            attributes={"epsilon": 0.5},
        ),
        "simplified_layer_norm": Case(
            "SimplifiedLayerNormalization",
            [random(2, 3, 4), random(4)],
            2,
            {"epsilon": 0.5},
            domain="",
        ),
        "embed_layer_norm": embed(words, segments, random(2, 4), mask),
        "embed_layer_norm_positions": embed(words, None, None, None, ints([2, 0, 1])),
        "embed_layer_norm_words": embed(words, None, None, results=2),
    }


def activation_cases() -> dict[str, Case]:
    random = Random("activation")
    x, bias = random(2, 6), random(6)
    cases = {
        "gelu": Case("Gelu", [x]),
        "bias_gelu": Case("BiasGelu", [x, bias]),
        "fast_gelu": Case("FastGelu", [x]),
        "fast_gelu_bias": Case("FastGelu", [x, bias]),
        "quick_gelu": Case("QuickGelu", [x], attributes={"alpha": 1.5}),
        "bias_split_gelu": Case("BiasSplitGelu", [x[None], bias]),
    }

    def split_gelu() -> list[np.ndarray]:
        """ONNX Runtime's CPU kernels lack it."""
        left, right = np.split(x[None] + bias, 2, axis=-1)
        return [left * evaluate(Case("Gelu", [right]))[0]]

    cases["bias_split_gelu"].equivalent = split_gelu
    return cases


def product_cases() -> dict[str, Case]:
    random = Random("product")

    def product(
        lhs: tuple[int, ...], rhs: tuple[int, ...], **attributes: object
    ) -> Case:
        return Case("FusedMatMul", [random(*lhs), random(*rhs)], 1, attributes)

    def gemm(activation: str, **attributes: object) -> Case:
        named = {f"activation_{name}": value for name, value in attributes.items()}
        return Case(
            "FusedGemm",
            [random(2, 3), random(3, 4), random(4)],
            1,
            {"activation": activation} | named,
        )

    return {
        "fused_matmul": product((2, 3, 4), (2, 4, 2), alpha=0.5),
        "fused_matmul_transposed": product((2, 4, 3), (2, 2, 4), transA=1, transB=1),
        "fused_matmul_batch": product(
            (3, 2, 4), (4, 2, 2), transBatchA=1, transBatchB=1
        ),
        "fused_matmul_both": product(
            (4, 2, 3), (2, 2, 4), transBatchA=1, transA=1, transB=1
        ),
        "fused_gemm_relu": gemm("Relu"),
        "fused_gemm_tanh": gemm("Tanh"),
        "fused_gemm_sigmoid": gemm("Sigmoid"),
        "fused_gemm_leaky_relu": gemm("LeakyRelu", alpha=0.25),
        "fused_gemm_elu": gemm("Elu", alpha=0.5),
        "fused_gemm_celu": gemm("Celu", alpha=0.5),
        "fused_gemm_selu": gemm("Selu", alpha=0.5, gamma=1.5),
        "fused_gemm_hard_sigmoid": gemm("HardSigmoid", alpha=0.25, beta=0.5),
        "fused_gemm_softplus": gemm("Softplus"),
        "fused_gemm_softsign": gemm("Softsign"),
        "fused_gemm_thresholded_relu": gemm("ThresholdedRelu", alpha=0.25),
    }


def rotary_cases() -> dict[str, Case]:
    random = Random("rotary")

    def case(
        x: tuple[int, ...],
        positions: np.ndarray,
        *,
        known: Sequence[int] = (),
        **attributes: object,
    ) -> Case:
        return Case(
            "RotaryEmbedding",
            [random(*x), positions, random(6, 2), random(6, 2)],
            1,
            attributes,
            known,
        )

    one = ints(2, dtype=np.int64)
    each = ints([1, 2, 5], [0, 1, 2], dtype=np.int64)
    return {
        "rotary": case((2, 3, 8), one),
        "rotary_known": case((2, 3, 8), one, known=[1], num_heads=2),
        "rotary_positions": case((2, 3, 8), each, interleaved=1),
        "rotary_part": case((2, 3, 12), each, num_heads=2, rotary_embedding_dim=4),
        "rotary_heads": case((2, 2, 3, 4), each),
    }


# ===-----------------------------------------------------------------------===#
# MoE: 3 tokens of 4 numbers, 3 experts with 2 numbers inside
# ===-----------------------------------------------------------------------===#


def expert_cases() -> dict[str, Case]:
    random = Random("expert")

    def case(
        inner: int = 2, third: bool = False, flat: bool = True, **attributes: object
    ) -> Case:
        operands = [
            random(3, 4) if flat else random(1, 3, 4),
            random(3, 3),
            random(3, inner, 4),
            random(3, inner),
            random(3, 4, 2),
            random(3, 4),
            *([random(3, 2, 4), random(3, 2)] if third else []),
        ]
        return Case("MoE", operands, 1, {"k": 2} | attributes)

    def swiglu(**attributes: object) -> Case:
        return case(
            inner=4, activation_type="swiglu", **{"swiglu_fusion": 1} | attributes
        )

    def interleave(first: np.ndarray, second: np.ndarray) -> np.ndarray:
        return np.stack([first, second], 2).reshape(3, 4, *first.shape[2:])

    def as_interleaved(form: Case, apart: Sequence[np.ndarray]) -> Case:
        """ONNX Runtime's CPU kernel has gates beside what they gate alone."""
        weights, bias, third_weights, third_bias = apart
        operands = list(form.operands[:6])
        operands[2] = interleave(weights, third_weights)
        operands[3] = interleave(bias, third_bias)
        fused = {"activation_type": "swiglu", "swiglu_fusion": 1}
        same = Case("MoE", operands, 1, {**form.attributes, **fused})
        form.equivalent = lambda: evaluate(same)
        return form

    halves = swiglu(swiglu_fusion=2)
    first, bias = halves.operands[2:4]
    third = case(third=True, activation_type="swiglu")
    gated = case(third=True, activation_type="silu")  # a SwiGLU without limits
    without_biases = case(activation_type="gelu", flat=False, k=1)
    without_biases.operands[3] = without_biases.operands[5] = None
    return {
        "experts_relu": case(),
        "experts_silu": case(activation_type="silu", normalize_routing_weights=1),
        "experts_gelu_without_bias": without_biases,
        "experts_identity": case(activation_type="identity", k=3),
        "experts_swiglu": swiglu(),
        "experts_swiglu_limit": swiglu(
            activation_alpha=1.75, activation_beta=1.0, swiglu_limit=0.5
        ),
        "experts_swiglu_halves": as_interleaved(
            halves, [first[:, :2], bias[:, :2], first[:, 2:], bias[:, 2:]]
        ),
        "experts_swiglu_third": as_interleaved(
            third, [third.operands[i] for i in (2, 3, 6, 7)]
        ),
        "experts_silu_third": as_interleaved(
            gated, [gated.operands[i] for i in (2, 3, 6, 7)]
        ),
    }


# ===-----------------------------------------------------------------------===#
# Scatter, padding, images
# ===-----------------------------------------------------------------------===#


def scatter_cases() -> dict[str, Case]:
    """Some elements have several updates, and some have none."""
    random = Random("scatter")

    def case(operator: str, reduction: str, indices: object, *shape: int) -> Case:
        operands = [random(4, 3), np.array(indices, np.int64), random(*shape)]
        attributes = {"reduction": reduction}
        return Case(operator, operands, 1, attributes, domain="")

    elements = [[0, 2, 1], [0, 2, -1], [3, 1, 1]]
    slices = [[1], [3], [1], [-1]]
    return {
        "scatter_elements_mul": case("ScatterElements", "mul", elements, 3, 3),
        "scatter_elements_max": case("ScatterElements", "max", elements, 3, 3),
        "scatter_elements_min": case("ScatterElements", "min", elements, 3, 3),
        "scatter_slices_max": case("ScatterND", "max", slices, 4, 3),
        "scatter_slices_min": case("ScatterND", "min", slices, 4, 3),
    }


def pad_cases() -> dict[str, Case]:
    random = Random("pad")

    def case(mode: str, *amounts: int) -> Case:
        operands = [random(2, 3, 4), np.array(amounts, np.int64)]
        return Case("Pad", operands, 1, {"mode": mode}, known=[1], domain="")

    return {
        "pad_edge": case("edge", 1, 0, 3, 0, 2, -1),
        "pad_reflect": case("reflect", 1, 2, 3, 0, 1, 2),
        "pad_wrap": case("wrap", 2, 0, 3, 1, 3, 1),
    }


def resize_cases() -> dict[str, Case]:
    random = Random("resize")

    def case(mode: str, sizes: Sequence[int], **attributes: object) -> Case:
        operands = [random(1, 2, 7, 9), None, None, np.array([1, 2, *sizes], np.int64)]
        attributes |= {"mode": mode, "antialias": 1}
        return Case("Resize", operands, 1, attributes, known=[3], domain="")

    return {
        "resize_antialias_linear": case("linear", (3, 4)),
        "resize_antialias_cubic": case("cubic", (3, 4), exclude_outside=1),
        "resize_antialias_larger": case("linear", (5, 12)),
    }


# ===-----------------------------------------------------------------------===#
# Recurrent layers
# ===-----------------------------------------------------------------------===#


def recurrent_cases() -> dict[str, Case]:
    random = Random("recurrent")
    steps, batch, inputs, hidden = 3, 2, 4, 5

    def case(
        operator: str,
        gates: int,
        *more: np.ndarray,
        directions: int = 1,
        **attributes: object,
    ) -> Case:
        rows = gates * hidden
        operands = [
            random(steps, batch, inputs),
            random(directions, rows, inputs),
            random(directions, rows, hidden),
            random(directions, 2 * rows),
            None,
            random(directions, batch, hidden),
            *more,
        ]
        attributes |= {"hidden_size": hidden}
        results = 3 if operator == "LSTM" else 2
        return Case(operator, operands, results, attributes, domain="")

    both = {"directions": 2, "direction": "bidirectional"}
    cells, peepholes = random(2, batch, hidden), random(2, 3 * hidden)
    return {
        "lstm_both": case("LSTM", 4, cells, peepholes, **both),
        "gru_both": case("GRU", 3, **both),
        "gru_reverse": case("GRU", 3, direction="reverse", linear_before_reset=1),
        "rnn_reverse": case("RNN", 1, direction="reverse"),
    }


FAMILIES = [
    attention_cases,
    onnx_attention_cases,
    multi_head_cases,
    group_query_cases,
    norm_cases,
    activation_cases,
    product_cases,
    rotary_cases,
    expert_cases,
    scatter_cases,
    pad_cases,
    resize_cases,
    recurrent_cases,
]


def main() -> None:
    shutil.rmtree(FOLDER, ignore_errors=True)
    for family in FAMILIES:
        for name, case in family().items():
            write(name, case)


if __name__ == "__main__":
    main()
