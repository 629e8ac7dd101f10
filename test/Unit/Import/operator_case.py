# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One operator, as a test in the layout of ONNX's own operator tests."""

from __future__ import annotations

import dataclasses
import pathlib
import zlib
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

FOLDER = pathlib.Path(__file__).parent / "OperatorCases"
Arrays = Sequence[np.ndarray | None]


@dataclasses.dataclass
class Case:
    """A node. An operand that is None is left out."""

    operator: str
    operands: Arrays
    results: int = 1
    attributes: Mapping[str, object] = dataclasses.field(default_factory=dict)
    known: Sequence[int] = ()  # the operands that are initializers
    left_out: Sequence[int] = ()  # the results that are not wanted
    integers: Sequence[int] = ()  # the results that are
    domain: str = "com.microsoft"
    is_in_onnx: bool = False  # else ONNX Runtime's alone
    equivalent: Callable[[], list[np.ndarray]] | None = None


def model_of(case: Case) -> onnx.ModelProto:
    names = [
        "" if operand is None else f"x{i}" for i, operand in enumerate(case.operands)
    ]
    results = ["" if i in case.left_out else f"y{i}" for i in range(case.results)]
    node = helper.make_node(
        case.operator, names, results, domain=case.domain, **case.attributes
    )
    inputs, initializers = [], []
    for i, operand in enumerate(case.operands):
        if i in case.known:
            initializers.append(numpy_helper.from_array(operand, names[i]))
        elif operand is not None:
            inputs.append(
                helper.make_tensor_value_info(
                    names[i],
                    helper.np_dtype_to_tensor_dtype(operand.dtype),
                    operand.shape,
                )
            )
    outputs = [
        helper.make_tensor_value_info(
            name, TensorProto.INT32 if i in case.integers else TensorProto.FLOAT, None
        )
        for i, name in enumerate(results)
        if name
    ]
    graph = helper.make_graph([node], "case", inputs, outputs, initializers)
    opsets = [helper.make_opsetid("", 24), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def inputs_of(case: Case) -> dict[str, np.ndarray]:
    return {
        f"x{i}": operand
        for i, operand in enumerate(case.operands)
        if operand is not None and i not in case.known
    }


def evaluate(case: Case) -> list[np.ndarray]:
    if case.equivalent:
        return case.equivalent()
    if case.is_in_onnx:
        return ReferenceEvaluator(model_of(case)).run(None, inputs_of(case))
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(
        model_of(case).SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return session.run(None, inputs_of(case))


def write(name: str, case: Case) -> None:
    outputs = evaluate(case)
    folder = FOLDER / f"test_{name}"
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(model_of(case).SerializeToString())
    for kind, arrays in ("input", inputs_of(case).values()), ("output", outputs):
        for i, array in enumerate(arrays):
            tensor = numpy_helper.from_array(array)
            (data / f"{kind}_{i}.pb").write_bytes(tensor.SerializeToString())


class Random:
    """Operands that do not change when cases are added."""

    def __init__(self, name: str) -> None:
        self.generator = np.random.default_rng(zlib.crc32(name.encode()))

    def __call__(self, *shape: int) -> np.ndarray:
        return self.generator.standard_normal(shape).astype(np.float32)


def ints(*values: object, dtype: type = np.int32) -> np.ndarray:
    return np.array(values, dtype)
