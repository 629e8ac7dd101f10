# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bad input: one clear error, exit status 1, nothing written."""

import os
import pathlib
import subprocess
import unittest

from harness import EndToEndTest
from pipewright import pipeline
from pipewright.models import small, weights
from pipewright.onnxfile import DataType, Graph, Tensor
from pipewright.tensorfiles import uniform, write_npy

BUILD = {
    "loss": "cross-entropy:logits,labels",
    "ranks": 2,
    "microbatches": 2,
    "microbatch_size": 2,
}


def wide_model() -> Graph:
    """One whose weight is large enough for external data."""
    graph = Graph("wide")
    x = graph.input("x", DataType.FLOAT, ["batch", 64])
    weight = graph.initializer("weight", weights.normal(0, "weight", [64, 8], 0.1))
    graph.scope("/layers.0").node("MatMul", x, weight, name="logits")
    graph.output("logits", DataType.FLOAT, ["batch", 8])
    return graph


class RefusalTest(EndToEndTest):
    def setUp(self) -> None:
        super().setUp()
        self.model = self.folder / "model.onnx"
        self.output = self.folder / "build"

    def assert_refused(self, result: subprocess.CompletedProcess, *parts: str) -> None:
        self.assertEqual(result.returncode, 1, result.stderr)
        errors = [line for line in result.stderr.splitlines() if "error: " in line]
        self.assertEqual(len(errors), 1, result.stderr)
        for part in parts:
            self.assertIn(part, result.stderr)
        self.assertNotIn("see current operation", result.stderr)
        self.assertEqual(result.stdout, "")

    def refuse_build(self, *parts: str, **options) -> None:
        """Builds with `options`; expects an error that holds all `parts`."""
        before = sorted(self.folder.rglob("*"))
        command = ["pipewright", "build", self.model, "-o", self.output]
        command += pipeline.flags(BUILD | options)
        result = subprocess.run(command, capture_output=True, text=True, timeout=60)
        self.assert_refused(result, *parts)
        self.assertEqual(sorted(self.folder.rglob("*")), before)


