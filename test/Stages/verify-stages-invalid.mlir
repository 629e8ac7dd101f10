// RUN: pp-opt %s --split-input-file --pp-verify-stages --verify-diagnostics

pp.model @layer_in_no_stage(%x: tensor<4xf32> = #pp.input_spec<"x", axis = 0>) {
  %a = pp.layer "a" @f(%x) parameters [] : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @below {{'b' is in no stage}}
  %b = pp.layer "b" @f(%a) parameters [] : (tensor<4xf32>) -> tensor<4xf32>
  pp.return outputs ["b"] %b : tensor<4xf32>
}
nn.function @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  nn.return %x : tensor<4xf32>
}
pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
pp.task @s0.f role F stage @s0 () -> () {
  pp.yield
}

// -----

pp.model @layer_in_two_stages(%x: tensor<4xf32> = #pp.input_spec<"x", axis = 0>) {
  %a = pp.layer "a" @f(%x) parameters [] : (tensor<4xf32>) -> tensor<4xf32>
  pp.return outputs ["a"] %a : tensor<4xf32>
}
nn.function @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  nn.return %x : tensor<4xf32>
}
pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
pp.task @s0.f role F stage @s0 () -> () {
  pp.yield
}
// expected-error @below {{holds layer "a" where the model has none}}
pp.stage @s1 index 1 rank 1 chunk 0 first_layer 1 layers ["a"] parameters []

// -----

pp.model @wrong_index(%x: tensor<4xf32> = #pp.input_spec<"x", axis = 0>) {
  %a = pp.layer "a" @f(%x) parameters [] : (tensor<4xf32>) -> tensor<4xf32>
  pp.return outputs ["a"] %a : tensor<4xf32>
}
nn.function @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  nn.return %x : tensor<4xf32>
}
// expected-error @below {{has index 1 but is the stage number 0}}
pp.stage @s0 index 1 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []

// -----

pp.model @gap(%x: tensor<4xf32> = #pp.input_spec<"x", axis = 0>) {
  %a = pp.layer "a" @f(%x) parameters [] : (tensor<4xf32>) -> tensor<4xf32>
  pp.return outputs ["a"] %a : tensor<4xf32>
}
nn.function @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  nn.return %x : tensor<4xf32>
}
// expected-error @below {{begins at layer 1 but layer 0 is next}}
pp.stage @s0 index 0 rank 0 chunk 0 first_layer 1 layers ["a"] parameters []

// -----

pp.parameter @w : tensor<4xf32> = dense<0.0> : tensor<4xf32>
pp.model @parameters(%x: tensor<4xf32> = #pp.input_spec<"x", axis = 0>) {
  %a = pp.layer "a" @f(%x) parameters [@w] : (tensor<4xf32>) -> tensor<4xf32>
  pp.return outputs ["a"] %a : tensor<4xf32>
}
nn.function @f(%x: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32> {
  nn.return %x : tensor<4xf32>
}
// expected-error @below {{lists other parameters than its layers use}}
pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []

// -----

pp.model @no_task(%x: tensor<4xf32> = #pp.input_spec<"x", axis = 0>) {
  %a = pp.layer "a" @f(%x) parameters [] : (tensor<4xf32>) -> tensor<4xf32>
  pp.return outputs ["a"] %a : tensor<4xf32>
}
nn.function @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  nn.return %x : tensor<4xf32>
}
// expected-error @below {{has 0 F tasks instead of one}}
pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
