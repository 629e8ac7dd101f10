//===- Passes.td - Passes that make a model trainable ------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TRAINING_PASSES
#define PIPEWRIGHT_TRAINING_PASSES

include "mlir/Pass/PassBase.td"

def AttachLoss : Pass<"nn-attach-loss", "::mlir::ModuleOp"> {
  let summary = "append the loss to the model as a layer of its own";
  let description = [{
    Requires a `pp.model` of layers, without a loss.
    Ensures that its `pp.return` has a loss: the results of a layer "loss"
    behind all others, the sum over the micro-batch and the weight by which
    the sum over all micro-batches is divided, both `tensor<f32>`, or
    `tensor<f64>` in a model of f64.

    `loss` is one of
    * `cross-entropy:LOGITS,LABELS`: of an output whose last axis is the class
      axis with an input of class indices; the weight is the number of labels
      other than `ignore-index`;
    * `mse:PRED,TARGET`: squared difference of an output and an input; the
      weight is the number of elements;
    * the name of an output with one element, which is the loss of the
      micro-batch; the weight is 1;
    * empty: the only output with one floating-point element.

    LABELS and TARGET become inputs of the model if they are not.

    ```mlir
    pp.model @m(%x: tensor<2x8xf32> = #pp.input_spec<"x", axis = 0>) {
      %y = pp.layer "head" @head(%x) …
      pp.return outputs ["y"] %y : tensor<2x4xf32>
    }
    ```
    becomes, with `loss=cross-entropy:y,labels`,
    ```mlir
    pp.model @m(%x: tensor<2x8xf32> = …,
                %labels: tensor<2xi64> = #pp.input_spec<"labels", axis = 0,
                  label_classes = 4, ignore_index = -100>) {
      %y = pp.layer "head" @head(%x) …
      %l:2 = pp.layer "loss" @loss(%y, %labels) parameters [] : …
      pp.return outputs ["y"] %y : tensor<2x4xf32> loss %l#0, %l#1 : …
    }
    ```
  }];
  let options = [
    Option<"loss", "loss", "std::string", "\"\"",
           "cross-entropy:LOGITS,LABELS, mse:PRED,TARGET, or the name of a "
           "scalar output; default: the only scalar output">,
    Option<"ignoreIndex", "ignore-index", "int64_t", "-100",
           "label that counts in no cross-entropy">,
  ];
  let dependentDialects = ["::pipewright::nn::NNDialect",
                           "::pipewright::pp::PPDialect"];
}

def AttachOptimizer : Pass<"nn-attach-optimizer", "::mlir::ModuleOp"> {
  let summary = "make one update per trainable parameter";
  let description = [{
    Requires `nn.derivative`s for all layers.
    Ensures one `pp.update_rule`, and one `pp.update` per trainable parameter
    that lists the layers with a gradient for it. Reaches phase `training`.

    ```mlir
    pp.update_rule adamw
    pp.update @wte from layers [0, 13]
    ```
  }];
  let options = [
    Option<"optimizer", "optimizer", "std::string", "\"adamw\"",
           "sgd or adamw">,
  ];
  let dependentDialects = ["::pipewright::pp::PPDialect"];
}

