// RUN: pp-opt %s --split-input-file --verify-diagnostics

// Positions are not negative and sizes at least 1.

// expected-error @below {{'ranks' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
pp.schedule "1f1b" ranks 0 microbatches 8 chunks 1

// -----

// expected-error @below {{'replicas' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
pp.schedule "1f1b" ranks 2 microbatches 8 chunks 1 replicas -1

// -----

// expected-error @below {{'first_layer' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
pp.stage @s0 index 0 rank 0 chunk 0 first_layer -1 layers ["a"] parameters []

// -----

pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
// expected-error @below {{'peers' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
pp.exchange @x of @s0 peers -2 : tensor<4xf32>

// -----

pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
// expected-error @below {{'part' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
pp.task @s0.f role F stage @s0 part -1 (%x: tensor<4xf32> = <input "x">) -> () {
  pp.yield
}

// -----

pp.program eval rank 0 {
  // expected-error @below {{'lower' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
  pp.repeat %i = -2 to -1 {
  }
}

// -----

pp.program eval rank 0 {
  // expected-error @below {{'step' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  pp.repeat %i = 0 to 2 step -1 {
  }
}

// -----

// expected-error @below {{'bytes' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
pp.arena rank 0 bytes -64 {
}

// -----

// expected-error @below {{cannot be one of 4611686018427387904 parts of a 'tensor<4xf32>'}}
pp.parameter @w shards 4611686018427387904 : tensor<4xf32> = dense<0.0> : tensor<4xf32>
