// RUN: pp-opt %s --split-input-file --pp-outline-stages --verify-diagnostics

// expected-error @below {{has no model or no stages; run '--pp-balance-stages' first}}
module {
}

// -----

pp.model @gap(%x: tensor<4xf32> = #pp.input_spec<"x", axis = 0>) {
  // expected-error @below {{'a' comes before the first stage}}
  %a = pp.layer "a" @f(%x) parameters [] : (tensor<4xf32>) -> tensor<4xf32>
  pp.return outputs ["a"] %a : tensor<4xf32>
}
nn.function @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  nn.return %x : tensor<4xf32>
}
pp.stage @s0 index 0 rank 0 chunk 0 first_layer 1 layers ["a"] parameters []

// -----

pp.model @unlisted(%x: tensor<4xf32> = #pp.input_spec<"x", axis = 0>) {
  %a = pp.layer "a" @f(%x) parameters [] : (tensor<4xf32>) -> tensor<4xf32>
  %b = pp.layer "b" @f(%a) parameters [] : (tensor<4xf32>) -> tensor<4xf32>
  pp.return outputs ["b"] %b : tensor<4xf32>
}
nn.function @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  nn.return %x : tensor<4xf32>
}
// expected-error @below {{lists 1 layers but 2 lie between its first and that of the next stage}}
pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []

// -----

pp.model @half_trained(%x: tensor<4xf32> = #pp.input_spec<"x", axis = 0>) {
  %a = pp.layer "a" @f(%x) parameters [] : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @below {{'b' has no derivative, but other layers have; run '--nn-differentiate' first}}
  %b = pp.layer "b" @g(%a) parameters [] : (tensor<4xf32>) -> tensor<4xf32>
  pp.return outputs ["b"] %b : tensor<4xf32>
}
nn.function @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  nn.return %x : tensor<4xf32>
}
nn.function @g(%x: tensor<4xf32>) -> tensor<4xf32> {
  nn.return %x : tensor<4xf32>
}
nn.derivative @f forward @f operands [] gradients [] operands [] gradients []
pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a", "b"] parameters []
