# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cases of attention, with masks, caches and rotations."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from operator_case import Arrays, Case, Random, evaluate, ints

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
