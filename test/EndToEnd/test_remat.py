# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Policies of recomputation change the memory of a run and not one bit of it."""

from __future__ import annotations

import json
import pathlib
import unittest

from cases import CROSS_ENTROPY, EXPORTS, Case
from harness import EndToEndTest, Layout, build_case, run_case, train_case
from pipewright import pipeline
from pipewright.models import gpt
from pipewright.tensorfiles import token_walk

WIDTH, HEADS, SEQUENCE, VOCABULARY = 32, 4, 16, 64
LAYERS = 6
POLICIES = ["none", "selective", "full"]


def dropout_gpt(layers: int = LAYERS, sequence: int = SEQUENCE) -> gpt.GptConfig:
    return gpt.GptConfig(
        layers=layers,
        width=WIDTH,
        heads=HEADS,
        sequence=sequence,
        vocabulary=VOCABULARY,
        dropout=0.25,
    )


GPT = Case(
    lambda: gpt.write_gpt(dropout_gpt()),
    CROSS_ENTROPY,
    tokens=lambda: token_walk(SEQUENCE * 41 + 1, vocabulary=VOCABULARY),
    learning_rate=1e-2,
    clip=1.0,
    steps=3,
    microbatches=4,
    microbatch_size=1,
)

EXPORTED = [
    "bert-dynamo-18",
    "gpt2-dynamo-23",
    "llama-dynamo-23",
    "mixtral-dynamo-18",
    "resnet-torchscript-17",
    "t5-torchscript-14",
]

# The embedding, the blocks, the head and the loss: chains of full layers behind
# and before the others, and some of them across a boundary.
MIXED = [
    "full,full,selective,none,full,full,selective,full,none",
    "none,selective,full,none,selective,full,full,none,full",
]


class SameBits(EndToEndTest):
    def test_gpt(self) -> None:
        single = train_case(GPT, Layout(), self.make_folder("single"))
        shapes = [(1, "1f1b"), (2, "1f1b"), (3, "zb-h1"), (2, "interleaved-1f1b")]
        for ranks, schedule in shapes:
            for remat in [*POLICIES, *MIXED]:
                layout = Layout(ranks, schedule, remat)
                with self.subTest(str(layout)):
                    outcome = train_case(GPT, layout, self.folder)
                    self.assert_same_bits(outcome, single)

    def test_two_directions(self) -> None:
        """Both add gradients in another order than one rank does."""
        kept = train_case(GPT, Layout(2, "dualpipe"), self.folder)
        for remat in ["selective", "full", MIXED[0]]:
            layout = Layout(2, "dualpipe", remat)
            with self.subTest(str(layout)):
                self.assert_same_bits(train_case(GPT, layout, self.folder), kept)

    def test_exports(self) -> None:
        """Norms, activations, experts and attention as exporters write them."""
        for name in EXPORTED:
            with self.subTest(name):
                case, folder = EXPORTS[name], self.make_folder(name)
                kept, outcome = (
                    train_case(case, Layout(2, "1f1b", remat), folder, steps=2)
                    for remat in ["none", "selective"]
                )
                self.assert_same_bits(outcome, kept)

    def make_folder(self, name: str) -> pathlib.Path:
        folder = self.folder / name
        folder.mkdir()
        return folder


class Memory(EndToEndTest):
    def test_arenas_shrink(self) -> None:
        """Where several micro-batches are under way; what is made again of one
        takes the place that it would have had."""
        for ranks, schedule in [(1, "gpipe"), (2, "1f1b")]:
            with self.subTest(schedule):
                none, selective, full = (
                    build_case(GPT, Layout(ranks, schedule, remat), self.folder)[1]
                    for remat in POLICIES
                )
                first = [m["memory"][0] for m in (none, selective, full)]
                arenas = [rank["arena"] for rank in first]
                activations = [rank["activations"] for rank in first]
                self.assertEqual(arenas, sorted(arenas, reverse=True))
                self.assertEqual(activations, sorted(activations, reverse=True))
                self.assertEqual(len(set(activations)), 3)

    def inspect(self, sequence: int, **options: str) -> dict:
        """The first block of GPT."""
        model = self.folder / f"{sequence}.onnx"
        gpt.write_gpt(dropout_gpt(2, sequence)).save(model)
        text = pipeline.call(
            *["pipewright", "inspect", model, "--json", "--microbatch-size", "1"],
            *pipeline.flags({"loss": CROSS_ENTROPY, **options}),
        )
        return json.loads(text)["layers"][1]

    def test_nothing_of_attention_is_kept(self) -> None:
        """With the policy `selective` a block keeps in 16 bits what is linear in
        the sequence: per token and channel 2 bytes of the input, 6 of queries,
        keys and values, 2 of the result of attention, 4 of the input of the
        second norm, which is f32, and 8 of that of the activation. Attention
        alone would add
        5 a s^2 b (Korthikanti et al., arXiv:2205.05198); of it, `none` keeps
        the weights, 2 a s^2 b, from which the rest is at hand."""
        for sequence in (16, 32):
            block = self.inspect(sequence, precision="bf16")
            kept = 22 * sequence * WIDTH
            self.assertEqual(block["residual_bytes_selective"], kept)
            self.assertGreaterEqual(
                block["residual_bytes"], kept + 2 * HEADS * sequence**2
            )
            self.assertEqual(block["residual_bytes_full"], 2 * sequence * WIDTH)
            self.assertLess(
                block["seconds_recompute_selective"], block["seconds_forward"]
            )


class Refusals(EndToEndTest):
    def refuse(self, remat: str) -> str:
        with self.assertRaises(pipeline.CommandError) as raised:
            build_case(GPT, Layout(2, "1f1b", remat), self.folder)
        self.assertEqual(raised.exception.status, 1)
        return raised.exception.diagnostics

    def test_unknown_policy(self) -> None:
        self.assertRegex(self.refuse("most"), "remat.* 'most'.*none, selective, full")

    def test_wrong_count(self) -> None:
        self.assertIn(
            "has 9 layers, but policies for 2 are given", self.refuse("none,full")
        )


if __name__ == "__main__":
    unittest.main()
