# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The parts of gpu-check that judge, on what was recorded or made up."""

import contextlib
import io
import json
import pathlib
import tempfile
import time
import unittest
import unittest.mock

from pipewright.gpucheck import __main__ as gpucheck
from pipewright.gpucheck import block, kernels, machine, pipelines, report, traces
from pipewright.gpucheck.report import FAILED, MISSED, PASSED, SKIPPED, Part

QUERY = "NVIDIA H200, 570.86.15, 9.0, 143771, 1980\nNVIDIA H200, 570.86.15, 9.0, 143771, 1980\n"

# 1f1b of 2 ranks and 2 micro-batches, as 'pipewright schedule' has it.
PLANNED = [
    [
        {"op": "F", "stage": 0, "mb": 0},
        {"op": "F", "stage": 0, "mb": 1},
        {"op": "BW", "stage": 0, "mb": 0},
        {"op": "BW", "stage": 0, "mb": 1},
    ],
    [
        {"op": "F", "stage": 1, "mb": 0},
        {"op": "BW", "stage": 1, "mb": 0},
        {"op": "F", "stage": 1, "mb": 1},
        {"op": "BW", "stage": 1, "mb": 1},
    ],
]


def make_trace(ranks, steps=2):
    """A trace in which an action takes a millisecond and begins when those that
    it needs have ended, as they do in PLANNED; in microseconds."""
    begins = [[0, 1, 3, 5], [1, 2, 4, 5]]
    events = [{"name": "process_name", "ph": "M", "pid": 0, "args": {}}]

    def add(name, category, rank, begin):
        where = {"ph": "X", "pid": rank, "tid": 0, "ts": 1e3 * begin, "dur": 1e3}
        events.append({"name": name, "cat": category, **where})

    for step in range(steps):
        for rank, actions in enumerate(ranks):
            for action, begin in zip(actions, begins[rank]):
                add(traces.text(action), "compute", rank, 10 * step + begin)
            add("SEND a.0 mb0", "communication", rank, 10 * step + 7)
            add("update", "update", rank, 10 * step + 8)
    return {"traceEvents": events}


def make_test(name, result="COMPLETED", failure="", **properties):
    test = {"classname": "DeviceKernels", "name": name, "result": result, **properties}
    if failure:
        test["failures"] = [{"failure": failure}]
    return test


class Machine(unittest.TestCase):
    def test_the_first_device_counts(self):
        facts = machine.parse_query(QUERY)
        self.assertEqual(facts["name"], "NVIDIA H200")
        self.assertEqual(facts["arch"], "sm_90")
        self.assertEqual(facts["devices"], 2)
        self.assertRaises(report.Skip, machine.parse_query, "\n")

    def test_the_peak_is_that_of_the_closest_name(self):
        self.assertEqual(machine.peak_flops("NVIDIA H100 80GB HBM3"), 989e12)
        self.assertEqual(machine.peak_flops("NVIDIA H100 PCIe"), 756e12)
        self.assertIsNone(machine.peak_flops("GeForce 256"))

    def test_programs_fail_with_their_last_words(self):
        deadline = machine.Deadline(60)
        self.assertEqual(deadline.run(["echo", "yes"]), "yes\n")
        with self.assertRaisesRegex(report.Failure, "ended with 3: no"):
            deadline.run(["sh", "-c", "echo no >&2; exit 3"])
        with self.assertRaisesRegex(report.Skip, "no time left"):
            machine.Deadline(1).run(["echo"])

    def test_nothing_is_checked_without_a_gpu(self):
        with tempfile.TemporaryDirectory() as folder:
            output = io.StringIO()
            with unittest.mock.patch.dict("os.environ", PATH=folder):
                with contextlib.redirect_stdout(output):
                    status = gpucheck.main(["--output", f"{folder}/report"])
            self.assertEqual(status, 0)
            self.assertFalse(pathlib.Path(folder, "report").exists())
        self.assertEqual(
            output.getvalue(),
            "gpu-check: nothing to check: there is no nvidia-smi\n",
        )


