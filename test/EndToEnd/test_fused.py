# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A model of ONNX Runtime's fused operators learns, alike on 1 and 2 ranks."""

import json
import unittest

import fused
from harness import REFERENCES, EndToEndTest
from pipewright import pipeline
from pipewright.tensorfiles import write_npy


class FusedOperators(EndToEndTest):
    def test_training(self):
        reference = json.loads((REFERENCES / "fused.json").read_text())
        data = []
        for name, tensor in fused.inputs().items():
            write_npy(self.folder / f"{name}.npy", tensor)
            data += ["--data", f"{name}={self.folder}/{name}.npy"]
        losses = {}
        for ranks in (1, 2):
            build = self.folder / f"build-{ranks}"
            pipeline.build(
                fused.MODEL,
                build,
                ranks=ranks,
                microbatches=2,
                microbatch_size=fused.BATCH // 2,
                loss="cross-entropy:logits,labels",
            )
            lines = pipeline.run(build, *data, steps=20, lr=0.01)
            losses[ranks] = [line["loss"] for line in lines]
        self.assertEqual(losses[1], losses[2])
        self.assertAlmostEqual(losses[1][0], reference["loss"], delta=1e-5)
        self.assertLess(losses[1][-1], reference["loss"] / 2)


if __name__ == "__main__":
    unittest.main()
