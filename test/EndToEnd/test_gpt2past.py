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
    def test_outputs_are_those_of_onnx_runtime(self):
        model = pathlib.Path(os.environ["PIPEWRIGHT_MODELS"]) / gpt2past.FILE
        reference = json.loads((REFERENCES / "gpt2past.json").read_text())
        bind = ",".join(f"{name}={size}" for name, size in gpt2past.BIND.items())
        data = []
        for name, tensor in gpt2past.inputs().items():
            write_npy(self.folder / f"{name}.npy", tensor)
            data += ["--data", f"{name}={self.folder}/{name}.npy"]
        for ranks in (1, 2):
            build = self.folder / f"build-{ranks}"
            pipeline.build(
                model, build, bind=bind, microbatches=2, ranks=ranks, forward_only=True
            )
            folder = self.folder / f"outputs-{ranks}"
            pipeline.run(build, *data, save_outputs=folder)
            for name in gpt2past.OUTPUTS:
                with self.subTest(ranks=ranks, output=name):
                    output = read_npy(folder / f"{name}.npy")
                    expected = reference["outputs"][name]
                    self.assertEqual(list(output.shape), expected["shape"])
                    actual = gpt2past.sample(output.values())
                    for value, wanted in zip(actual, expected["sample"], strict=True):
                        self.assertAlmostEqual(value, wanted, delta=1e-5)


if __name__ == "__main__":
    unittest.main()
