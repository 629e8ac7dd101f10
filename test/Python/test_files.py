# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files that pipewright writes read back, here and with other readers."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

from pipewright import protobuf
from pipewright.models import gpt, llama, small, weights
from pipewright.onnxfile import DataType, Graph, Tensor, read_initializers
from pipewright.tensorfiles import (
    read_npy,
    read_safetensors,
    uniform,
    write_npy,
    write_safetensors,
)

# Debian's python3-onnx belongs to the system's interpreter.
CHECKER = "/usr/bin/python3"
CHECK = """
import sys, onnx
for path in sys.argv[1:]:
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)
"""

SMALL = {"layers": 2, "width": 16, "heads": 2, "sequence": 8, "vocabulary": 32}
VARIANTS = [
    {},
    {"mask": "trilu"},
    {"head": "gemm"},
    {"spelled_out_normalization": True},
    {"symbolic_sequence": True},
    {"dropout": 0.1},
    {"no_weights": True},
]


def checker_is_available() -> bool:
    try:
        command = [CHECKER, "-c", "import onnx.checker"]
        return subprocess.run(command, capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_varints_read_back(self):
        for value in (0, 1, 127, 128, 300, -1, -(1 << 63), (1 << 63) - 1):
            encoded = memoryview(protobuf.varint(value))
            decoded, end = protobuf.read_varint(encoded, 0)
            self.assertEqual(protobuf.signed(decoded), value)
            self.assertEqual(end, len(encoded))

    def test_truncated_messages_are_refused(self):
        message = protobuf.delimited(1, "weights")
        with self.assertRaisesRegex(ValueError, "truncated"):
            list(protobuf.fields(memoryview(message[:-1])))

    def test_initializers_read_back(self):
        graph = small.skip_mlp()
        graph.save(self.folder / "model.onnx")
        read = read_initializers(self.folder / "model.onnx")
        self.assertEqual(read, graph.initializers)

    def test_external_data_holds_the_large_initializers(self):
        graph = Graph("external")
        large = uniform([32, 32], seed=1)
        graph.initializer("large", large)
        graph.initializer("second", large)
        graph.initializer("small", weights.full(1.0, [2]))
        graph.save(self.folder / "model.onnx", external_data="weights.bin")
        data = (self.folder / "weights.bin").read_bytes()
        self.assertEqual(data[:4096], large.data)
        self.assertEqual(data[4096:], large.data)
        self.assertNotIn(large.data, (self.folder / "model.onnx").read_bytes())

    def test_nodes_are_named_as_torchscript_names_them(self):
        graph = gpt.write_gpt(gpt.GptConfig(**SMALL))
        names = [node.name for node in graph.nodes]
        self.assertEqual(len(names), len(set(names)))
        for name in (
            "/transformer/wte/Gather",
            "/transformer/h.1/attn/c_attn/Gemm",
            "/transformer/h.0/attn/MatMul_1",
            "/transformer/h.0/mlp/act/Tanh",
            "/transformer/ln_f/LayerNormalization",
        ):
            self.assertIn(name, names)

    def test_the_embedding_is_tied(self):
        graph = gpt.write_gpt(gpt.GptConfig(**SMALL))
        users = [n.op_type for n in graph.nodes if "transformer.wte.weight" in n.inputs]
        self.assertEqual(users, ["Gather", "Transpose"])

    def test_weights_depend_on_seed_and_name_alone(self):
        first = weights.normal(0, "a", [64, 64], 0.02)
        self.assertEqual(first, weights.normal(0, "a", [64, 64], 0.02))
        self.assertNotEqual(first, weights.normal(0, "b", [64, 64], 0.02))
        self.assertNotEqual(first, weights.normal(1, "a", [64, 64], 0.02))
        values = first.values()
        variance = sum(value * value for value in values) / len(values)
        self.assertAlmostEqual(variance**0.5, 0.02, delta=0.001)
        self.assertAlmostEqual(sum(values) / len(values), 0, delta=0.001)

    def test_npy_reads_back(self):
        for dtype, shape in (
            (DataType.FLOAT, (3, 2)),
            (DataType.INT64, (6,)),
            (DataType.BOOL, (1, 2, 3)),
        ):
            tensor = Tensor.of(dtype, shape, [0, 1, 1, 0, 1, 0])
            write_npy(self.folder / "tensor.npy", tensor)
            self.assertEqual(read_npy(self.folder / "tensor.npy"), tensor)

    def test_safetensors_read_back(self):
        tensors = {
            "weights": uniform([3, 2], seed=1),
            "scalar": Tensor.of(DataType.INT64, (), [7]),
        }
        write_safetensors(self.folder / "a.safetensors", tensors)
        self.assertEqual(read_safetensors(self.folder / "a.safetensors"), tensors)

    @unittest.skipUnless(checker_is_available(), "python3-onnx is not installed")
    def test_the_onnx_checker_accepts_every_model(self):
        graphs = [function() for function in small.MODELS.values()]
        graphs += [gpt.write_gpt(gpt.GptConfig(**SMALL, **v)) for v in VARIANTS]
        graphs.append(llama.write_llama(llama.LlamaConfig(layers=2)))
        paths = []
        for index, graph in enumerate(graphs):
            paths.append(str(self.folder / f"{index}.onnx"))
            graph.save(paths[-1])
        command = [CHECKER, "-c", CHECK, *paths]
        result = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(result.returncode, 0, result.stderr)


if __name__ == "__main__":
    sys.exit(unittest.main())
