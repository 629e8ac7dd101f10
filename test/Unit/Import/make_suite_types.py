# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes SuiteTypes.tsv: the type that ONNX's own shape inference gives to each
value of the models of ONNX's tests.

make_suite_types.py DATA > SuiteTypes.tsv

DATA is the folder `data` of libonnx-testdata. Needs the package `onnx`.

A line is the model's name and the types of all results of its nodes in their
order, as `elements:2,3`: elements by their number in ONNX, each size or `?`
where none is inferred, and `-` for a type without a rank. What models declare
of these values is forgotten first.
"""

from __future__ import annotations

import pathlib
import sys

import onnx

KINDS = ("node", "pytorch-converted", "pytorch-operator", "simple")


def forget_types(graph: onnx.GraphProto) -> None:
    del graph.value_info[:]
    for output in graph.output:
        if output.type.HasField("tensor_type"):
            output.type.tensor_type.ClearField("shape")


def describe(value: onnx.ValueInfoProto | None) -> str:
    tensor = value.type.tensor_type if value else None
    if tensor is None or not tensor.HasField("shape"):
        return "-"
    sizes = (
        str(dim.dim_value) if dim.HasField("dim_value") else "?"
        for dim in tensor.shape.dim
    )
    return f"{tensor.elem_type}:{','.join(sizes)}"


def infer(path: pathlib.Path) -> list[str]:
    model = onnx.load(path)
    forget_types(model.graph)
    try:
        model = onnx.shape_inference.infer_shapes(model, data_prop=True)
    except onnx.shape_inference.InferenceError:
        return []
    graph = model.graph
    values = {value.name: value for value in [*graph.value_info, *graph.output]}
    names = (name for node in graph.node for name in node.output if name)
    return [describe(values.get(name)) for name in names]


data = pathlib.Path(sys.argv[1])
print(f"# By onnx {onnx.__version__}; see make_suite_types.py.")
for kind in KINDS:
    for path in sorted((data / kind).glob("*/model.onnx")):
        types = infer(path)
        if any(text != "-" for text in types):
            print(f"{kind}/{path.parent.name}", *types, sep="\t")