def Differentiate : Pass<"nn-differentiate", "::mlir::ModuleOp"> {
  let summary = "make the F, B, W and R functions of each distinct layer";
  let description = [{
    Requires a `pp.model` of layers with a loss.
    Ensures that each function called by a `pp.layer` has one `nn.derivative`,
    and that exactly the parameters with a gradient are `trainable`.

    `@f.f` also returns what backward needs beside arguments and results; what
    is cheap is computed again instead. `@f.b` computes the gradients of the
    arguments that depend on a trainable parameter; `@f.w` adds the gradients
    of trainable parameters to their accumulators. Contributions to the
    gradient of one value are added from its last use to its first, so the sum
    has the same bits in every schedule.

    `@f.r` makes those of the extra results of `@f.f` that do not need a
    contraction from the others, for layers that do not keep them: the scores
    of attention, which are large, may be multiplied again.

    A function that several layers share gets the gradients that any of them
    needs. Layers that train other parameters of it than the first get a copy.

    ```mlir
    nn.function @fc(%x: tensor<2x8xf32>, %w: tensor<16x8xf32>) -> tensor<2x16xf32> {
      %y = nn.matmul %x, %w transpose_rhs : …
      nn.return %y : tensor<2x16xf32>
    }
    ```
    becomes, where the gradients of both arguments are wanted,
    ```mlir
    nn.function @fc.f(%x, %w) -> %y { … }
    nn.function @fc.b(%w, %dy) -> %dx {
      %dx = nn.matmul %dy, %w : …
    }
    nn.function @fc.w(%x, %dy, %accumulator) -> %sum {
      %dw = nn.matmul %dy, %x transpose_lhs : …
      %sum = nn.accumulate %accumulator, %dw : …
    }
    nn.derivative @fc forward @fc.f backward @fc.b … weight @fc.w …
    ```
  }];
  let options = [
    Option<"train", "train", "std::string", "\"\"",
           "regular expression: train only parameters whose name it matches">,
    Option<"freeze", "freeze", "std::string", "\"\"",
           "regular expression: do not train parameters whose name it matches">,
  ];
  let dependentDialects = ["::pipewright::nn::NNDialect"];
}

def SetPrecision : Pass<"pp-set-precision", "::mlir::ModuleOp"> {
  let summary = "compute in 16 bits, and keep what is trained in f32";
  let description = [{
    Requires a `pp.model` of layers, with its loss if it is to be trained, and
    before `--nn-differentiate`.

    Ensures, if there is a loss, that trainable parameters of f16 and bf16 are
    of f32 (master weights: gradients, optimizer state and updates are of f32
    with them) and that layers convert them where they read them.

    Ensures, if `precision` is bf16 or f16, that
    * contractions are computed of operands of that type, with f32 sums, and a
      parameter that is added to the product is part of it;
    * elementwise arithmetic, activations, selections, moves and softmax are
      of that type if all that they read is; constants of one number and
      dropout masks count as what they meet, unless only f32 can hold them;
    * all else is of f32: sums, means, products and running sums, norms,
      exponentials, logarithms, powers, losses, and an addition one operand of
      which is of f32;
    * layers pass activations on in that type; inside a layer they are f32
      until a contraction reads them. Inputs, outputs and what depends on no
      trainable parameter keep their type;
    * parameters are of f32, and so are the sums of their gradients.

    These are the rules of PyTorch's `torch.autocast`, except for what is passed
    on between layers, which is f32 there.

    Whatever the type, an op computes in f32 inside and rounds its result once.
    Contractions in another type than `precision` are refused.

    ```mlir
    nn.function @fc(%x: tensor<2x8xf32>, %w: tensor<16x8xf32>) -> tensor<2x16xf32> {
      %y = nn.matmul %x, %w transpose_rhs : …
      nn.return %y : tensor<2x16xf32>
    }
    ```
    becomes, between other layers and with `precision=bf16`,
    ```mlir
    nn.function @fc(%x: tensor<2x8xbf16>, %w: tensor<16x8xf32>) -> tensor<2x16xbf16> {
      %v = nn.cast %w : tensor<16x8xf32> -> tensor<16x8xbf16>
      %y = nn.matmul %x, %v transpose_rhs : …
      nn.return %y : tensor<2x16xbf16>
    }
    ```
  }];
  let options = [
    Option<"precision", "precision", "std::string", "\"\"",
           "f32, bf16 or f16; default: as the model says">,
  ];
  let dependentDialects = ["::pipewright::nn::NNDialect"];
}

def VerifyTraining : Pass<"pp-verify-training", "::mlir::ModuleOp"> {
  let summary = "check that every parameter has one gradient and one update";
  let description = [{
    The border of phase Training. Reports
    * a model without a loss, or a module without an update rule;
    * a layer function without exactly one `nn.derivative`;
    * a trainable parameter without exactly one `pp.update`, or whose update
      does not list exactly the layers with a gradient for it.
    Changes nothing.
  }];
}

#endif // PIPEWRIGHT_TRAINING_PASSES