class Traces(unittest.TestCase):
    def test_the_order_is_that_of_the_last_step(self):
        trace = make_trace(PLANNED)
        measured = traces.last_step(trace)
        self.assertEqual([len(rank) for rank in measured], [4, 4])
        self.assertAlmostEqual(measured[0][0].begin, 0.010)
        self.assertEqual(traces.first_difference(PLANNED, measured), "")

    def test_another_order_is_found(self):
        swapped = [PLANNED[0], [PLANNED[1][i] for i in (0, 2, 1, 3)]]
        measured = traces.last_step(make_trace(swapped))
        self.assertIn(
            "action 1 of rank 1 is ('F', 1, 1)",
            traces.first_difference(PLANNED, measured),
        )
        missing = traces.last_step(make_trace([PLANNED[0], PLANNED[1][:3]]))
        self.assertEqual(
            traces.first_difference(PLANNED, missing),
            "rank 1 ran 3 actions, planned are 4",
        )
        self.assertEqual(
            traces.first_difference(PLANNED, missing[:1]),
            "1 ranks ran, and 2 were planned",
        )

    def test_stages_cost_what_was_measured(self):
        measured = traces.last_step(make_trace(PLANNED))
        for cost in traces.stage_costs(measured):
            self.assertAlmostEqual(cost["f"], 0.001)
            self.assertAlmostEqual(cost["b"], 0.0005)
            self.assertAlmostEqual(cost["w"], 0.0005)
        self.assertAlmostEqual(traces.span(measured), 0.006)
        self.assertAlmostEqual(traces.concurrency(measured), 8 / 6)


class Pipelines(unittest.TestCase):
    def test_a_row_compares_with_the_simulation(self):
        measured = traces.last_step(make_trace(PLANNED))
        simulated = {"metrics": {"makespan": 0.006, "bubble_ratio": 0.5}}
        row = pipelines.compare(
            "1f1b", {"actions": PLANNED}, simulated, measured, [5.0, 4.5]
        )
        self.assertEqual(row["last loss"], 4.5)
        self.assertAlmostEqual(row["step ms"], row["simulated ms"])
        other = {"actions": [PLANNED[1], PLANNED[0]]}
        with self.assertRaisesRegex(report.Failure, "1f1b: action 0 of rank 0"):
            pipelines.compare("1f1b", other, simulated, measured, [5.0])

    def test_all_losses_are_the_same(self):
        same = {"gpipe": [5.0, 4.5], "1f1b": [5.0, 4.5]}
        pipelines.check_losses(same, [5.001, 4.5])
        for expected in ([5.1, 4.5], [float("nan"), 4.5]):
            with self.assertRaisesRegex(report.Failure, "on the CPU"):
                pipelines.check_losses(same, expected)
        with self.assertRaisesRegex(report.Failure, "1f1b has other losses"):
            pipelines.check_losses({**same, "1f1b": [5.0, 4.6]}, [5.0, 4.5])


class Kernels(unittest.TestCase):
    def test_tests_are_counted(self):
        part = Part("kernels")
        kernels.judge([make_test("A"), make_test("B", result="SKIPPED")], part)
        self.assertEqual(part.text, "1 tests")
        with self.assertRaisesRegex(report.Failure, "1 of 2 tests failed: it differs"):
            kernels.judge([make_test("A"), make_test("B", failure="it differs")], part)
        self.assertRaises(report.Failure, kernels.judge, [], part)

    def test_a_goal_is_missed_by_name(self):
        tests = [make_test("MoveBytes", softmax="9e11", softmax_copy="1e12")]
        part = Part("bandwidth")
        kernels.judge_bandwidth(kernels.bandwidth_rows(tests), part)
        self.assertEqual(part.status, PASSED)
        tests[0].update(transpose="8e11", transpose_copy="1e12")
        kernels.judge_bandwidth(kernels.bandwidth_rows(tests), part)
        self.assertEqual(part.status, MISSED)
        self.assertEqual(part.text, "below 85% of a copy: transpose")
        self.assertRaises(report.Failure, kernels.judge_bandwidth, [], part)

    def test_products_are_compared_with_the_peak(self):
        tests = [make_test("OfProducts", matmul_bf16_flops="6e14")]
        rows = kernels.flops_rows(tests, 1e15)
        self.assertEqual(
            rows, [{"product": "matmul_bf16", "TFLOP/s": 600.0, "of the peak": 0.6}]
        )
        self.assertEqual(
            kernels.flops_rows(tests, None)[0]["of the peak"], "peak unknown"
        )

    def test_results_are_read_even_if_tests_fail(self):
        results = {"testsuites": [{"testsuite": [make_test("A", failure="no")]}]}
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder, "tests")
            program.write_text(
                "#!/bin/sh\nfor word; do case $word in --gtest_output=json:*)\n"
                f"echo '{json.dumps(results)}' >\"${{word#--gtest_output=json:}}\";; "
                "esac; done\nexit 1\n"
            )
            program.chmod(0o755)
            deadline = machine.Deadline(60)
            tests = kernels.run_tests(program, "*", deadline, [])
            self.assertEqual([test["name"] for test in tests], ["A"])
            missing = pathlib.Path(folder, "missing")
            with self.assertRaisesRegex(report.Skip, "missing was not built"):
                kernels.run_tests(missing, "*", deadline, [])


