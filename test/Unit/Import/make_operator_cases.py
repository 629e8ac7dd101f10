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

import dataclasses
import pathlib
import shutil
import zlib
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

FOLDER = pathlib.Path(__file__).parent / "OperatorCases"
Arrays = Sequence[np.ndarray | None]


@dataclasses.dataclass
class Case:
    """A node. An operand that is None is left out."""

    operator: str
    operands: Arrays
    results: int = 1
    attributes: Mapping[str, object] = dataclasses.field(default_factory=dict)
    known: Sequence[int] = ()  # the operands that are initializers
    left_out: Sequence[int] = ()  # the results that are not wanted
    integers: Sequence[int] = ()  # the results that are
    domain: str = "com.microsoft"
    is_in_onnx: bool = False  # else ONNX Runtime's alone
    equivalent: Callable[[], list[np.ndarray]] | None = None


def model_of(case: Case) -> onnx.ModelProto:
    names = [
        "" if operand is None else f"x{i}" for i, operand in enumerate(case.operands)
    ]
    results = ["" if i in case.left_out else f"y{i}" for i in range(case.results)]
    node = helper.make_node(
        case.operator, names, results, domain=case.domain, **case.attributes
    )
    inputs, initializers = [], []
    for i, operand in enumerate(case.operands):
        if i in case.known:
            initializers.append(numpy_helper.from_array(operand, names[i]))
        elif operand is not None:
            inputs.append(
                helper.make_tensor_value_info(
                    names[i],
                    helper.np_dtype_to_tensor_dtype(operand.dtype),
                    operand.shape,
                )
            )
    outputs = [
        helper.make_tensor_value_info(
            name, TensorProto.INT32 if i in case.integers else TensorProto.FLOAT, None
        )
        for i, name in enumerate(results)
        if name
    ]
    graph = helper.make_graph([node], "case", inputs, outputs, initializers)
    opsets = [helper.make_opsetid("", 24), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def inputs_of(case: Case) -> dict[str, np.ndarray]:
    return {
        f"x{i}": operand
        for i, operand in enumerate(case.operands)
        if operand is not None and i not in case.known
    }


def evaluate(case: Case) -> list[np.ndarray]:
    if case.equivalent:
        return case.equivalent()
    if case.is_in_onnx:
        return ReferenceEvaluator(model_of(case)).run(None, inputs_of(case))
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(
        model_of(case).SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return session.run(None, inputs_of(case))


def write(name: str, case: Case) -> None:
    outputs = evaluate(case)
    folder = FOLDER / f"test_{name}"
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(model_of(case).SerializeToString())
    for kind, arrays in ("input", inputs_of(case).values()), ("output", outputs):
        for i, array in enumerate(arrays):
            tensor = numpy_helper.from_array(array)
            (data / f"{kind}_{i}.pb").write_bytes(tensor.SerializeToString())


class Random:
    """Operands that do not change when cases are added."""

    def __init__(self, name: str) -> None:
        self.generator = np.random.default_rng(zlib.crc32(name.encode()))

    def __call__(self, *shape: int) -> np.ndarray:
        return self.generator.standard_normal(shape).astype(np.float32)


def ints(*values: object, dtype: type = np.int32) -> np.ndarray:
    return np.array(values, dtype)


# ===-----------------------------------------------------------------------===#
# Attention: 2 samples of 3 positions, 2 heads of 2 numbers
# ===-----------------------------------------------------------------------===#


def attention_cases() -> dict[str, Case]:
    def case(
        name: str,
        mask: np.ndarray | None = None,
        past: int | None = None,
        bias: tuple[int, int] | None = None,
        present: bool = False,
        sizes: tuple[int, int, int] = (4, 4, 4),
        **attributes: object,
    ) -> Case:
        random = Random(name)
        keys = 3 + (past or 0)
        operands = [
            random(2, 3, 4),
            random(4, sum(sizes)),
            random(sum(sizes)),
            mask,
            None if past is None else random(2, 2, 2, past, 2),
            None if bias is None else random(*bias, 3, keys),
        ]
        return Case(
            "Attention", operands, 2 if present else 1, {"num_heads": 2} | attributes
        )

    queries = ints([[1, 0, 0], [1, 1, 0], [0, 0, 0]], [[0, 1, 0], [1, 1, 1], [1, 0, 1]])
    keys = ints([0, 0, 0], [1, 1, 0])
    cases = {
        "plain": dict(),
        "unidirectional": dict(unidirectional=1),
        "scale": dict(scale=0.25),
        "hidden_sizes": dict(sizes=(4, 4, 6), qkv_hidden_sizes=[4, 4, 6]),
        "mask_lengths": dict(mask=ints(2, 3)),
        "mask_ends_and_starts": dict(mask=ints(2, 3, 1, 0)),
        "mask_keys": dict(mask=keys, mask_filter_value=-2.0),
        "mask_keys_causal": dict(
            mask=keys, unidirectional=1, mask_filter_value=-3.4e38
        ),
        "mask_queries": dict(mask=queries, mask_filter_value=-2.0),
        "bias": dict(bias=(1, 2)),
        "bias_and_mask": dict(bias=(2, 1), mask=keys, unidirectional=1),
        "present": dict(present=True),
        "past": dict(past=2, present=True, unidirectional=1),
        "past_mask": dict(
            past=2,
            present=True,
            mask=ints([1, 0, 1, 1, 1], [1, 1, 1, 1, 0]),
            unidirectional=1,
        ),
    }
    random = Random("attention")
    without_bias = Case(
        "Attention", [random(2, 3, 4), random(4, 12)], 1, {"num_heads": 2}
    )
    return {
        f"attention_{name}": case(name, **options) for name, options in cases.items()
    } | {"attention_without_bias": without_bias}


# ===-----------------------------------------------------------------------===#
# ONNX's Attention with caches: 2 query heads of 4 numbers, 1 key head
# ===-----------------------------------------------------------------------===#


def onnx_attention_cases() -> dict[str, Case]:
    random = Random("onnx_attention")

    def case(keys: int, *more: np.ndarray | None, **attributes: object) -> Case:
        heads = [random(2, 2, 3, 4), random(2, 1, keys, 4), random(2, 1, keys, 4)]
        return Case(
            "Attention", [*heads, *more], 4, attributes, domain="", is_in_onnx=True
        )

    past = [random(2, 1, 2, 4), random(2, 1, 2, 4)]
    counts = ints(4, 2, dtype=np.int64)
    short = np.array([[True, False, True, True]])
    return {
        "onnx_attention_past": case(3, None, *past, is_causal=1),
        "onnx_attention_past_mask": case(
            3, random(3, 5), *past, softcap=0.5, qk_matmul_output_mode=2
        ),
        "onnx_attention_counts": case(
            5, None, None, None, counts, is_causal=1, qk_matmul_output_mode=3
        ),
        "onnx_attention_counts_mask": case(
            5, short, None, None, counts, softcap=0.5, qk_matmul_output_mode=1
        ),
    }


# ===-----------------------------------------------------------------------===#
# MultiHeadAttention
# ===-----------------------------------------------------------------------===#


def separate(random: Random, keys: int = 4, value_size: int = 6) -> list[np.ndarray]:
    return [random(2, 3, 4), random(2, keys, 4), random(2, keys, value_size)]


def multi_head_cases() -> dict[str, Case]:
    random = Random("multi_head")

    def case(operands: Arrays, results: int = 1, **attributes: object) -> Case:
        return Case(
            "MultiHeadAttention", operands, results, {"num_heads": 2} | attributes
        )

    def packed(operand: Arrays, plain: Arrays, bias: np.ndarray) -> Case:
        """ONNX Runtime's CPU kernel takes no packed operands."""
        result = case([*operand, bias])
        result.equivalent = lambda: evaluate(case([*plain, bias]))
        return result

    def heads(length: int) -> np.ndarray:
        return random(2, 2, length, 2)

    qkv, kv, query = random(2, 3, 2, 3, 2), random(2, 4, 2, 2, 2), random(2, 3, 4)
    parts = [qkv[..., i, :].reshape(2, 3, 4) for i in range(3)]
    pair = [kv[..., i, :].reshape(2, 4, 4) for i in range(2)]
    hide = ints([1, 0, 0, 1], [0, 1, 1, 1])
    return {
        "multi_head": case([*separate(random), random(14)], 4),
        "multi_head_without_bias": case(separate(random), scale=0.5),
        "multi_head_cross": case([query, heads(5), heads(5), random(12)]),
        "multi_head_packed_qkv": packed([qkv, None, None], parts, random(12)),
        "multi_head_packed_kv": packed([query, kv, None], [query, *pair], random(12)),
        "multi_head_lengths": case([*separate(random), None, ints(2, 3)]),
        "multi_head_mask": case(
            [*separate(random), None, hide, random(1, 2, 3, 4)],
            4,
            mask_filter_value=-1.5,
        ),
        "multi_head_mask_queries": case(
            [*separate(random), None, np.stack([hide, hide ^ 1, hide], 1)]
        ),
        "multi_head_causal": case(separate(random, keys=3), unidirectional=1),
        "multi_head_past": case(
            [
                *separate(random, 3, 4),
                random(12),
                None,
                random(2, 1, 3, 5),
                heads(2),
                heads(2),
            ],
            3,
            unidirectional=1,
        ),
        "multi_head_empty_past": case(
            [*separate(random, 3, 4), None, None, None, heads(0), heads(0)], 3
        ),
    }


# ===-----------------------------------------------------------------------===#
# GroupQueryAttention: 2 heads of 16 numbers, 1 key head
# ===-----------------------------------------------------------------------===#


@dataclasses.dataclass
class Group:
    """A node with `added` new keys after the first `last + 1 - added` of `past`.

    ONNX Runtime wants heads of 16 numbers for rotations, and reads no past where
    the presents are left out."""

    random: Random
    added: int = 2
    past: int = 0
    total: int = 2
    last: tuple[int, ...] = (1, 1)
    size: int = 8
    packed: bool = False

    def operands(self) -> list[np.ndarray | None]:
        batch, size = len(self.last), self.size
        query = self.random(batch, self.added, 2 * size)
        key = self.random(batch, self.added, size)
        value = self.random(batch, self.added, size)
        if self.packed:
            query, key, value = np.concatenate([query, key, value], 2), None, None
        cache = [None, None]
        if self.past:
            cache = [self.random(batch, 1, self.past, size) for _ in range(2)]
        return [
            query,
            key,
            value,
            *cache,
            ints(*self.last),
            np.array(self.total, np.int32),
        ]

    def case(
        self,
        *more: np.ndarray | None,
        results: int = 1,
        known: Sequence[int] = (),
        **attributes: object,
    ) -> Case:
        attributes = {"num_heads": 2, "kv_num_heads": 1} | attributes
        return Case(
            "GroupQueryAttention",
            [*self.operands(), *more],
            results,
            attributes,
            known=(*known, 6),
        )


def group_query_cases() -> dict[str, Case]:
    random = Random("group_query")
    prompt = Group(random)
    decode = Group(random, added=1, past=2, total=3, last=(2, 1))
    known = Group(random, added=1, past=2, total=3, last=(2, 2))
    rotated = {"do_rotary": 1}

    def tables(pairs: int) -> list[np.ndarray]:
        return [random(6, pairs), random(6, pairs)]

    def wide(group: Group) -> Group:
        return dataclasses.replace(group, size=16)

    positions = ints([1, 3], [0, 2], dtype=np.int64)
    bias = random(1, 2, 2, 2)
    return {
        "group_query": prompt.case(results=3),
        "group_query_padded": Group(random, 3, 0, 3, (2, 2)).case(
            results=3, local_window_size=2
        ),
        "group_query_packed": Group(random, packed=True).case(scale=0.5),
        "group_query_window": Group(random, 1, 4, 5, (4, 3)).case(
            results=3, local_window_size=2
        ),
        "group_query_softcap": prompt.case(softcap=0.5),
        "group_query_softcap_bias": prompt.case(None, None, None, bias, softcap=0.5),
        "group_query_smooth": prompt.case(smooth_softmax=1),
        "group_query_sink": prompt.case(None, None, None, None, random(2)),
        "group_query_bias": prompt.case(None, None, None, bias),
        "group_query_bidirectional": Group(random, 3, 0, 3, (2, 2)).case(causal=0),
        "group_query_bidirectional_past": decode.case(results=3, causal=0),
        "group_query_past": decode.case(results=3),
        "group_query_full_past": known.case(results=3, known=[5]),
        "group_query_chunk": Group(random, 2, 3, 5, (3,)).case(results=3),
        "group_query_buffer": Group(random, 2, 4, 2, (1, 1)).case(results=3),
        "group_query_scores": prompt.case(results=4, qk_output=1),
        "group_query_weights": decode.case(results=4, qk_output=2),
        "group_query_rotary": wide(prompt).case(*tables(8), results=3, **rotated),
        "group_query_rotary_part": wide(prompt).case(
            *tables(8), rotary_interleaved=1, **rotated
        ),
        "group_query_rotary_past": wide(decode).case(*tables(8), results=3, **rotated),
        "group_query_rotary_full_past": wide(known).case(
            *tables(8), known=[5], results=3, **rotated
        ),
        "group_query_rotary_positions": wide(prompt).case(
            *tables(8), positions, **rotated
        ),
        "group_query_rotary_past_positions": wide(decode).case(
            *tables(8), positions[:, :1], results=3, **rotated
        ),
        "group_query_norms": normed_group(random),
    }


def rms_norm(x: np.ndarray, scale: np.ndarray, epsilon: float) -> np.ndarray:
    return x / np.sqrt(np.square(x).mean(-1, keepdims=True) + epsilon) * scale


def normed_group(random: Random) -> Case:
    """ONNX Runtime's CPU kernel has no norms of queries and keys."""
    group = Group(random)
    plain = group.case()
    query, key, scales = plain.operands[0], plain.operands[1], [random(8), random(8)]
    case = dataclasses.replace(plain, operands=[*plain.operands, *[None] * 7, *scales])
    case.attributes = {
        **plain.attributes,
        "q_norm_epsilon": 0.5,
        "qk_norm_epsilon": 0.25,
    }
    normed = [
        rms_norm(query.reshape(2, 2, 2, 8), scales[0], 0.5).reshape(query.shape),
        rms_norm(key, scales[1], 0.25),
    ]
    same = dataclasses.replace(plain, operands=[*normed, *plain.operands[2:]])
    case.equivalent = lambda: evaluate(same)
    return case


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
]


def main() -> None:
    shutil.rmtree(FOLDER, ignore_errors=True)
    for family in FAMILIES:
        for name, case in family().items():
            write(name, case)


if __name__ == "__main__":
    main()
