# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the comparison with public results computes itself."""

import copy
import pathlib
import sys
import tempfile
import unittest

from pipewright.onnxfile import DataType, Graph
from pipewright.validation import iteration, product
from pipewright.validation.megatron import Link, interpolate, read
from pipewright.validation.table import Comparison, IdleTime, Row, Table

DEVICE = iteration.FOLDER / "a100-megatron.json"


def single_product(rows, inner, columns):
    graph = Graph("product")
    x = graph.input("x", DataType.FLOAT, [rows, inner])
    weight = graph.input("layers.0.weight", DataType.FLOAT, [inner, columns])
    graph.scope("/layers.0").node("MatMul", x, weight, name="y")
    graph.output("y", DataType.FLOAT, [rows, columns])
    return graph


class Devices(unittest.TestCase):
    def test_an_op_takes_the_time_that_inspect_says(self):
        table = read(DEVICE)
        table["flops_per_second"]["f16"] = table["flops_per_second"]["f32"]
        device = iteration.Device(table)
        for rows, inner, columns in ((8, 64, 64), (512, 1, 4096), (4096, 2048, 2048)):
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder, "product.onnx")
                single_product(rows, inner, columns).save(path)
                result = product.run(
                    "inspect",
                    str(path),
                    r"--params-from-inputs=\.",
                    "--forward-only",
                    f"--device={DEVICE}",
                )
            numbers = rows * inner + inner * columns + rows * columns
            seconds = device.seconds(2 * rows * inner * columns, 4 * numbers)
            layer = result["layers"][0]
            self.assertAlmostEqual(layer["seconds_forward"] / seconds, 1, places=6)

    def test_a_curve_is_linear_in_the_logarithm_and_flat_beyond(self):
        curve = [[10, 0.2], [1000, 0.6]]
        self.assertEqual(interpolate(curve, 1), 0.2)
        self.assertAlmostEqual(interpolate(curve, 100), 0.4)
        self.assertEqual(interpolate(curve, 1e6), 0.6)

    def test_a_ring_sends_all_but_its_own_part(self):
        link = Link(latency=1, bandwidth=10)
        self.assertEqual(link.reduce_scatter(80, devices=4), 3 + 6)
        self.assertEqual(link.reduce_scatter(80, devices=1), 0)

    def test_the_fit_finds_no_better_values_near_those_of_the_files(self):
        table = read(DEVICE)
        machine = iteration.machine()
        efficiency = table["compute_efficiency"]
        values = [efficiency[2][1], efficiency[3][1], machine.inside.bandwidth / 300e9]
        best = iteration.error(values)
        for index in range(len(values)):
            for factor in (0.95, 1.05):
                other = copy.copy(values)
                other[index] *= factor
                self.assertGreater(iteration.error(other), best, (index, factor))


class Tables(unittest.TestCase):
    def check(self, comparison, bound):
        table = Table(["x"], [Row(["row"], lambda: [comparison])], bound=bound)
        lines = list(table.lines(with_slow=True))
        return lines[0][0], table.problems

    def test_a_deviation_beyond_the_bound_is_a_problem(self):
        line, problems = self.check(Comparison(100, 106), 0.05)
        self.assertEqual(line, "| row | 100 | 106 | +6.00 % |")
        self.assertEqual(problems, ["row: deviation +6.0000% is beyond 5.0000%"])
        self.assertEqual(self.check(Comparison(100, 104), 0.05)[1], [])
        self.assertEqual(self.check(Comparison(100, 90, is_bound=False), 0.05)[1], [])

    def test_idle_time_deviates_by_the_time_of_the_step(self):
        self.assertAlmostEqual(IdleTime(0.5, 0.6).deviation, 0.25)

    def test_slow_rows_are_left_as_they_are(self):
        table = Table(["x"], [Row(["row"], lambda: self.fail(), slow=True)])
        self.assertEqual(list(table.lines(with_slow=False)), [("| row |", False)])


if __name__ == "__main__":
    sys.exit(unittest.main())
