# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What training means: scaled once, tied once, masks that do not repeat."""

import itertools
import json
import struct
import unittest

from cases import CASES, CROSS_ENTROPY, Case, classified_samples
from harness import (
    EndToEndTest,
    Layout,
    Outcome,
    build_case,
    run_case,
    train_case,
)
from pipewright import pipeline
from pipewright.models import gpt, small
from pipewright.onnxfile import DataType, Tensor
from pipewright.tensorfiles import (
    read_npy,
    read_safetensors,
    token_walk,
    uniform,
    write_npy,
)


def floats(*values: float, shape: list[int]) -> Tensor:
    return Tensor.of(DataType.FLOAT, shape, values)


def parameter(outcome: Outcome, name: str) -> list[float]:
    data = outcome.parameters[name]
    return list(struct.unpack(f"<{len(data) // 4}f", data))


class ScaledOnce(EndToEndTest):
    """x = 1, all weights 1, target 0: the gradient of each weight is 2."""

    def test_every_weight_moves_by_twice_the_learning_rate(self):
        for ranks, microbatches in itertools.product((2, 3, 4), (1, 2, 8)):
            schedule = "gpipe" if microbatches == 2 else "1f1b"
            case = Case(
                lambda: small.linear(ranks),
                "mse:prediction,target",
                lambda: {
                    "x": floats(*[1.0] * 8, shape=[8, 1]),
                    "target": floats(*[0.0] * 8, shape=[8, 1]),
                },
                optimizer="sgd",
                learning_rate=0.125,
                steps=1,
                microbatches=microbatches,
                microbatch_size=8 // microbatches,
                cuts={ranks: [f"/layers.{i}/MatMul" for i in range(1, ranks)]},
            )
            layout = Layout(ranks, schedule)
            with self.subTest(f"{layout}, {microbatches} micro-batches"):
                folder = self.folder / f"{ranks}-{microbatches}"
                folder.mkdir()
                outcome = train_case(case, layout, folder)
                self.assertEqual(outcome.losses, [1.0])
                for index in range(ranks):
                    weight = parameter(outcome, f"layers.{index}.weight")
                    self.assertEqual(weight, [0.75])


class Threads(EndToEndTest):
    """Ranks that are threads of one process share its code, and no memory that
    the code writes to."""

    def test_threads_have_the_bits_of_processes(self):
        config = gpt.GptConfig(
            layers=4, width=64, heads=2, sequence=64, vocabulary=256
        )
        case = Case(
            lambda: gpt.write_gpt(config),
            CROSS_ENTROPY,
            tokens=lambda: token_walk(64 * 33 + 1, vocabulary=256),
            steps=5,
        )
        output, _ = build_case(case, Layout(2), self.folder)
        expected = run_case(case, output, self.folder)
        for _ in range(3):
            outcome = run_case(case, output, self.folder, transport="threads")
            self.assert_same_bits(outcome, expected)


class Overflow(EndToEndTest):
    """Weights of 1e20 and 1e-20: the target 1e19 makes the gradient of the last
    weight too large for f32, but neither the loss nor any other gradient."""

    CASE = Case(
        lambda: small.linear(2, values=[1e20, 1e-20]),
        "mse:prediction,target",
        lambda: {
            "x": floats(1.0, 1.0, shape=[2, 1]),
            "target": floats(1e19, 0.0, shape=[2, 1]),
        },
        optimizer="sgd",
        learning_rate=1e-30,
        steps=2,
        microbatches=1,
        microbatch_size=1,
        cuts={2: ["/layers.1/MatMul"]},
    )

    def train(self, ranks: int, **options) -> list[dict]:
        build = self.folder / Layout(ranks).folder_name()
        if not build.exists():
            build_case(self.CASE, Layout(ranks), self.folder)
        data = self.CASE.write_data(self.folder)
        return pipeline.run(build, *data, *self.CASE.run_options(), **options)

    def test_all_ranks_skip_the_step(self):
        saved = self.folder / "saved.safetensors"
        for ranks in (1, 2):
            with self.subTest(f"{ranks} ranks"):
                (line,) = self.train(
                    ranks, skip_nan=True, steps=1, save_parameters=saved
                )
                self.assertTrue(line["skipped"])
                self.assertLess(line["loss"], 1.1e38)
                for index, value in enumerate([1e20, 1e-20]):
                    data = read_safetensors(saved)[f"layers.{index}.weight"].data
                    self.assertEqual(data, struct.pack("<f", value))
                lines = self.train(ranks, skip_nan=True, steps=2)
                self.assertEqual([line.get("skipped") for line in lines], [True, None])

    def test_all_ranks_stop_with_status_13(self):
        for ranks in (1, 2):
            with self.subTest(f"{ranks} ranks"):
                with self.assertRaises(pipeline.CommandError) as caught:
                    self.train(ranks, fail_on_nan=True, steps=2)
                self.assertEqual(caught.exception.status, 13)


