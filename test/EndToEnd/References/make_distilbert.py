# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes distilbert.json: outputs of tiny-distilbert.onnx by ONNX's evaluator.

The model (huggingface/optimum-onnx) is not part of the project; its folder is
in PIPEWRIGHT_MODELS. Needs the PyPI package `onnx`; made with 1.23:

    PYTHONPATH=python:test/EndToEnd python3 \
        test/EndToEnd/References/make_distilbert.py

As published, the model gives nearly the same logits for every input, so its
outputs with `distilbert.random_weights` are there too.
"""

from __future__ import annotations

import json
import os
import pathlib

import numpy
import onnx
import onnx.numpy_helper
import onnx.reference

import distilbert


def evaluate(model: onnx.ModelProto) -> list[list[float]]:
    feeds = {
        name: numpy.array(tensor.values(), numpy.int64).reshape(tensor.shape)
        for name, tensor in distilbert.inputs().items()
    }
    logits = onnx.reference.ReferenceEvaluator(model).run(["logits"], feeds)[0]
    return logits.tolist()


def main() -> None:
    path = pathlib.Path(os.environ["PIPEWRIGHT_MODELS"]) / distilbert.FILE
    model = onnx.load(path)
    results = {"onnx": onnx.__version__, "logits": evaluate(model)}
    replacements = distilbert.random_weights(path)
    for initializer in model.graph.initializer:
        if tensor := replacements.get(initializer.name):
            values = numpy.frombuffer(tensor.data, "<f4").reshape(tensor.shape)
            initializer.CopyFrom(
                onnx.numpy_helper.from_array(values, initializer.name)
            )
    results["random_logits"] = evaluate(model)
    output = pathlib.Path(__file__).parent / "distilbert.json"
    output.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
