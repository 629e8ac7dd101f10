// RUN: not pp-opt %s --pp-balance-stages="ranks=2 placement=0,0 balance=uniform" 2>&1 | FileCheck %s --check-prefix=UNUSED
// RUN: not pp-opt %s --pp-balance-stages="ranks=2 placement=0,1,2 balance=uniform" 2>&1 | FileCheck %s --check-prefix=ABSENT

// UNUSED: error: cannot be cut with stages on 1 of 2 ranks
// ABSENT: error: cannot be cut with stage 2 on rank 2 of 2

pp.model @model(%x: tensor<4xf32> = #pp.input_spec<"x", axis = 0>) {
  %a = pp.layer "a" @linear(%x) parameters [@w] : (tensor<4xf32>) -> tensor<4xf32>
  %b = pp.layer "b" @linear(%a) parameters [@w] : (tensor<4xf32>) -> tensor<4xf32>
  %c = pp.layer "c" @linear(%b) parameters [@w] : (tensor<4xf32>) -> tensor<4xf32>
  pp.return outputs ["c"] %c : tensor<4xf32>
}
nn.function @linear(%x: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.mul %x, %w : tensor<4xf32>
  nn.return %0 : tensor<4xf32>
}
pp.parameter @w : tensor<4xf32> = dense<0.0> : tensor<4xf32>
