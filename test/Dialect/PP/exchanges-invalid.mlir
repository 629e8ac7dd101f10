// RUN: pp-opt %s --split-input-file --verify-diagnostics

pp.model @m(%x: tensor<5x4xf32> = #pp.input_spec<"x", axis = 0>) {
  // expected-error @below {{cannot exchange blocks of 'tensor<5x4xf32>' between 2 peers}}
  %0 = pp.exchanged %x peers 2 : tensor<5x4xf32>
  pp.return outputs ["y"] %0 : tensor<5x4xf32>
}

// -----

pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
// expected-error @below {{cannot exchange blocks of 'tensor<4xf32>' between 1 peers}}
pp.exchange @x of @s0 peers 1 : tensor<4xf32>

// -----

// expected-error @below {{names 's0', which is not a stage}}
pp.exchange @x of @s0 peers 2 : tensor<4xf32>

// -----

// expected-error @below {{holds 'tensor<2x4xf32>' but is a 'tensor<4x4xf32>'}}
pp.parameter @w shards 2 : tensor<2x4xf32> = dense<0.0> : tensor<2x4xf32>

// -----

// expected-error @below {{cannot be one of 2 parts of a 'tensor<f32>'}}
pp.parameter @w shards 2 : tensor<f32> = dense<0.0> : tensor<f32>

// -----

pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
pp.exchange @x of @s0 peers 2 : tensor<4xf32>
// expected-error @below {{writes #pp.binding<received "x">, which tasks only read}}
pp.task @s0.f role F stage @s0 (%x: tensor<4xf32> = <input "x">) -> (tensor<4xf32> = <received "x">) {
  pp.yield %x : tensor<4xf32>
}

// -----

pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
pp.exchange @x of @s0 peers 2 : tensor<4xf32>
// expected-error @below {{binds a 'tensor<8xf32>' to #pp.binding<sent "x">, which is a 'tensor<4xf32>'}}
pp.task @s0.f role F stage @s0 (%x: tensor<8xf32> = <input "x">) -> (tensor<8xf32> = <sent "x">) {
  pp.yield %x : tensor<8xf32>
}

// -----

pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
pp.task @s0.f role F stage @s0 (%x: tensor<4xf32> = <input "x">) -> () {
  pp.yield
}
pp.program eval rank 0 {
  pp.overlap {
    pp.run @s0.f [0]
    // expected-error @below {{names 's0.f', which is not an exchange}}
    pp.all_to_all @s0.f [0]
  }
}

// -----

pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
pp.exchange @x of @s0 peers 2 : tensor<4xf32>
pp.program eval rank 0 {
  // expected-error @below {{expects parent op 'pp.overlap'}}
  pp.all_to_all @x [0]
}
