//===- Passes.td - From layers and programs to LLVM --------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_CODEGEN_PASSES
#define PIPEWRIGHT_CODEGEN_PASSES

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// Layer functions
//===----------------------------------------------------------------------===//

def LowerFunctions : Pass<"nn-lower-functions", "::mlir::ModuleOp"> {
  let summary = "give layer functions one buffer for each argument and result";
  let description = [{
    Ensures that each `nn.function` is a `func.func` of memrefs, arguments
    before results, whose body still works on tensors. A result that is an
    `nn.accumulate` chain on an argument has no buffer of its own: it is
    written back to the argument's.

    ```mlir
    nn.function @f(%x: tensor<4xf32>) -> tensor<4xf32>
    // becomes
    func.func @layer.f(%x: memref<4xf32>, %y: memref<4xf32>)
    ```
  }];
  let dependentDialects = ["::mlir::func::FuncDialect",
                           "::mlir::bufferization::BufferizationDialect",
                           "::mlir::memref::MemRefDialect"];
}

def KeepAttentionStatistics
    : Pass<"nn-keep-attention-statistics", "::mlir::ModuleOp"> {
  let summary = "have the target's library compute attention";
  let description = [{
    Requires functions in the types that they are computed in, and before
    `--nn-differentiate`.
    Ensures that each `nn.attention` that the library of the target has is an
    `nn.attention_with_statistics`, which it is called for, as for its gradient,
    by `--nn-attention-to-library`. All others stay as they are, to be expanded
    by `--nn-expand-attention`.

    ```mlir
    %y = nn.attention %q, %k, %v scale 1.250000e-01
        : (tensor<8x16x64xbf16>, tensor<8x16x64xbf16>, tensor<8x16x64xbf16>)
        -> tensor<8x16x64xbf16>
    ```
    becomes
    ```mlir
    %y, %s = nn.attention_with_statistics %q, %k, %v scale 1.250000e-01
        : (tensor<8x16x64xbf16>, tensor<8x16x64xbf16>, tensor<8x16x64xbf16>)
        -> (tensor<8x16x64xbf16>, tensor<8x16xf32>)
    ```
  }];
  let options = [
    Option<"targetName", "target", "std::string", "\"cpu\"",
           "The target whose library is called">,
  ];
  let dependentDialects = ["::pipewright::nn::NNDialect"];
}

def AttentionToLibrary : Pass<"nn-attention-to-library", "::mlir::ModuleOp"> {
  let summary = "turn attention with statistics into library calls";
  let description = [{
    Requires functions as `--nn-lower-functions` leaves them.
    Ensures that each `nn.attention_with_statistics` and `nn.attention_grad` that
    the library of the target has is a call of it, which writes results that are
    those of the function where they belong. The workspace of a gradient is a
    buffer like that of any other value. All others stay as they are.
  }];
  let options = [
    Option<"targetName", "target", "std::string", "\"cpu\"",
           "The target whose library is called">,
  ];
  let dependentDialects = ["::mlir::func::FuncDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::bufferization::BufferizationDialect",
                           "::mlir::memref::MemRefDialect"];
}

def ExpandAttention : Pass<"nn-expand-attention"> {
  let summary = "turn attention into products and a softmax";
  let description = [{
    Requires nothing.
    Ensures that no `nn.attention` is left, with statistics or without, and no
    gradient of one, so that `--nn-to-library` finds their products. Heads that
    share keys and values are rows of one product.

    ```mlir
    %y = nn.attention %q, %k, %v scale 5.000000e-01
        : (tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>)
        -> tensor<2x8x4xf32>
    ```
    becomes
    ```mlir
    %s = nn.matmul %q, %k transpose_rhs
        : tensor<2x8x4xf32>, tensor<2x8x4xf32> -> tensor<2x8x8xf32>
    %t = nn.mul %s, %half : tensor<2x8x8xf32>
    %p = nn.softmax %t axis 2 : tensor<2x8x8xf32>
    %y = nn.matmul %p, %v
        : tensor<2x8x8xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>
    ```
  }];
  let dependentDialects = ["::pipewright::nn::NNDialect"];
}

