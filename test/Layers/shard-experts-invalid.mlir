// RUN: pp-opt %s --split-input-file --pp-shard-experts=peers=2 --verify-diagnostics

pp.parameter @w : tensor<3x4x4xf32> = dense<0.0> : tensor<3x4x4xf32>
pp.model @odd_experts(%x: tensor<8x4xf32> = #pp.input_spec<"x", axis = 0>, %experts: tensor<8xi64> = #pp.input_spec<"experts", axis = 0>) {
  // expected-error @below {{'h.0' has 3 experts, which cannot be shared out evenly over 2 peers}}
  %y = pp.layer "h.0" @h.0(%x, %experts) parameters [@w] : (tensor<8x4xf32>, tensor<8xi64>) -> tensor<8x4xf32>
  pp.return outputs ["y"] %y : tensor<8x4xf32>
}
nn.function @h.0(%x: tensor<8x4xf32>, %experts: tensor<8xi64>, %w: tensor<3x4x4xf32>) -> tensor<8x4xf32> {
  %y = nn.expert_matmul %x, %w, %experts : tensor<8x4xf32>, tensor<3x4x4xf32>, tensor<8xi64> -> tensor<8x4xf32>
  nn.return %y : tensor<8x4xf32>
}

// -----

pp.parameter @w : tensor<4x4x4xf32> = dense<0.0> : tensor<4x4x4xf32>
pp.model @computed_weights(%x: tensor<8x4xf32> = #pp.input_spec<"x", axis = 0>, %experts: tensor<8xi64> = #pp.input_spec<"experts", axis = 0>) {
  // expected-error @below {{'h.0' computes the weights of its experts; only parameters can be shared out}}
  %y = pp.layer "h.0" @h.0(%x, %experts) parameters [@w] : (tensor<8x4xf32>, tensor<8xi64>) -> tensor<8x4xf32>
  pp.return outputs ["y"] %y : tensor<8x4xf32>
}
nn.function @h.0(%x: tensor<8x4xf32>, %experts: tensor<8xi64>, %w: tensor<4x4x4xf32>) -> tensor<8x4xf32> {
  %bounded = nn.tanh %w : tensor<4x4x4xf32>
  // expected-note @below {{'nn.expert_matmul' is here}}
  %y = nn.expert_matmul %x, %bounded, %experts : tensor<8x4xf32>, tensor<4x4x4xf32>, tensor<8xi64> -> tensor<8x4xf32>
  nn.return %y : tensor<8x4xf32>
}

// -----

pp.parameter @w : tensor<4x4x4xf32> = dense<0.0> : tensor<4x4x4xf32>
pp.model @all_weights(%x: tensor<8x4xf32> = #pp.input_spec<"x", axis = 0>, %experts: tensor<8xi64> = #pp.input_spec<"experts", axis = 0>) {
  // expected-error @below {{'h.0' uses the weights of all of its experts at once}}
  %y, %norm = pp.layer "h.0" @h.0(%x, %experts) parameters [@w] : (tensor<8x4xf32>, tensor<8xi64>) -> (tensor<8x4xf32>, tensor<4x4xf32>)
  pp.return outputs ["y", "norm"] %y, %norm : tensor<8x4xf32>, tensor<4x4xf32>
}
nn.function @h.0(%x: tensor<8x4xf32>, %experts: tensor<8xi64>, %w: tensor<4x4x4xf32>) -> (tensor<8x4xf32>, tensor<4x4xf32>) {
  %y = nn.expert_matmul %x, %w, %experts : tensor<8x4xf32>, tensor<4x4x4xf32>, tensor<8xi64> -> tensor<8x4xf32>
  // expected-note @below {{'nn.reduce' is here}}
  %norm = nn.reduce sum %w axes [0] : tensor<4x4x4xf32> -> tensor<4x4xf32>
  nn.return %y, %norm : tensor<8x4xf32>, tensor<4x4xf32>
}

// -----

