// RUN: pp-opt %s --split-input-file --verify-diagnostics

// What the runtime writes, tasks only read.

pp.parameter @w : tensor<4xf32> = dense<0.0> : tensor<4xf32>
pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters [@w]
// expected-error @below {{writes #pp.binding<parameter "w">, which tasks only read}}
pp.task @s0.f role F stage @s0 (%x: tensor<4xf32> = <input "x">) -> (tensor<4xf32> = <parameter "w">) {
  pp.yield %x : tensor<4xf32>
}

// -----

pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
// expected-error @below {{writes #pp.binding<loss_scale "">, which tasks only read}}
pp.task @s0.bw role BW stage @s0 (%s: tensor<f32> = <loss_scale "">) -> (tensor<f32> = <loss_scale "">) {
  pp.yield %s : tensor<f32>
}

// -----

pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
// expected-error @below {{binds a 'tensor<f16>' to #pp.binding<loss_scale "">, which is a 'tensor<f32>'}}
pp.task @s0.bw role BW stage @s0 (%s: tensor<f16> = <loss_scale "">) -> () {
  pp.yield
}