def ToLibrary : Pass<"nn-to-library", "::mlir::ModuleOp"> {
  let summary = "turn contractions, convolutions and pooling into library calls";
  let description = [{
    Requires functions as `--nn-lower-functions` leaves them. A contraction
    whose value goes to a result or an accumulator of the function writes
    there at once; other values get a buffer. Contractions that the library
    has no kernel for stay as they are.

    A convolution over one or two axes is a product with windows, `nn.im2col`,
    and so is the gradient for its weights; in that for its input, windows are
    added up by `nn.col2im`. Together with the moves around it, each is a call
    where the library has it. Pooling is a reduction of windows, and its gradient
    is added up in the same way; so they are, too. If the library's result has
    fewer digits than the op's, it is rounded.

    Libraries may compute a product together with a bias, with ReLU or GELU,
    with the gradient of GELU, or the gradient of weights together with that of
    a bias. Where the results only go to memory or to other products there is
    code for that and for a product with other ops, in a loop in which the
    target's runtime chooses between the two.
  }];
  let options = [
    Option<"targetName", "target", "std::string", "\"cpu\"",
           "The target whose library is called">,
    Option<"convolutions", "convolutions", "bool", "true",
           "Call the library for convolutions and pooling, too">,
  ];
  let dependentDialects = ["::mlir::func::FuncDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::bufferization::BufferizationDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def ToLinalg : Pass<"nn-to-linalg", "::mlir::func::FuncOp"> {
  let summary = "turn nn ops into linalg ops on tensors";
  let description = [{
    Ensures that no `nn` op but `nn.keep` is left. What is sequential by nature (running
    sums, scattered additions, random numbers) becomes loops on buffers.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::bufferization::BufferizationDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def FuseElementwise : Pass<"pp-fuse-elementwise", "::mlir::func::FuncOp"> {
  let summary = "fuse elementwise linalg ops with the op that uses them";
  let description = [{
    A producer with one use is computed where it is used, unless the use
    repeats its elements: then only moves and constants are, not arithmetic.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::linalg::LinalgDialect"];
}

def SeparateFills : Pass<"pp-separate-fills", "::mlir::func::FuncOp"> {
  let summary = "fill a tensor for each op that computes over it";
  let description = [{
    Requires linalg ops on tensors. Sums that begin with the same tensor of zeros
    get one each. Were it put into the buffer of the result that one of them is,
    another would be computed there as well, and be lost when the result is
    copied to where it belongs.

    ```mlir
    %0 = linalg.fill ins(%zero : f32) outs(%empty : tensor<8xf32>)
    %1 = linalg.reduce … outs(%0 : tensor<8xf32>)
    %2 = linalg.reduce … outs(%0 : tensor<8xf32>)
    ```
    becomes
    ```mlir
    %0 = linalg.fill ins(%zero : f32) outs(%empty : tensor<8xf32>)
    %1 = linalg.reduce … outs(%0 : tensor<8xf32>)
    %3 = linalg.fill ins(%zero : f32) outs(%empty_0 : tensor<8xf32>)
    %2 = linalg.reduce … outs(%3 : tensor<8xf32>)
    ```
  }];
}

def ReuseOperands : Pass<"pp-reuse-operands", "::mlir::func::FuncOp"> {
  let summary = "compute elementwise ops over an operand that is not needed on";
  let description = [{
    Requires linalg ops on tensors. An elementwise op whose operand was computed
    in the function, is of the result's type, is read in the order in which the
    result is written and is read by nothing after it gets that operand as its
    destination: so bufferization needs no buffer for the result. If it has the
    buffer of a result of the function already, what the library computes for it
    goes there too.

    ```mlir
    %1 = linalg.generic … ins(%0 : tensor<8xf32>) outs(%empty : tensor<8xf32>)
    ```
    becomes
    ```mlir
    %1 = linalg.generic … ins(%0 : tensor<8xf32>) outs(%0 : tensor<8xf32>)
    ```
  }];
}
def PlanWorkspace : Pass<"pp-plan-workspace", "::mlir::func::FuncOp"> {
  let summary = "put all temporary buffers into one workspace argument";
  let description = [{
    Requires a bufferized function. Ensures that it has one more argument,
    `memref<Nxi8>`, and that no allocation is left: each buffer is a view of
    the workspace at an offset that is a multiple of 64 bytes. Buffers that
    are never alive together share memory.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect"];
}

def LowerToLoops : Pass<"pp-lower-to-loops", "::mlir::func::FuncOp"> {
  let summary = "turn linalg ops on buffers into loops";
  let description = [{
    Axes that are contiguous in all operands become one loop. Innermost
    reductions keep their partial results in registers, so that LLVM's loop
    vectorizer finds them whatever it knows about aliases.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def ApproximateMath : Pass<"pp-approximate-math", "::mlir::func::FuncOp"> {
  let summary = "turn math functions into polynomials that vectorize";
  let description = [{
    exp, log, tanh and erf of f32, each to a few units in the last place; calls
    of the mathematical library would keep their loops scalar.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::vector::VectorDialect"];
}

def ExpandBFloat16 : Pass<"pp-expand-bfloat16", "::mlir::ModuleOp"> {
  let summary = "convert bf16 by integer instructions";
  let description = [{
    Processors without instructions for bf16 would call a library that is not
    linked. Requires that bf16 is only converted, moved and selected, not
    computed with. Ensures that no bf16 is left: it is stored as i16. Numbers
    that lie between two are rounded to the nearest, of two to the even one;
    subnormal ones too, which the instructions flush to zero.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

def SplitReductions : Pass<"pp-split-reductions", "::mlir::func::FuncOp"> {
  let summary = "reduce in two steps what is too much for a few blocks";
  let description = [{
    Requires a bufferized function whose workspace is not planned yet. A
    reduction whose results have too few blocks to occupy a device, such as a
    sum over the rows of a tall matrix, first reduces parts of its iterations
    into a buffer of its own, and then the parts. The order of both depends on
    the shape alone.

    ```mlir
    linalg.generic … ins(%x : memref<8192x256xf32>) outs(%sum : memref<256xf32>)
    ```
    becomes
    ```mlir
    %parts = memref.expand_shape %x … : … into memref<128x64x256xf32>
    %partial = memref.alloc() : memref<128x256xf32>
    linalg.generic … ins(%parts) outs(%partial : memref<128x256xf32>)
    linalg.generic … ins(%partial) outs(%sum : memref<256xf32>)
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::memref::MemRefDialect"];
}

def CopyConstants : Pass<"pp-copy-constants", "::mlir::func::FuncOp"> {
  let summary = "have calls of the library read constants from buffers";
  let description = [{
    Requires a bufferized function. Ensures that no call has a part of a
    constant for an argument: those are in the memory of the host, or in the
    code of kernels, and the library of a device sees neither. Each is copied to
    a buffer, by what will be a kernel.

    ```mlir
    %0 = memref.get_global @constant : memref<8x8xf32>
    call @pprtCudaMatmulF32(%x, %0, …)
    // becomes
    %0 = memref.get_global @constant : memref<8x8xf32>
    %1 = memref.alloc() : memref<8x8xf32>
    memref.copy %0, %1 : memref<8x8xf32> to memref<8x8xf32>
    call @pprtCudaMatmulF32(%x, %1, …)
    ```
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

def ParallelizeScatters : Pass<"pp-parallelize-scatters", "::mlir::func::FuncOp"> {
  let summary = "sort the items of scattered sums by where they go";
  let description = [{
    Requires a bufferized function whose workspace is not planned yet. Loops
    that add items to the lines of a table, such as the gradient of an
    embedding, become ops of which all iterations may run side by side: they
    sort the items by line, add those of each line in their order, a few items
    a thread, and then what several threads have of one line. The order of the
    sums depends on the items' lines alone. Loops over few items stay.

    Sums of windows that overlap, such as the gradient of a convolution,
    become parallel loops that follow each other: one for each position within
    a window.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def LowerToKernels : Pass<"pp-lower-to-kernels", "::mlir::func::FuncOp"> {
  let summary = "turn linalg ops and loops on buffers into kernels";
  let description = [{
    Requires a bufferized function with no control flow but `scf.while` and
    `scf.if`, which are the host's, and of which different arguments never share
    memory. Ensures that everything in it that touches
    memory is in a `gpu.launch` with constant sizes or in a call.

    Ops that follow each other share a kernel where each thread reads only what
    it wrote itself, so that values stay in registers:

    | kernel | of | thread |
    |---|---|---|
    | `elements` | elementwise ops over equally many elements | up to 16 bytes of each buffer |
    | `tiles` | the same, of which some read a transposed operand | a few elements of a square in shared memory |
    | `rows` | reductions over rows, and what comes before and after in the same rows | its share of a row; a row has a block, a warp or a part of one |
    | `columns` | reductions over the rows of columns, and elementwise ops before and after | a few columns of a few rows, and one result |
    | `outputs` | any other reduction | an element of the result; up to 16 threads share a long one |
    | `loops` | loops on buffers | what cannot run in parallel, for one iteration of what can; all, with a warning, if nothing can |
    | `parallel` | `scf.parallel` loops | an iteration |
    | `stores` | single stores | all of them |

    Results do not depend on how many threads the device has, nor on their
    timing.

    ```mlir
    linalg.generic … ins(%x : memref<512x256xf32>) outs(%y : memref<512x256xf32>)
    ```
    becomes
    ```mlir
    gpu.launch blocks(…) in (%c128, %c1, %c1) threads(…) in (%c256, %c1, %c1)
        module(@f_kernels) function(@elements_0) {
      %0 = vector.load %x[%row, %column] : memref<512x256xf32>, vector<4xf32>
    ```
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::gpu::GPUDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def LowerDeviceMath : Pass<"pp-lower-device-math", "::mlir::func::FuncOp"> {
  let summary = "turn math functions into what the device computes at once";
  let description = [{
    Requires math functions of f32. Ensures that of those the device has
    instructions for only intrinsics are left, and that log, tanh and erf are
    polynomials, exact to a few units in the last place as those of
    `--pp-approximate-math`.

    `exp(x)` becomes `exp2(x log2(e))`: the instruction is off by at most two
    units in the last place, and rounding the product adds
    `|x| 2^-24` to that, relative to the result. The device's tanh is off by
    `2^-11`, too much for gradients, and is not used.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::vector::VectorDialect"];
}

def SerializeKernels : Pass<"pp-serialize-kernels", "::mlir::ModuleOp"> {
  let summary = "turn modules of kernels into PTX or machine code";
  let description = [{
    Requires `gpu.module`s in the NVVM dialect. Ensures that each is a
    `gpu.binary` with the PTX for each chip, the oldest chip first. Looks for
    the CUDA toolkit in `CUDA_HOME`, in `CUDA_PATH` and in `/usr/local/cuda`;
    PTX that calls functions of its library cannot be made without it.
  }];
  let options = [
    ListOption<"chips", "chips", "std::string",
               "The chips to make code for, such as sm_90, or native for those "
               "that are common (default sm_90)">,
  ];
  let dependentDialects = ["::mlir::gpu::GPUDialect",
                           "::mlir::NVVM::NVVMDialect"];
}

def AssembleKernels : Pass<"pp-assemble-kernels", "::mlir::ModuleOp"> {
  let summary = "turn PTX into machine code";
  let description = [{
    Requires `gpu.binary`s with PTX. Ensures that each has machine code for each
    of its chips and, after it, the PTX for the oldest, which a driver compiles
    for chips that are not among them. Runs the `ptxas` of the CUDA toolkit,
    without which it fails.

    ```mlir
    gpu.binary @f_kernels [#gpu.object<#nvvm.target<chip = "sm_90">, assembly = "…">]
    // becomes
    gpu.binary @f_kernels [#gpu.object<#nvvm.target<chip = "sm_90">, bin = "…">,
                           #gpu.object<#nvvm.target<chip = "sm_90">, assembly = "…">]
    ```
  }];
  let dependentDialects = ["::mlir::gpu::GPUDialect",
                           "::mlir::NVVM::NVVMDialect"];
}

def LowerLaunches : Pass<"pp-lower-launches", "::mlir::ModuleOp"> {
  let summary = "turn launches of kernels into calls of the runtime";
  let description = [{
    Requires `gpu.binary`s and launches of their kernels whose sizes are
    constants, that nothing waits for and whose kernels take buffers as bare
    pointers. Ensures that for each binary there are constants of the LLVM
    dialect, a `PprtKernelModule` of `pprt/Cuda.h` and what it points to, and
    for each launch a call of `pprtCudaLaunch`. Kernels have the order of their
    first launches. Only the handles of the kernels, which are the runtime's,
    are not constant.

    ```mlir
    gpu.launch_func @f_kernels::@elements_0 blocks in (%c8, %c1, %c1)
        threads in (%c256, %c1, %c1) args(%x : memref<2048xf32>)
    // becomes
    llvm.call @pprtCudaLaunch(%f_kernels, %kernel0, %i8, %i1, %i1, %i256, %i1, %i1, %arguments)
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::memref::MemRefDialect"];
}

//===----------------------------------------------------------------------===//
// Tasks and programs
//===----------------------------------------------------------------------===//

def OutlineTaskOps : Pass<"pp-outline-task-ops", "::mlir::ModuleOp"> {
  let summary = "move the nn ops of task bodies into functions";
  let description = [{
    Ensures that task bodies hold nothing but `nn.call`s. Equal ops share one
    function.
  }];
  let dependentDialects = ["::pipewright::nn::NNDialect"];
}

def LowerTasks : Pass<"pp-lower-tasks", "::mlir::ModuleOp"> {
  let summary = "turn tasks into functions that call compiled layers";
  let description = [{
    Requires tasks whose bodies hold only `nn.call`s. Ensures an `llvm.func`
    per task, which takes an array with one pointer per distinct binding. The
    workspace of a task holds its intermediate values and, after them, the
    workspace of whichever layer function is running.
  }];
  let options = [
    Option<"targetName", "target", "std::string", "\"cpu\"",
           "The target that the layer functions are compiled for">,
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def LowerPrograms : Pass<"pp-lower-programs", "::mlir::ModuleOp"> {
  let summary = "turn the programs of a rank into calls of the runtime";
  let description = [{
    Ensures functions `step` and `eval`, as far as the rank has such programs,
    that call the runtime for each action. Tasks and channels become their
    positions in the module, counted among the tasks and the channels that
    the programs of the rank name.

    ```mlir
    pp.run @s0.f [2]
    // becomes
    llvm.call @pprtRun(%context, %task, %microbatch)
    ```
  }];
  let options = [
    Option<"rank", "rank", "int64_t", "0", "The rank whose programs are lowered">,
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def AnnotateWorkspaces : Pass<"pp-annotate-workspaces", "::mlir::ModuleOp"> {
  let summary = "note how much scratch memory each task's code needs";
  let description = [{
    Requires tasks. Ensures that each has `workspace_bytes`, what the code that
    the target generates for it needs beside its bindings. Nothing else changes:
    the code itself is generated once the arena is planned.
  }];
  let options = [
    Option<"targetName", "target", "std::string", "\"cpu\"",
           "The target that code is generated for">,
    Option<"processor", "processor", "std::string", "\"native\"",
           "The processor, by the target's own names">,
    Option<"convolutions", "convolutions", "bool", "true",
           "Call the library for convolutions and pooling, too">,
  ];
}

#endif // PIPEWRIGHT_CODEGEN_PASSES
