# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What 16 bits save, what stays in 32, and models that are stored in other types."""

import array
import math
import pathlib
import struct
import unittest
from dataclasses import replace

from cases import CASES, PRECISION_CASES, Case
from harness import EndToEndTest, Layout, build_case
from pipewright import pipeline
from pipewright.onnxfile import DataType, Graph, Tensor
from pipewright.tensorfiles import read_npy, read_safetensors, uniform, write_npy

FLOATS = {DataType.FLOAT16: "F16", DataType.BFLOAT16: "BF16", DataType.DOUBLE: "F64"}


def as_floats(tensor: Tensor) -> list[float]:
    if tensor.dtype == DataType.BFLOAT16:
        halves = struct.unpack(f"<{len(tensor.data) // 2}H", tensor.data)
        words = array.array("I", (half << 16 for half in halves))
        return list(struct.unpack(f"<{len(halves)}f", words.tobytes()))
    if tensor.dtype == DataType.FLOAT16:
        return list(struct.unpack(f"<{len(tensor.data) // 2}e", tensor.data))
    return list(tensor.values())


class Precision(EndToEndTest):
    def build(self, case: Case, layout: Layout) -> tuple[pathlib.Path, dict]:
        folder = self.folder / str(len(list(self.folder.iterdir())))
        folder.mkdir()
        return build_case(case, layout, folder)

    def test_what_moves_takes_half_the_bytes(self):
        _, wide = self.build(CASES["gpt-adamw"], Layout(4))
        _, narrow = self.build(PRECISION_CASES["gpt-bf16"], Layout(4))
        self.assertEqual(len(wide["messages"]), 6)
        for message, half in zip(wide["messages"], narrow["messages"], strict=True):
            self.assertEqual((message["dtype"], half["dtype"]), ("F32", "BF16"))
            self.assertEqual(message["shape"], half["shape"])
            self.assertEqual(message["bytes"], 2 * half["bytes"])
        for memory, less in zip(wide["memory"], narrow["memory"], strict=True):
            self.assertLess(less["activations"], 0.7 * memory["activations"])
            for kind in ("parameters", "gradients", "optimizer"):
                self.assertEqual(less[kind], memory[kind])
        parameters = narrow["stages"][0]["parameters"]
        self.assertEqual({p["dtype"] for p in parameters if p["trainable"]}, {"F32"})

    def test_what_is_trained_is_of_f32(self):
        for name in ("tied-bf16", "tied-f16"):
            case = replace(PRECISION_CASES[name], steps=1)
            with self.subTest(name):
                stored = case.graph().initializers
                output, manifest = self.build(case, Layout())
                parameters = manifest["stages"][0]["parameters"]
                self.assertEqual({p["dtype"] for p in parameters}, {"F32"})
                initial = read_safetensors(output / "weights.safetensors")
                self.assertEqual(initial.keys(), stored.keys())
                for key, tensor in stored.items():
                    self.assertEqual(as_floats(initial[key]), as_floats(tensor))

    def test_inference_of_what_is_stored(self):
        for dtype, name in FLOATS.items():
            with self.subTest(name):
                model = self.folder / f"{name}.onnx"
                self.product(dtype).save(model)
                manifest = pipeline.build(
                    model, self.folder / name, forward_only=True, microbatches=1
                )
                weight = manifest["stages"][0]["parameters"][0]
                self.assertEqual(weight["dtype"], name)
                self.check_product(dtype, name)

    def product(self, dtype: DataType) -> Graph:
        """y = x W, all in `dtype`."""
        graph = Graph("product")
        x = graph.input("x", dtype, [4, 64])
        weight = graph.initializer("weight", uniform([64, 3], seed=2).to(dtype))
        graph.scope("/layer").node("MatMul", x, weight, name="y")
        graph.output("y", dtype, [4, 3])
        return graph

    def check_product(self, dtype: DataType, name: str) -> None:
        """Sums of exact products of rounded numbers, rounded once."""
        x = uniform([4, 64], seed=1).to(dtype)
        write_npy(self.folder / "x.npy", x)
        pipeline.run(
            self.folder / name,
            *("--data", f"x={self.folder}/x.npy"),
            steps=1,
            save_outputs=self.folder / f"{name}.outputs",
        )
        y = as_floats(read_npy(self.folder / f"{name}.outputs" / "y.npy"))
        x, weight = as_floats(x), as_floats(uniform([64, 3], seed=2).to(dtype))
        # Digits of the result, and of the sum before it is rounded.
        digits, sum_digits = {"BF16": (8, 20), "F16": (11, 20), "F64": (53, 50)}[name]
        for row in range(4):
            for column in range(3):
                terms = [x[row * 64 + i] * weight[i * 3 + column] for i in range(64)]
                exact, size = math.fsum(terms), math.fsum(map(abs, terms))
                error = abs(y[row * 3 + column] - exact)
                allowed = 2.0**-digits * abs(exact) + 2.0**-sum_digits * size
                self.assertLessEqual(error, allowed)

    def test_types_that_do_not_fit(self):
        case = replace(PRECISION_CASES["tied-f64"], precision="bf16")
        with self.assertRaisesRegex(
            pipeline.CommandError,
            "node '/layers.0/MatMul': .* computes in 'f64', which precision 'bf16' "
            "does not change; leave it to the model",
        ):
            build_case(case, Layout(), self.folder)
        self.assertFalse((self.folder / Layout().folder_name()).exists())
        case = replace(CASES["tied-embedding"], precision="f8")
        with self.assertRaisesRegex(
            pipeline.CommandError, "--precision is 'f8', but must be one of f32, bf16, f16"
        ):
            build_case(case, Layout(), self.folder)


if __name__ == "__main__":
    unittest.main()