pp.parameter @w : tensor<4x4x4xf32> = dense<0.0> : tensor<4x4x4xf32>
pp.model @rows_that_meet(%x: tensor<8x4xf32> = #pp.input_spec<"x", axis = 0>, %experts: tensor<8xi64> = #pp.input_spec<"experts", axis = 0>) {
  // expected-error @below {{'h.0' does not keep rows apart between its experts}}
  %y = pp.layer "h.0" @h.0(%x, %experts) parameters [@w] : (tensor<8x4xf32>, tensor<8xi64>) -> tensor<8x4xf32>
  pp.return outputs ["y"] %y : tensor<8x4xf32>
}
nn.function @h.0(%x: tensor<8x4xf32>, %experts: tensor<8xi64>, %w: tensor<4x4x4xf32>) -> tensor<8x4xf32> {
  %0 = nn.expert_matmul %x, %w, %experts : tensor<8x4xf32>, tensor<4x4x4xf32>, tensor<8xi64> -> tensor<8x4xf32>
  // expected-note @below {{'nn.cumulative_sum' is here}}
  %1 = nn.cumulative_sum %0 axis 0 : tensor<8x4xf32>
  %y = nn.expert_matmul %1, %w, %experts : tensor<8x4xf32>, tensor<4x4x4xf32>, tensor<8xi64> -> tensor<8x4xf32>
  nn.return %y : tensor<8x4xf32>
}

// -----

pp.parameter @w : tensor<4x4x4xf32> = dense<0.0> : tensor<4x4x4xf32>
pp.model @two_choices(%x: tensor<8x4xf32> = #pp.input_spec<"x", axis = 0>, %first: tensor<8xi64> = #pp.input_spec<"first", axis = 0>, %second: tensor<8xi64> = #pp.input_spec<"second", axis = 0>) {
  // expected-error @below {{'h.0' uses results of experts with experts that were chosen otherwise}}
  %y = pp.layer "h.0" @h.0(%x, %first, %second) parameters [@w] : (tensor<8x4xf32>, tensor<8xi64>, tensor<8xi64>) -> tensor<8x4xf32>
  pp.return outputs ["y"] %y : tensor<8x4xf32>
}
nn.function @h.0(%x: tensor<8x4xf32>, %first: tensor<8xi64>, %second: tensor<8xi64>, %w: tensor<4x4x4xf32>) -> tensor<8x4xf32> {
  %0 = nn.expert_matmul %x, %w, %first : tensor<8x4xf32>, tensor<4x4x4xf32>, tensor<8xi64> -> tensor<8x4xf32>
  // expected-note @below {{'nn.expert_matmul' is here}}
  %y = nn.expert_matmul %0, %w, %second : tensor<8x4xf32>, tensor<4x4x4xf32>, tensor<8xi64> -> tensor<8x4xf32>
  nn.return %y : tensor<8x4xf32>
}

// -----

pp.parameter @w : tensor<4x4x4xf32> = dense<0.0> : tensor<4x4x4xf32>
pp.model @used_elsewhere(%x: tensor<8x4xf32> = #pp.input_spec<"x", axis = 0>, %experts: tensor<8xi64> = #pp.input_spec<"experts", axis = 0>) {
  // expected-note @below {{they are in this layer}}
  %y = pp.layer "h.0" @h.0(%x, %experts) parameters [@w] : (tensor<8x4xf32>, tensor<8xi64>) -> tensor<8x4xf32>
  // expected-error @below {{'head' uses the whole of @w, of which experts have parts}}
  %z = pp.layer "head" @head() parameters [@w] : () -> tensor<4x4x4xf32>
  pp.return outputs ["y", "z"] %y, %z : tensor<8x4xf32>, tensor<4x4x4xf32>
}
nn.function @h.0(%x: tensor<8x4xf32>, %experts: tensor<8xi64>, %w: tensor<4x4x4xf32>) -> tensor<8x4xf32> {
  %y = nn.expert_matmul %x, %w, %experts : tensor<8x4xf32>, tensor<4x4x4xf32>, tensor<8xi64> -> tensor<8x4xf32>
  nn.return %y : tensor<8x4xf32>
}
nn.function @head(%w: tensor<4x4x4xf32>) -> tensor<4x4x4xf32> {
  %z = nn.tanh %w : tensor<4x4x4xf32>
  nn.return %z : tensor<4x4x4xf32>
}

// -----

// expected-error @below {{has no layer of experts to share out}}
pp.model @no_experts(%x: tensor<8x4xf32> = #pp.input_spec<"x", axis = 0>) {
  %y = pp.layer "h.0" @h.0(%x) parameters [] : (tensor<8x4xf32>) -> tensor<8x4xf32>
  pp.return outputs ["y"] %y : tensor<8x4xf32>
}
nn.function @h.0(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %y = nn.tanh %x : tensor<8x4xf32>
  nn.return %y : tensor<8x4xf32>
}

// -----

// expected-error @below {{has no 'pp.model' whose experts to share out}}
module {
}
