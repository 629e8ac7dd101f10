# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes gpt2past.json: outputs of tiny-gpt2-past-msft.onnx by ONNX Runtime.

The model (microsoft/onnxruntime-genai) is not part of the project; its folder
is in PIPEWRIGHT_MODELS. Needs the PyPI package `onnxruntime`; made with 1.32:

    PYTHONPATH=python:test/EndToEnd python3 \
        test/EndToEnd/References/make_gpt2past.py
"""

from __future__ import annotations

import json
import os
import pathlib

import numpy
import onnxruntime

import gpt2past
from pipewright.onnxfile import DataType

DTYPES = {DataType.INT32: numpy.int32, DataType.FLOAT: numpy.float32}


def evaluate(session: onnxruntime.InferenceSession, past: int) -> dict[str, dict]:
    feeds = {
        name: numpy.frombuffer(tensor.data, DTYPES[tensor.dtype]).reshape(tensor.shape)
        for name, tensor in gpt2past.inputs(past).items()
    }
    outputs = session.run(gpt2past.OUTPUTS, feeds)
    return {
        name: {
            "shape": list(output.shape),
            "sample": gpt2past.sample([float(value) for value in output.flat]),
        }
        for name, output in zip(gpt2past.OUTPUTS, outputs, strict=True)
    }


def main() -> None:
    path = pathlib.Path(os.environ["PIPEWRIGHT_MODELS"]) / gpt2past.FILE
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    results = {past: evaluate(session, past) for past in gpt2past.PASTS}
    document = {"onnxruntime": onnxruntime.__version__, "outputs": results}
    output = pathlib.Path(__file__).parent / "gpt2past.json"
    output.write_text(json.dumps(document) + "\n")


if __name__ == "__main__":
    main()
