# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the memory of a plan with what PyTorch needs for the same graph."""

from __future__ import annotations

import json
import unittest

from harness import REFERENCES, EndToEndTest
from memory_cases import MEMORY_CASES
from pipewright import pipeline
from pipewright.models import gpt


class ComparedWithPyTorch(EndToEndTest):
    def measure(self, name: str) -> dict:
        case = MEMORY_CASES[name]
        model = self.folder / f"{name}.onnx"
        gpt.write_gpt(case.model).save(model)
        manifest = pipeline.build(
            model,
            self.folder / name,
            ranks=1,
            microbatches=1,
            microbatch_size=case.batch,
            loss="cross-entropy:logits,labels",
        )
        return manifest["memory"][0]

    def test_no_more_is_in_use_than_in_autograd(self):
        reference = json.loads((REFERENCES / "memory.json").read_text())["cases"]
        self.assertEqual(reference.keys(), MEMORY_CASES.keys())
        for name in MEMORY_CASES:
            with self.subTest(name):
                memory = self.measure(name)
                used = memory["activations"] + memory["workspace"]
                self.assertLessEqual(used, reference[name]["peak_bytes"])


if __name__ == "__main__":
    unittest.main()
