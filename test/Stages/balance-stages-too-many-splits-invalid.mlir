// RUN: pp-opt %s --pp-balance-stages="ranks=2 balance=uniform split-at=b,c" --verify-diagnostics

// expected-error @below {{for 2 ranks with 1 stage each: cannot begin a stage at 2 layers beside the first one with 2 stages}}
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
