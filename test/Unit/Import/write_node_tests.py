# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the node tests of the installed `onnx` package into a folder, in the
layout of ONNX's own data, and prints how many there are.

write_node_tests.py DIRECTORY

The package makes them when it is asked; files are needed by a program that is
not Python. Of a test with values of other kinds than tensors the tensors up to
the first such value are written, as our reader stops there.
"""

from __future__ import annotations

import json
import pathlib
import sys

import numpy
import onnx
from onnx.backend.test.loader import load_node_model_tests


def write_values(folder: pathlib.Path, kind: str, infos, values) -> None:
    for index, (info, value) in enumerate(zip(infos, values)):
        if not info.type.HasField("tensor_type"):
            return
        if not isinstance(value, onnx.TensorProto):
            value = onnx.numpy_helper.from_array(numpy.asarray(value), info.name)
        (folder / f"{kind}_{index}.pb").write_bytes(value.SerializeToString())


def write_test(folder: pathlib.Path, case) -> None:
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(case.model.SerializeToString())
    tolerance = {"rtol": case.rtol, "atol": case.atol}
    (folder / "data.json").write_text(json.dumps(tolerance))
    inputs, outputs = case.data_sets[0]
    write_values(data, "input", case.model.graph.input, inputs)
    write_values(data, "output", case.model.graph.output, outputs)


directory = pathlib.Path(sys.argv[1])
cases = load_node_model_tests()
versions = set()
for case in cases:
    write_test(directory / "node" / case.name, case)
    versions.update(
        entry.version for entry in case.model.opset_import if not entry.domain
    )
print(
    f"onnx {onnx.__version__}: {len(cases)} tests of operator sets "
    f"{min(versions)} to {max(versions)}"
)
