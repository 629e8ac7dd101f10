// RUN: pp-opt %s --split-input-file --verify-diagnostics --nn-differentiate

// expected-error @below {{has no 'pp.model' to differentiate}}
module {
}

// -----

// expected-error @below {{'pp.model' op has no loss; run '--nn-attach-loss' first}}
pp.model @no_loss(%x: tensor<f32> = #pp.input_spec<"x", axis = -1>) {
  pp.return outputs ["x"] %x : tensor<f32>
}

// -----

// The loss does not depend on the only parameter.

pp.parameter @w trainable : tensor<4xf32> = dense<0.0> : tensor<4xf32>
// expected-error @below {{'pp.model' op has no trainable parameter that the loss depends on}}
pp.model @nothing_to_train(%x: tensor<f32> = #pp.input_spec<"x", axis = -1>) {
  pp.return outputs [] loss %x, %x : tensor<f32>, tensor<f32>
}

// -----

pp.parameter @w trainable : tensor<f32> = dense<0.0> : tensor<f32>
pp.model @parameter_twice(%x: tensor<f32> = #pp.input_spec<"x", axis = -1>) {
  // expected-error @below {{'pp.layer' op lists parameter 'w' twice}}
  %y = pp.layer "f" @f(%x) parameters [@w, @w] : (tensor<f32>) -> tensor<f32>
  pp.return outputs [] loss %y, %y : tensor<f32>, tensor<f32>
}
nn.function @f(%x: tensor<f32>, %v: tensor<f32>, %w: tensor<f32>) -> tensor<f32> {
  %y = nn.mul %v, %w : tensor<f32>
  nn.return %y : tensor<f32>
}