class Block(unittest.TestCase):
    def test_its_work_is_that_of_the_formula(self):
        # 2 * 12 weights of width^2 a token, and each token with each other.
        self.assertEqual(block.flops(1, 1, 10), 3 * (2400 + 40))

    def test_its_time_is_that_of_its_stage(self):
        seconds = block.block_seconds(make_trace(PLANNED), stage=1)
        self.assertAlmostEqual(seconds, 0.004)
        stages = [
            {"stage": 0, "layers": ["embeddings", "transformer/h.0"]},
            {"stage": 1, "layers": ["transformer/h.1"]},
        ]
        self.assertEqual(block.block_stage({"stages": stages}), 1)
        self.assertRaises(report.Failure, block.block_stage, {"stages": stages[:1]})

    def test_its_goal_is_close_to_torch(self):
        part = Part("a block")
        block.judge(1.02, 1.0, part)
        self.assertEqual(part.status, PASSED)
        block.judge(1.04, 1.0, part)
        self.assertEqual(part.status, MISSED)


class Reports(unittest.TestCase):
    def run_all(self, parts, *words):
        with tempfile.TemporaryDirectory() as folder:
            facts = machine.parse_query(QUERY)
            with (
                unittest.mock.patch.object(machine, "facts", return_value=facts),
                unittest.mock.patch.object(gpucheck, "run_all", return_value=parts),
                contextlib.redirect_stdout(io.StringIO()),
            ):
                status = gpucheck.main(["--output", folder, *words])
            page = pathlib.Path(folder, "report.md").read_text()
            return status, page, json.loads(
                pathlib.Path(folder, "report.json").read_text()
            )

    def test_failures_and_only_they_change_the_status(self):
        missed = Part("bandwidth", MISSED, "too slow", 1.0, [{"GB/s": 1234.5678}])
        parts = [Part("kernels"), missed, Part("a block", SKIPPED, "no torch")]
        status, page, data = self.run_all(parts)
        self.assertEqual(status, 0)
        self.assertIn("| a block | skipped | 0 | no torch |", page)
        self.assertIn("## bandwidth\n\n| GB/s |\n|---|\n| 1235 |", page)
        self.assertEqual(data["machine"]["arch"], "sm_90")
        self.assertEqual(data["parts"][1]["status"], MISSED)
        self.assertEqual(self.run_all(parts, "--strict")[0], 1)
        parts.append(Part("pipelines", FAILED, "another order"))
        self.assertEqual(self.run_all(parts)[0], 1)

    def test_a_part_ends_as_what_it_raises_says(self):
        def work(error):
            def raising(part):
                time.sleep(0.01)
                raise error

            return raising

        for error, status in (
            (report.Skip("no torch"), SKIPPED),
            (report.Failure("it differs"), FAILED),
            (KeyError("loss"), FAILED),
        ):
            part = Part("part")
            with contextlib.redirect_stdout(io.StringIO()):
                gpucheck.run_part(part, work(error))
            self.assertEqual(part.status, status)
            self.assertGreater(part.seconds, 0)


if __name__ == "__main__":
    unittest.main()