class BadModels(RefusalTest):
    def test_truncated_file(self):
        small.skip_mlp().save(self.model)
        content = self.model.read_bytes()
        self.model.write_bytes(content[: len(content) // 2])
        self.refuse_build("model.onnx")

    def test_not_a_model(self):
        self.model.write_bytes(b"\x7fELF" + bytes(200))
        self.refuse_build("model.onnx")

    def test_empty_file(self):
        self.model.write_bytes(b"")
        self.refuse_build("model.onnx")

    def test_absent_file(self):
        self.refuse_build("model.onnx")

    def test_unknown_operator(self):
        graph = Graph("unknown")
        x = graph.input("x", DataType.FLOAT, ["batch", 4])
        scope = graph.scope("/layers.0")
        x = scope.node("FancyOperator", x)
        x = scope.node("FancyOperator", x)
        scope.node("Relu", x, name="logits")
        graph.output("logits", DataType.FLOAT, ["batch", 4])
        graph.save(self.model)
        self.refuse_build("FancyOperator", "2", "/layers.0/FancyOperator")

    def test_unbound_dimension(self):
        graph = Graph("unbound")
        x = graph.input("x", DataType.FLOAT, ["batch", "length"])
        graph.scope("/layers.0").node("Relu", x, name="logits")
        graph.output("logits", DataType.FLOAT, ["batch", "length"])
        graph.save(self.model)
        self.refuse_build("length", "--bind")


class BadExternalData(RefusalTest):
    def setUp(self) -> None:
        super().setUp()
        self.outside = self.folder / "outside"
        self.outside.mkdir()
        (self.folder / "inside").mkdir()
        self.model = self.folder / "inside/model.onnx"
        self.data = self.folder / "inside/weights.bin"
        wide_model().save(self.model, external_data="weights.bin")

    def move_data_outside(self) -> pathlib.Path:
        return self.data.rename(self.outside / "weights.bin")

    def test_beside_the_model_is_accepted(self):
        pipeline.build(self.model, self.output, **BUILD | {"ranks": 1})

    def test_missing(self):
        self.data.unlink()
        self.refuse_build("weights.bin", "weight")

    def test_too_short(self):
        self.data.write_bytes(self.data.read_bytes()[:-1])
        self.refuse_build("weights.bin", "weight")

    def test_path_that_leaves_the_folder(self):
        self.move_data_outside()
        wide_model().save(self.model, external_data="../outside/weights.bin")
        self.refuse_build("../outside/weights.bin")

    def test_absolute_path(self):
        moved = self.move_data_outside()
        wide_model().save(self.model, external_data=str(moved))
        self.refuse_build(str(moved))

    def test_symbolic_link(self):
        self.data.symlink_to(self.move_data_outside())
        self.refuse_build("weights.bin", "link")

    def test_hard_link(self):
        os.link(self.move_data_outside(), self.data)
        self.refuse_build("weights.bin", "link")

    def test_fifo(self):
        self.data.unlink()
        os.mkfifo(self.data)
        self.refuse_build("weights.bin", "regular file")


class BadOptions(RefusalTest):
    def setUp(self) -> None:
        super().setUp()
        small.skip_mlp(layers=2, source=0, target=1).save(self.model)

    def test_more_ranks_than_layers(self):
        self.refuse_build("3 layers", "9 stages", ranks=9)

    def test_microbatches_that_do_not_divide_the_batch(self):
        self.refuse_build("8", "3", global_batch=8, microbatches=3)

    def test_unknown_loss_tensor(self):
        self.refuse_build("nothing", loss="cross-entropy:nothing,labels")

    def test_unknown_schedule(self):
        self.refuse_build("zigzag", "1f1b", schedule="zigzag")

    def test_too_little_memory(self):
        self.refuse_build("rank 1 needs", "may take 1000", "for parameters", memory=1000)

    def test_existing_output(self):
        self.output.mkdir()
        self.refuse_build("build", "--force")


class BadData(RefusalTest):
    def setUp(self) -> None:
        super().setUp()
        small.skip_mlp().save(self.model)
        pipeline.build(self.model, self.output, **BUILD)
        write_npy(self.folder / "x.npy", uniform([8, small.FEATURES], seed=1))
        self.write_labels([0, 1, 2, 3, 0, 1, 2, 3])

    def write_labels(self, labels: list[int]) -> None:
        write_npy(
            self.folder / "labels.npy", Tensor.of(DataType.INT64, [len(labels)], labels)
        )

    def refuse_run(self, *parts: str, **options) -> None:
        before = sorted(self.folder.rglob("*"))
        command = ["pipewright", "run", self.output]
        for name in ("x", "labels"):
            command += ["--data", f"{name}={self.folder}/{name}.npy"]
        command += pipeline.flags({"steps": 2} | options)
        result = subprocess.run(command, capture_output=True, text=True, timeout=60)
        self.assert_refused(result, *parts)
        self.assertEqual(sorted(self.folder.rglob("*")), before)

    def test_label_out_of_range(self):
        self.write_labels([0, 1, 2, 3, 0, 1, 2, 4])
        self.refuse_run("labels.npy", "4")

    def test_negative_label(self):
        self.write_labels([0, 1, 2, 3, 0, 1, 2, -1])
        self.refuse_run("labels.npy", "-1")

    def test_wrong_element_type(self):
        labels = Tensor.of(DataType.FLOAT, [8], [0.0] * 8)
        write_npy(self.folder / "labels.npy", labels)
        self.refuse_run("labels.npy", "labels")

    def test_wrong_shape(self):
        write_npy(self.folder / "x.npy", uniform([8, 3], seed=1))
        self.refuse_run("x.npy")

    def test_unequal_numbers_of_samples(self):
        self.write_labels([0, 1, 2])
        self.refuse_run("8", "3")

    def test_not_an_array(self):
        (self.folder / "x.npy").write_bytes(b"x")
        self.refuse_run("x.npy")


if __name__ == "__main__":
    unittest.main()
