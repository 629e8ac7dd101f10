// RUN: not pp-opt %s --nn-differentiate=train=nothing 2>&1 | FileCheck %s --check-prefix=UNMATCHED
// RUN: not pp-opt %s "--nn-differentiate=freeze=(" 2>&1 | FileCheck %s --check-prefix=BROKEN

// UNMATCHED: error: option 'train': 'nothing' matches no trainable parameter
// BROKEN: error: option 'freeze': '(' is not a regular expression: parentheses not balanced
pp.parameter @w trainable : tensor<f32> = dense<0.0> : tensor<f32>
pp.model @m(%x: tensor<f32> = #pp.input_spec<"x", axis = -1>) {
  pp.return outputs [] loss %x, %x : tensor<f32>, tensor<f32>
}
