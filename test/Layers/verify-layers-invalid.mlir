// RUN: pp-opt %s --split-input-file --pp-verify-layers --verify-diagnostics

pp.model @op_outside_a_layer(%x: tensor<4xf32> = #pp.input_spec<"x", axis = 0>) {
  // expected-error @below {{is in no layer; run '--pp-form-layers' and '--pp-outline-layers' first}}
  %y = nn.relu %x : tensor<4xf32>
  pp.return outputs ["y"] %y : tensor<4xf32>
}

// -----

pp.model @equal_names(%x: tensor<4xf32> = #pp.input_spec<"x", axis = 0>) {
  // expected-note @below {{the other one is here}}
  %h = pp.layer "a" @f(%x) parameters [] : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @below {{is named 'a' as an earlier layer}}
  %y = pp.layer "a" @f(%h) parameters [] : (tensor<4xf32>) -> tensor<4xf32>
  pp.return outputs ["y"] %y : tensor<4xf32>
}
nn.function @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  nn.return %x : tensor<4xf32>
}

// -----

pp.model @no_name(%x: tensor<4xf32> = #pp.input_spec<"x", axis = 0>) {
  // expected-error @below {{has no name}}
  %y = pp.layer "" @f(%x) parameters [] : (tensor<4xf32>) -> tensor<4xf32>
  pp.return outputs ["y"] %y : tensor<4xf32>
}
nn.function @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  nn.return %x : tensor<4xf32>
}

// -----

pp.model @wrong_key(%x: tensor<4xf32> = #pp.input_spec<"x", axis = 0>) {
  %key = pp.random_key layer 3 : tensor<2xi64>
  // expected-error @below {{'a' has index 0 but draws with the random key of layer 3}}
  %y = pp.layer "a" @f(%x, %key) parameters [] : (tensor<4xf32>, tensor<2xi64>) -> tensor<4xf32>
  pp.return outputs ["y"] %y : tensor<4xf32>
}
nn.function @f(%x: tensor<4xf32>, %key: tensor<2xi64>) -> tensor<4xf32> {
  nn.return %x : tensor<4xf32>
}

// -----

pp.model @exchanged_input(%x: tensor<4xf32> = #pp.input_spec<"x", axis = 0>) {
  // expected-error @below {{exchanges what no layer makes}}
  %y = pp.exchanged %x peers 2 : tensor<4xf32>
  %z = pp.layer "a" @f(%y) parameters [] : (tensor<4xf32>) -> tensor<4xf32>
  pp.return outputs ["y"] %z : tensor<4xf32>
}
nn.function @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  nn.return %x : tensor<4xf32>
}

// -----

pp.model @exchanged_output(%x: tensor<4xf32> = #pp.input_spec<"x", axis = 0>) {
  %y = pp.layer "a" @f(%x) parameters [] : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @below {{is used by 'pp.return'; only layers use what is exchanged}}
  %z = pp.exchanged %y peers 2 : tensor<4xf32>
  pp.return outputs ["y"] %z : tensor<4xf32>
}
nn.function @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  nn.return %x : tensor<4xf32>
}
