# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes published.json: outputs of published models, by ONNX Runtime.

The light vision models get random weights. Needs the PyPI packages `onnxruntime` and
`numpy`, and the models' folder; made with onnxruntime 1.32:

    PIPEWRIGHT_MODELS=... PYTHONPATH=python:test/EndToEnd python3 \
        test/EndToEnd/References/make_published.py
"""

import json
import os
import pathlib
import tempfile

import numpy
import onnxruntime
import published


def evaluate(name: str, folder: pathlib.Path) -> list[float]:
    with tempfile.TemporaryDirectory() as scratch:
        path = pathlib.Path(scratch) / "model.onnx"
        published.save(name, folder, path)
        session = onnxruntime.InferenceSession(path)
        tensor = published.inputs(name)
        values = numpy.array(tensor.values(), numpy.float32)
        inputs = {published.input_name(path): values.reshape(tensor.shape)}
        output = session.run([published.output_name(path)], inputs)[0]
    return published.sample(output.flatten().tolist())


def main() -> None:
    folder = pathlib.Path(os.environ["PIPEWRIGHT_MODELS"])
    outputs = {name: evaluate(name, folder) for name in published.MODELS}
    path = pathlib.Path(__file__).parent / "published.json"
    path.write_text(json.dumps(outputs, indent=1) + "\n")


if __name__ == "__main__":
    main()
