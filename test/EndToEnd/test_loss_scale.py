# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A loss scale moves gradients through float16 and leaves no other trace."""

import functools
import math
import pathlib
import struct
import unittest

from cases import Case
from harness import EndToEndTest, Layout, build_case
from pipewright import pipeline
from pipewright.models import small
from pipewright.onnxfile import DataType, Tensor
from pipewright.tensorfiles import read_safetensors

LAYERS = 4

# What goes through float16, and the only layer whose gradient is infinite where
# that overflows: what follows layer 0 is the gradient that stage 0 receives, and
# a weight passes its gradient on to nobody.
HALVES = {0: {"wire": 0}, 1: {"weight": 1}, 3: {"weight": 3}}


def samples() -> dict[str, Tensor]:
    """Predictions 1.5 below the target: for the weights 1, 1.125, 1.25, 1.375
    the largest gradient in float16 is between 4 and 8. It becomes infinite under
    a scale of 2^14, not of 2^13, and has all its bits under both 1 and 2^13. All
    steps see the same samples."""
    x = [1.0, 0.75, 1.25, 0.5]
    target = [3.4375, 2.9375, 3.9375, 2.4375]
    return {
        "x": Tensor.of(DataType.FLOAT, [4, 1], x),
        "target": Tensor.of(DataType.FLOAT, [4, 1], target),
    }


def half_case(layer: int, optimizer: str = "sgd") -> Case:
    return Case(
        functools.partial(small.half_precision, LAYERS, **HALVES[layer]),
        "mse:prediction,target",
        samples,
        optimizer=optimizer,
        microbatches=4,
        microbatch_size=1,
        cuts={LAYERS: [f"/layers.{index}/MatMul" for index in range(1, LAYERS)]},
    )


def weights(saved: pathlib.Path) -> list[float]:
    tensors = read_safetensors(saved)
    data = [tensors[f"layers.{index}.weight"].data for index in range(LAYERS)]
    return [struct.unpack("<f", value)[0] for value in data]


class LossScale(EndToEndTest):
    def setUp(self) -> None:
        super().setUp()
        self.saved = self.folder / "saved.safetensors"

    def build(self, case: Case, layout: Layout) -> pathlib.Path:
        folder = pathlib.Path(self.folder, str(len(list(self.folder.iterdir()))))
        folder.mkdir()
        self.options = [*case.write_data(folder), *case.run_options()]
        return build_case(case, layout, folder)[0]

    def train(self, build: pathlib.Path, steps: int, **options) -> list[dict]:
        saved = {"save_parameters": self.saved}
        return pipeline.run(build, *self.options, steps=steps, **saved, **options)

    def test_one_stage_overflows(self):
        for layer in HALVES:
            with self.subTest(f"layer {layer}"):
                build = self.build(half_case(layer), Layout(LAYERS))
                self.train(build, steps=1)
                expected = weights(self.saved)
                (line,) = self.train(build, steps=1, loss_scale=65536)
                self.assertEqual(line["grad_norm"], math.inf)
                found = weights(self.saved)
                self.assertFalse(math.isfinite(found.pop(layer)))
                expected.pop(layer)
                self.assertEqual(found, expected)

    def test_all_ranks_skip_the_same_steps(self):
        layouts = [Layout(LAYERS, "1f1b"), Layout(LAYERS, "gpipe")]
        for layout in layouts:
            for layer in HALVES:
                self.check_dynamic_scale(layer, layout)
        # B and W apart; the loss on rank 0; a loss in each direction.
        others = [Layout(LAYERS, "zb-h1"), Layout(2, "zb-v", chunks=2)]
        for layout in [*others, Layout(LAYERS, "chimera")]:
            self.check_dynamic_scale(0, layout)
        self.check_dynamic_scale(0, Layout(LAYERS), "adamw")

    def check_dynamic_scale(self, layer: int, layout: Layout, optimizer: str = "sgd"):
        # It falls to 2^13, grows after three good steps, and falls again.
        exponents = [16, 15, 14, 13, 13, 13, 14, 13, 13]
        skipped = [exponent > 13 for exponent in exponents]
        with self.subTest(f"layer {layer}, {layout}, {optimizer}"):
            build = self.build(half_case(layer, optimizer), layout)
            plain = self.train(build, steps=skipped.count(False))
            expected = weights(self.saved)
            self.assertNotIn("loss_scale", plain[0])
            self.assertLess(plain[-1]["loss"], plain[0]["loss"])
            lines = self.train(
                build,
                steps=len(exponents),
                loss_scale="dynamic,growth-interval=3",
                fail_on_nan=True,
            )
            self.assertEqual(
                [line["loss_scale"] for line in lines],
                [2.0**exponent for exponent in exponents],
            )
            self.assertEqual([line.get("skipped", False) for line in lines], skipped)
            updated = [line for line in lines if "skipped" not in line]
            for key in ("loss", "grad_norm"):
                self.assertEqual(
                    [line[key] for line in updated], [line[key] for line in plain]
                )
            # A skipped step and the one after it see the same weights.
            for line, following in zip(lines, lines[1:]):
                if "skipped" in line:
                    self.assertEqual(line["loss"], following["loss"])
            self.assertEqual(weights(self.saved), expected)
            self.assertLess(sum(line["step_time_s"] for line in lines), 5)


if __name__ == "__main__":
    unittest.main()
