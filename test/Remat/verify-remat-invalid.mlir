// RUN: pp-opt %s --split-input-file --pp-verify-remat --verify-diagnostics

pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
// expected-error @below {{reads #pp.binding<saved "s0">, which is neither kept nor recomputed}}
pp.task @s0.bw role BW stage @s0 (%x: tensor<4xf32> = <saved "s0">) -> () {
  pp.yield
}

// -----

pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
// expected-note @below {{the other one is here}}
pp.task @s0.f role F stage @s0 (%x: tensor<4xf32> = <input "x">) -> (tensor<4xf32> = <saved "s0">) {
  pp.yield %x : tensor<4xf32>
}
// expected-error @below {{makes #pp.binding<saved "s0"> as another task does}}
pp.task @s0.r role R stage @s0 (%x: tensor<4xf32> = <input "x">) -> (tensor<4xf32> = <saved "s0">) {
  pp.yield %x : tensor<4xf32>
}

// -----

pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
pp.task @s0.w role W stage @s0 (%x: tensor<4xf32> = <input "x">) -> (tensor<4xf32> = <saved "s0">) {
  pp.yield %x : tensor<4xf32>
}
// expected-error @below {{reads #pp.binding<saved "s0"> of task 's0.w', which does not run before it on its stage}}
pp.task @s0.b role B stage @s0 (%x: tensor<4xf32> = <saved "s0">) -> () {
  pp.yield
}

// -----

pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
pp.task @s0.f role F stage @s0 (%x: tensor<4xf32> = <input "x">) -> (tensor<4xf32> = <saved "s0">) {
  pp.yield %x : tensor<4xf32>
}
// expected-error @below {{as 'tensor<2xf32>', but it is a 'tensor<4xf32>'}}
pp.task @s0.bw role BW stage @s0 (%x: tensor<2xf32> = <saved "s0">) -> () {
  pp.yield
}
