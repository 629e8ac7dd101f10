# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a small model into the folder given, whole and spoilt in many ways."""

import os
import pathlib
import sys

from pipewright.onnxfile import DataType, Graph, Tensor

folder = pathlib.Path(sys.argv[1])
(folder / "model").mkdir(parents=True)
os.chdir(folder / "model")


def make_graph() -> Graph:
    graph = Graph("mlp")
    x = graph.input("x", DataType.FLOAT, [2, 64])
    values = [i / 64 for i in range(4096)]
    w = graph.initializer("w", Tensor.of(DataType.FLOAT, [64, 64], values))
    graph.scope().node("MatMul", x, w, name="y")
    graph.output("y", DataType.FLOAT, [2, 64])
    return graph


# All places have names of one length, so that they can be exchanged in the
# serialized model.
WEIGHTS = "weights.b"
PLACES = {
    "missing": "missing.b",
    "symlink": "symlink.b",
    "hardlink": "harlink.b",
    "fifo": "fifopip.b",
    "folder": "afolder.b",
    "short": "shorter.b",
    "parent": "../away.b",
    "absolute": "/dev/zero",
}

make_graph().save("inline.onnx")
make_graph().save("external.onnx", external_data=WEIGHTS)
external = pathlib.Path("external.onnx").read_bytes()
for name, place in PLACES.items():
    changed = external.replace(WEIGHTS.encode(), place.encode())
    pathlib.Path(f"{name}.onnx").write_bytes(changed)

values = pathlib.Path(WEIGHTS).read_bytes()
pathlib.Path("../away.b").write_bytes(values)
pathlib.Path("shorter.b").write_bytes(values[:-1])
pathlib.Path("harlink.b").write_bytes(values)
os.link("harlink.b", "../other-name.b")
os.symlink("../away.b", "symlink.b")
os.mkfifo("fifopip.b")
os.mkdir("afolder.b")

# What no reader can make sense of.
inline = pathlib.Path("inline.onnx").read_bytes()
pathlib.Path("truncated.onnx").write_bytes(inline[: len(inline) // 2])
pathlib.Path("empty.onnx").write_bytes(b"")
pathlib.Path("other.onnx").write_bytes(b"\x7fELF is another format")
pathlib.Path("other.onnxtxt").write_text("ir_version: 8\ngraph ]\n")
