// RUN: pp-opt %s --split-input-file --pp-verify-comm --verify-diagnostics

pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
pp.stage @s1 index 1 rank 1 chunk 0 first_layer 1 layers ["b"] parameters []
pp.stage @s2 index 2 rank 2 chunk 0 first_layer 2 layers ["c"] parameters []
// expected-error @below {{joins stages 0 and 2, which are not neighbours; run '--pp-insert-transfers' first}}
pp.channel @c activation from @s0 to @s2 : tensor<4xf32>

// -----

pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
pp.stage @s1 index 1 rank 1 chunk 0 first_layer 1 layers ["b"] parameters []
// expected-error @below {{is written 0 times}}
pp.channel @c activation from @s0 to @s1 : tensor<4xf32>

// -----

pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
pp.stage @s1 index 1 rank 1 chunk 0 first_layer 1 layers ["b"] parameters []
// expected-error @below {{is never read}}
pp.channel @c activation from @s0 to @s1 : tensor<4xf32>
pp.task @s0.f role F stage @s0 (%x: tensor<4xf32> = <input "x">) -> (tensor<4xf32> = <channel "c">) {
  pp.yield %x : tensor<4xf32>
}

// -----

pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
pp.stage @s1 index 1 rank 1 chunk 0 first_layer 1 layers ["b"] parameters []
pp.channel @c activation from @s0 to @s1 : tensor<4xf32>
// expected-error @below {{writes channel 'c', which leaves stage 's0'}}
pp.task @s1.f role F stage @s1 (%x: tensor<4xf32> = <input "x">) -> (tensor<4xf32> = <channel "c">) {
  pp.yield %x : tensor<4xf32>
}

// -----

pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
pp.stage @s1 index 1 rank 1 chunk 0 first_layer 1 layers ["b"] parameters []
pp.channel @c activation from @s0 to @s1 : tensor<4xf32>
// expected-error @below {{reads channel 'c', which arrives at stage 's1'}}
pp.task @s0.f role F stage @s0 (%x: tensor<4xf32> = <channel "c">) -> () {
  pp.yield
}

// -----

pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
// expected-error @below {{'pp.exchange' op is never read}}
pp.exchange @x of @s0 peers 2 : tensor<2xf32>
pp.task @s0.f role F stage @s0 (%x: tensor<2xf32> = <input "x">) -> (tensor<2xf32> = <sent "x">) {
  pp.yield %x : tensor<2xf32>
}

// -----

pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
pp.stage @s1 index 1 rank 1 chunk 0 first_layer 1 layers ["b"] parameters []
pp.exchange @x of @s0 peers 2 : tensor<2xf32>
pp.task @s0.f role F stage @s0 (%x: tensor<2xf32> = <input "x">) -> (tensor<2xf32> = <sent "x">) {
  pp.yield %x : tensor<2xf32>
}
// expected-error @below {{reads exchange 'x', which arrives at stage 's0'}}
pp.task @s1.f role F stage @s1 (%x: tensor<2xf32> = <received "x">) -> () {
  pp.yield
}
