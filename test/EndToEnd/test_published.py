# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Published models: outputs as ONNX Runtime has them, and training with
the same bits on 1, 2 and 3 ranks, as far as there are layers.

Usage: test_published.py MODEL...
"""

import json
import os
import pathlib
import sys
import unittest

import published
from harness import REFERENCES, EndToEndTest
from pipewright import pipeline
from pipewright.tensorfiles import read_npy, write_npy

STEPS = 5
MICROBATCHES = 2


class Published(EndToEndTest):
    def __init__(self, name: str):
        super().__init__("check")
        self.name = name

    def setUp(self) -> None:
        super().setUp()
        self.model = self.folder / "model.onnx"
        folder = pathlib.Path(os.environ["PIPEWRIGHT_MODELS"])
        published.save(self.name, folder, self.model)
        self.input = published.input_name(self.model)
        self.output = published.output_name(self.model)
        self.known = published.MODELS[self.name]

    def check(self) -> None:
        most = self.known.ranks
        for ranks in {1, most}:
            with self.subTest("outputs", ranks=ranks):
                self.check_outputs(ranks)
        single = self.train(1)
        self.assertEqual(len(single), STEPS)
        self.assertNotEqual(single[0], single[-1])
        for ranks in range(2, most + 1):
            with self.subTest("training", ranks=ranks):
                self.assertEqual(self.train(ranks), single)

    def build(
        self, name: str, ranks: int, microbatches: int, **options: str | bool
    ) -> pathlib.Path:
        output = self.folder / name
        pipeline.build(
            self.model,
            output,
            ranks=ranks,
            microbatches=microbatches,
            microbatch_size=self.known.samples,
            bind=self.known.bind,
            **options,
        )
        return output

    def check_outputs(self, ranks: int) -> None:
        build = self.build(f"forward-{ranks}", ranks, 1, forward_only=True)
        write_npy(self.folder / "input.npy", published.inputs(self.name))
        outputs = self.folder / f"outputs-{ranks}"
        data = f"{self.input}={self.folder}/input.npy"
        pipeline.run(build, data=data, save_outputs=outputs)
        actual = read_npy(next(outputs.iterdir())).values()
        expected = json.loads((REFERENCES / "published.json").read_text())[self.name]
        for value, reference in zip(published.sample(actual), expected, strict=True):
            self.assertLessEqual(abs(value - reference), 1e-6 + 1e-3 * abs(reference))

    def train(self, ranks: int) -> list[float]:
        loss = f"mse:{self.output},target"
        build = self.build(f"training-{ranks}", ranks, MICROBATCHES, loss=loss)
        write_npy(self.folder / "inputs.npy", published.inputs(self.name, MICROBATCHES))
        write_npy(self.folder / "target.npy", published.targets(self.name, MICROBATCHES))
        lines = pipeline.run(
            build,
            "--data",
            f"{self.input}={self.folder}/inputs.npy",
            "--data",
            f"target={self.folder}/target.npy",
            steps=STEPS,
        )
        return [line["loss"] for line in lines]


if __name__ == "__main__":
    suite = unittest.TestSuite(Published(name) for name in sys.argv[1:])
    sys.exit(not unittest.TextTestRunner().run(suite).wasSuccessful())