class GlobalNorm(EndToEndTest):
    """Both uses of a tied weight have the gradient 10 in four elements. The
    norm is that of the sum, 40: not 28.3, of the uses apart, nor 56.6, of the
    sum on each of two ranks."""

    CASE = Case(
        small.tied_pair,
        "mse:prediction,target",
        lambda: {
            "x": floats(*[1.0] * 8, shape=[4, 2]),
            "target": floats(*[-9.0] * 8, shape=[4, 2]),
        },
        optimizer="sgd",
        learning_rate=0.125,
        clip=20.0,  # half of the norm
        steps=1,
        microbatches=2,
        cuts={2: ["/layers.1/MatMul"]},
    )

    def test_a_tied_parameter_counts_once(self):
        for layout in (Layout(1), Layout(2), Layout(2, "gpipe", "full")):
            with self.subTest(str(layout)):
                outcome = train_case(self.CASE, layout, self.folder)
                self.assertEqual(outcome.grad_norms, [40.0])
                weights = parameter(outcome, "weight")
                for weight, initial in zip(weights, [1, 0, 0, 1]):
                    self.assertAlmostEqual(weight, initial - 1.25, places=6)


class TiedInWaves(EndToEndTest):
    """Where a wave of stages ends on the rank on which it begins, both uses of a
    tied weight share one copy."""

    def test_one_copy(self):
        case = CASES["tied-embedding"]
        layout = Layout(2, "zb-v", chunks=2)
        _, manifest = build_case(case, layout, self.folder)
        first, _, _, last = manifest["stages"]
        self.assertEqual((first["rank"], last["rank"]), (0, 0))
        held = {p["name"]: p["shape"] for p in first["parameters"]}
        self.assertEqual(list(held), ["tokens.weight"])
        self.assertEqual({p["name"]: p["shape"] for p in last["parameters"]}, held)
        rows, columns = held["tokens.weight"]
        self.assertEqual(manifest["memory"][0]["parameters"], 4 * rows * columns)


class Dropout(EndToEndTest):
    CASE = Case(
        small.dropout_mlp,
        "cross-entropy:logits,labels",
        classified_samples,
        learning_rate=1e-2,
        steps=6,
    )

    def test_recomputation_repeats_the_masks(self):
        single = train_case(self.CASE, Layout(), self.folder)
        layouts = [Layout(1, "gpipe", "full"), Layout(2, "1f1b", "full")]
        layouts += [Layout(3, "gpipe"), Layout(4, "1f1b", "full")]
        for layout in layouts:
            with self.subTest(str(layout)):
                outcome = train_case(self.CASE, layout, self.folder)
                self.assert_same_bits(outcome, single)

    def test_masks_differ_between_microbatches_and_seeds(self):
        model = self.folder / "model.onnx"
        small.dropout_mlp().save(model)
        build = self.folder / "build"
        pipeline.build(
            model, build, ranks=2, microbatches=4, microbatch_size=2, forward_only=True
        )
        sample = uniform([1, small.FEATURES], seed=1).values().tolist()
        samples = floats(*sample * 8, shape=[8, small.FEATURES])
        write_npy(self.folder / "x.npy", samples)

        def outputs(seed: int) -> list[bytes]:
            folder = self.folder / f"outputs-{seed}"
            data = f"x={self.folder}/x.npy"
            pipeline.run(build, data=data, seed=seed, save_outputs=folder)
            logits = read_npy(folder / "logits.npy")
            rows = logits.data
            self.assertEqual(logits.shape, (8, small.CLASSES))
            size = 4 * small.CLASSES
            return [rows[i : i + size] for i in range(0, len(rows), size)]

        first = outputs(seed=1)
        self.assertEqual(len(set(first)), 8)
        self.assertEqual(outputs(seed=1), first)
        self.assertTrue(set(outputs(seed=2)).isdisjoint(first))


class Stages(EndToEndTest):
    """Each layer is in exactly one stage, and no stage is empty."""

    def test_layers_are_divided(self):
        for layers, ranks in ((5, 4), (10, 3), (30, 4), (12, 8)):
            case = Case(lambda: small.linear(layers), "mse:prediction,target")
            with self.subTest(f"{layers} layers on {ranks} ranks"):
                folder = self.folder / f"{layers}-{ranks}"
                folder.mkdir()
                _, manifest = build_case(case, Layout(ranks), folder)
                stages = manifest["stages"]
                self.assertEqual(len(stages), ranks)
                names = [name for stage in stages for name in stage["layers"]]
                self.assertEqual(len(names), len(set(names)))
                self.assertGreaterEqual(len(names), layers)
                for stage in stages:
                    self.assertGreater(len(stage["layers"]), 0)
                held = [name for stage in stages for name in parameter_names(stage)]
                expected = [f"layers.{index}.weight" for index in range(layers)]
                self.assertEqual(held, expected)


def parameter_names(stage: dict) -> list[str]:
    return [parameter["name"] for parameter in stage["parameters"]]


class Memory(EndToEndTest):
    """Each rank allocates the arena that the build predicted."""

    def test_the_arena_is_as_predicted(self):
        case = CASES["gpt-adamw"]
        for layout in (Layout(1), Layout(3, "gpipe", "full"), Layout(4)):
            with self.subTest(str(layout)):
                build, manifest = build_case(case, layout, self.folder)
                report = self.folder / "report.json"
                data = case.write_data(self.folder)
                pipeline.run(build, *data, steps=2, report=report)
                ranks = json.loads(report.read_text())["ranks"]
                allocated = [rank["arena_bytes"] for rank in ranks]
                predicted = [rank["arena"] for rank in manifest["memory"]]
                self.assertEqual(allocated, predicted)


if __name__ == "__main__":
    unittest.main()
