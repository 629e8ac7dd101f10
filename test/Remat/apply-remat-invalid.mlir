// RUN: pp-opt %s --split-input-file --pp-apply-remat --verify-diagnostics

pp.model @one(%x: tensor<4xf32> = #pp.input_spec<"x", axis = 0>) {
  %a = pp.layer "a" @f(%x) parameters [] remat full : (tensor<4xf32>) -> tensor<4xf32>
  pp.return outputs ["a"] %a : tensor<4xf32>
}
nn.function @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = nn.exp %x : tensor<4xf32>
  nn.return %y : tensor<4xf32>
}
pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
// expected-error @below {{makes 0 calls, but its stage has 1 layers}}
pp.task @s0.f role F stage @s0 (%x: tensor<4xf32> = <input "x">) -> (tensor<4xf32> = <saved "s0">) {
  pp.yield %x : tensor<4xf32>
}

// -----

pp.model @none(%x: tensor<4xf32> = #pp.input_spec<"x", axis = 0>) {
  pp.return outputs ["x"] %x : tensor<4xf32>
}
// expected-error @below {{holds 1 layers from number 3 on, but the model has 0}}
pp.stage @s0 index 0 rank 0 chunk 0 first_layer 3 layers ["a"] parameters []
pp.task @s0.f role F stage @s0 (%x: tensor<4xf32> = <input "x">) -> (tensor<4xf32> = <saved "s0">) {
  pp.yield %x : tensor<4xf32>
}
