// RUN: pp-opt %s --split-input-file --verify-diagnostics --pp-verify-training

// expected-error @below {{'pp.model' op has no loss}}
pp.model @no_loss(%x: tensor<f32> = #pp.input_spec<"x", axis = -1>) {
  pp.return outputs []
}

// -----

pp.model @no_derivative(%x: tensor<f32> = #pp.input_spec<"x", axis = -1>) {
  // expected-error @below {{'pp.layer' op calls 'f', which has no derivative}}
  %y = pp.layer "f" @f(%x) parameters [] : (tensor<f32>) -> tensor<f32>
  pp.return outputs [] loss %y, %y : tensor<f32>, tensor<f32>
}
nn.function @f(%x: tensor<f32>) -> tensor<f32> {
  nn.return %x : tensor<f32>
}

// -----

pp.model @two_derivatives(%x: tensor<f32> = #pp.input_spec<"x", axis = -1>) {
  pp.return outputs [] loss %x, %x : tensor<f32>, tensor<f32>
}
nn.function @f(%x: tensor<f32>) -> tensor<f32> {
  nn.return %x : tensor<f32>
}
nn.derivative @f forward @f operands [] gradients [] operands [] gradients []
// expected-error @below {{'nn.derivative' op is the second of 'f'}}
nn.derivative @f forward @f operands [] gradients [] operands [] gradients []

// -----

// expected-error @below {{does not have one 'pp.update_rule'}}
module {
  pp.model @no_rule(%x: tensor<f32> = #pp.input_spec<"x", axis = -1>) {
    pp.return outputs [] loss %x, %x : tensor<f32>, tensor<f32>
  }
}

// -----

// expected-error @below {{'pp.parameter' op is trainable but has no update}}
pp.parameter @w trainable : tensor<f32> = dense<0.0> : tensor<f32>
pp.model @no_update(%x: tensor<f32> = #pp.input_spec<"x", axis = -1>) {
  pp.return outputs [] loss %x, %x : tensor<f32>, tensor<f32>
}
pp.update_rule sgd

// -----

pp.parameter @w trainable : tensor<f32> = dense<0.0> : tensor<f32>
pp.model @layer_without_gradient(%x: tensor<f32> = #pp.input_spec<"x", axis = -1>) {
  %y = pp.layer "f" @f(%x) parameters [@w] : (tensor<f32>) -> tensor<f32>
  %z = pp.layer "f" @f(%y) parameters [@w] : (tensor<f32>) -> tensor<f32>
  pp.return outputs [] loss %z, %z : tensor<f32>, tensor<f32>
}
nn.function @f(%x: tensor<f32>, %w: tensor<f32>) -> tensor<f32> {
  nn.return %x : tensor<f32>
}
nn.function @f.w(%dy: tensor<f32>, %accumulator: tensor<f32>) -> tensor<f32> {
  %sum = nn.accumulate %accumulator, %dy : tensor<f32>
  nn.return %sum : tensor<f32>
}
nn.derivative @f forward @f operands [] gradients [] weight @f.w operands [#nn.operand<cotangent 0>, #nn.operand<accumulator 1>] gradients [1]
pp.update_rule sgd
// expected-error @below {{'pp.update' op of 'w' lists layers 0, but its gradients are those of layers 0, 1}}
pp.update @w from layers [0]
