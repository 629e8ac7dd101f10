# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A published model of ONNX Runtime's fused operators, with a past."""

import json
import os
import pathlib
import unittest

import gpt2past
from harness import REFERENCES, EndToEndTest
from pipewright import pipeline
from pipewright.tensorfiles import read_npy, write_npy


class GPT2WithPast(EndToEndTest):
    def run_model(self, past: int, ranks: int) -> pathlib.Path:
        model = pathlib.Path(os.environ["PIPEWRIGHT_MODELS"]) / gpt2past.FILE
        folder = self.folder / f"past-{past}-ranks-{ranks}"
        bind = ",".join(f"{name}={n}" for name, n in gpt2past.sizes(past).items())
        pipeline.build(
            model,
            folder / "build",
            bind=bind,
            microbatches=2,
            ranks=ranks,
            forward_only=True,
        )
        data = []
        for name, tensor in gpt2past.inputs(past).items():
            write_npy(folder / f"{name}.npy", tensor)
            data += ["--data", f"{name}={folder}/{name}.npy"]
        pipeline.run(folder / "build", *data, save_outputs=folder / "outputs")
        return folder / "outputs"

    def assert_outputs(self, folder: pathlib.Path, expected: dict) -> None:
        for name in gpt2past.OUTPUTS:
            output = read_npy(folder / f"{name}.npy")
            self.assertEqual(list(output.shape), expected[name]["shape"], name)
            sample = gpt2past.sample(output.values())
            for value, wanted in zip(sample, expected[name]["sample"], strict=True):
                self.assertAlmostEqual(value, wanted, delta=1e-5, msg=name)

    def test_outputs_are_those_of_onnx_runtime(self):
        reference = json.loads((REFERENCES / "gpt2past.json").read_text())
        for past in gpt2past.PASTS:
            for ranks in (1, 2):
                with self.subTest(past=past, ranks=ranks):
                    folder = self.run_model(past, ranks)
                    self.assert_outputs(folder, reference["outputs"][str(past)])


if __name__ == "__main__":
    unittest.main()
