"""How lit runs Pipewright's tests: see docs/Testing.md."""

import os

import lit.formats

config.name = "Pipewright"
config.test_format = lit.formats.ShTest(execute_external=False)
config.test_source_root = os.path.dirname(__file__)
config.suffixes = [".mlir", ".onnxtxt", ".test"]
config.excludes = ["Unit", "Inputs", "References", "Benchmarks", "Corpus"]

binaries = os.path.join(config.binary_root, "bin")
config.environment["PATH"] = os.pathsep.join(
    [binaries, config.llvm_tools, os.environ["PATH"]]
)
config.environment["FILECHECK_OPTS"] = "--enable-var-scope"
config.environment["PYTHONPATH"] = os.path.join(config.source_root, "python")
# LLVM's library, which has no sanitizer, allocates from pools that code with
# one has marked as not in use.
config.environment["ASAN_OPTIONS"] = "allow_user_poisoning=0"
# Real models that are not part of the project: tests of them say that they
# skipped where the variable is not set.
if models := os.environ.get("PIPEWRIGHT_MODELS"):
    config.environment["PIPEWRIGHT_MODELS"] = models
    config.available_features.add("models")

# A Python with the package `onnx`, whose own tests are then run too.
if onnx_python := os.environ.get("PIPEWRIGHT_ONNX_PYTHON"):
    config.available_features.add("onnx")
    config.substitutions.append(("%onnx-python", onnx_python))

# The assembler of CUDA, where the compiler looks for it too: with it tests check
# that kernels assemble. They need no device.
toolkit = os.environ.get("CUDA_HOME") or os.environ.get("CUDA_PATH") or "/usr/local/cuda"
ptxas = os.path.join(toolkit, "bin", "ptxas")
if os.access(ptxas, os.X_OK):
    config.environment["CUDA_HOME"] = toolkit
    config.available_features.add("ptxas")
    config.substitutions.append(("%ptxas", ptxas))

# The runtime for CUDA devices on top of what stands in for them.
cuda_double = os.path.join(config.binary_root, "test", "CudaDouble", "lib")
if os.path.exists(os.path.join(cuda_double, "libpprt-cuda.so")):
    config.available_features.add("cuda-double")
    config.substitutions.append(("%cuda-double", cuda_double))
# It calls cuDNN.
if config.cudnn:
    config.available_features.add("cudnn")

# How long each fuzzer looks for new findings; tools/scripts/check builds them.
if fuzz_seconds := os.environ.get("PIPEWRIGHT_FUZZ_SECONDS"):
    config.available_features.add("fuzz")
    config.substitutions.append(("%fuzz-seconds", fuzz_seconds))
    # The same search each time: a change is not blamed for an old fault.
    config.environment["PIPEWRIGHT_FUZZ_SEED"] = "1"

config.substitutions.append(("%python", config.python))
config.substitutions.append(("%source", config.source_root))
config.substitutions.append(("%binary", config.binary_root))
config.substitutions.append(("%inputs", os.path.join(config.test_source_root, "Inputs")))
