// RUN: pp-opt %s --split-input-file --pp-insert-transfers --verify-diagnostics

pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
// expected-error @below {{has no task to pass 'c' on}}
pp.stage @s1 index 1 rank 1 chunk 0 first_layer 1 layers ["b"] parameters []
pp.stage @s2 index 2 rank 2 chunk 0 first_layer 2 layers ["c"] parameters []
pp.channel @c activation from @s0 to @s2 : tensor<4xf32>

// -----

// expected-error @below {{has index 1 but is the stage number 0}}
pp.stage @s0 index 1 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
