# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A published model: outputs as ONNX's evaluator has them, and training."""

import json
import os
import pathlib
import unittest

import distilbert
from harness import REFERENCES, EndToEndTest
from pipewright import pipeline
from pipewright.onnxfile import DataType, Tensor
from pipewright.tensorfiles import (
    read_npy,
    read_safetensors,
    write_npy,
    write_safetensors,
)


class DistilBert(EndToEndTest):
    def setUp(self) -> None:
        super().setUp()
        self.model = pathlib.Path(os.environ["PIPEWRIGHT_MODELS"]) / distilbert.FILE
        self.reference = json.loads((REFERENCES / "distilbert.json").read_text())

    def data(self, **inputs: Tensor) -> list[str]:
        options = []
        for name, tensor in (distilbert.inputs() | inputs).items():
            write_npy(self.folder / f"{name}.npy", tensor)
            options += ["--data", f"{name}={self.folder}/{name}.npy"]
        return options

    def build(self, name: str, **options) -> pathlib.Path:
        output = self.folder / name
        bind = f"batch=2,sequence={distilbert.SEQUENCE}"
        pipeline.build(self.model, output, bind=bind, microbatches=2, **options)
        return output

    def assert_outputs(self, build: pathlib.Path, expected: list, **options) -> None:
        folder = build.with_suffix(".outputs")
        pipeline.run(build, *self.data(), save_outputs=folder, **options)
        logits = read_npy(folder / "logits.npy")
        self.assertEqual(logits.shape, (distilbert.BATCH, 2))
        flat = [value for row in expected for value in row]
        for actual, value in zip(logits.values(), flat, strict=True):
            self.assertAlmostEqual(actual, value, delta=1e-5)

    def test_outputs(self):
        for ranks in (1, 2, 3):
            with self.subTest(ranks=ranks):
                build = self.build(f"forward-{ranks}", ranks=ranks, forward_only=True)
                self.assert_outputs(build, self.reference["logits"])

    def test_outputs_with_random_weights(self):
        weights = self.folder / "weights.safetensors"
        build = self.build("forward", ranks=2, forward_only=True)
        initial = read_safetensors(build / "weights.safetensors")
        write_safetensors(weights, initial | distilbert.random_weights(self.model))
        self.assert_outputs(build, self.reference["random_logits"], weights=weights)

    def test_training_lowers_the_loss_alike_on_2_and_3_ranks(self):
        labels = Tensor.of(DataType.INT64, [distilbert.BATCH], [0, 1, 1, 1])
        losses = {}
        for ranks in (2, 3):
            build = self.build(
                f"training-{ranks}", ranks=ranks, loss="cross-entropy:logits,labels"
            )
            data = self.data(labels=labels)
            lines = pipeline.run(build, *data, steps=20, lr=0.01)
            losses[ranks] = [line["loss"] for line in lines]
        self.assertEqual(losses[2], losses[3])
        self.assertAlmostEqual(losses[2][0], 0.6931, delta=0.01)
        self.assertLess(losses[2][-1], 0.65)


if __name__ == "__main__":
    unittest.main()
