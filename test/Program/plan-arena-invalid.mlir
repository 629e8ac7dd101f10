// RUN: pp-opt %s --pp-plan-arena --split-input-file --verify-diagnostics

// expected-error @below {{has no schedule to plan memory for; run '--pp-attach-schedule' first}}
module {
}

// -----

pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
// expected-error @below {{has no known workspace; code generation has not been asked for it}}
pp.task @s0.f role F stage @s0 (%x: tensor<2xf32> = <input "x">) -> () {
  pp.yield
}
pp.schedule "gpipe" ranks 1 microbatches 1 chunks 1
pp.program step rank 0 {
  pp.run @s0.f [0]
}

// -----

pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
pp.task @s0.f role F stage @s0 (%x: tensor<2xf32> = <input "x">) -> () {
  pp.yield
} {workspace_bytes = 0 : i64}
pp.schedule "gpipe" ranks 1 microbatches 1 chunks 1
pp.program step rank 0 {
  // expected-error @below {{names micro-batch 1 of 1}}
  pp.run @s0.f [1]
}
