// RUN: pp-opt %s --split-input-file --verify-diagnostics --nn-attach-loss
// RUN: not pp-opt %s --split-input-file --nn-attach-loss=loss=y 2>&1 | FileCheck %s

// Nothing says what the loss is.

// CHECK: error: output 'y' is a 'tensor<2xf32>', not a scalar that can be a loss

// expected-error @below {{the model has no scalar output to be its loss; choose 'cross-entropy:LOGITS,LABELS' or 'mse:PRED,TARGET'}}
pp.model @no_scalar(%y: tensor<2xf32> = #pp.input_spec<"y", axis = 0>) {
  pp.return outputs ["y"] %y : tensor<2xf32>
}

// -----

// expected-error @below {{the model has 2 scalar outputs that could be its loss; choose one of 'a', 'b'}}
pp.model @two_scalars(%x: tensor<f32> = #pp.input_spec<"x", axis = -1>) {
  pp.return outputs ["a", "b"] %x, %x : tensor<f32>, tensor<f32>
}
