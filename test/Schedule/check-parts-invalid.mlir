// RUN: pp-opt %s --split-input-file --verify-diagnostics --pp-check-schedule

// Parts apart.

pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
pp.exchange @x of @s0 peers 2 : tensor<2xf32>
pp.task @s0.f role F stage @s0 (%x: tensor<2xf32> = <input "x">) -> (tensor<2xf32> = <sent "x">) {
  pp.yield %x : tensor<2xf32>
}
pp.task @s0.f.1 role F stage @s0 part 1 (%x: tensor<2xf32> = <received "x">) -> (tensor<2xf32> = <output "y">) {
  pp.yield %x : tensor<2xf32>
}
pp.schedule "gpipe" ranks 1 microbatches 2 chunks 1 replicas 2
pp.program eval rank 0 {
  // expected-error @below {{is part 0 of 2, which run one after the other in one 'pp.overlap'}}
  pp.run @s0.f [0]
}

// -----

// Parts of different micro-batches.

pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
pp.exchange @x of @s0 peers 2 : tensor<2xf32>
pp.task @s0.f role F stage @s0 (%x: tensor<2xf32> = <input "x">) -> (tensor<2xf32> = <sent "x">) {
  pp.yield %x : tensor<2xf32>
}
pp.task @s0.f.1 role F stage @s0 part 1 (%x: tensor<2xf32> = <received "x">) -> (tensor<2xf32> = <output "y">) {
  pp.yield %x : tensor<2xf32>
}
pp.schedule "gpipe" ranks 1 microbatches 2 chunks 1 replicas 2
pp.program eval rank 0 {
  pp.overlap {
    // expected-error @below {{is part 0 of 2, which run one after the other in one 'pp.overlap'}}
    pp.run @s0.f [0]
    pp.all_to_all @x [0]
    pp.run @s0.f.1 [1]
  }
}

// -----

// Nothing is exchanged.

pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
pp.exchange @x of @s0 peers 2 : tensor<2xf32>
pp.task @s0.f role F stage @s0 (%x: tensor<2xf32> = <input "x">) -> (tensor<2xf32> = <sent "x">) {
  pp.yield %x : tensor<2xf32>
}
pp.task @s0.f.1 role F stage @s0 part 1 (%x: tensor<2xf32> = <received "x">) -> (tensor<2xf32> = <output "y">) {
  pp.yield %x : tensor<2xf32>
}
pp.schedule "gpipe" ranks 1 microbatches 2 chunks 1 replicas 2
pp.program eval rank 0 {
  pp.overlap {
    // expected-error @below {{makes what 'x' exchanges, which must follow it}}
    pp.run @s0.f [0]
    pp.run @s0.f.1 [0]
    pp.all_to_all @x [0]
  }
}

// -----

// Exchanged once more.

pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
pp.exchange @x of @s0 peers 2 : tensor<2xf32>
pp.task @s0.f role F stage @s0 (%x: tensor<2xf32> = <input "x">) -> (tensor<2xf32> = <sent "x">) {
  pp.yield %x : tensor<2xf32>
}
pp.task @s0.f.1 role F stage @s0 part 1 (%x: tensor<2xf32> = <received "x">) -> (tensor<2xf32> = <output "y">) {
  pp.yield %x : tensor<2xf32>
}
pp.schedule "gpipe" ranks 1 microbatches 2 chunks 1 replicas 2
pp.program eval rank 0 {
  pp.overlap {
    pp.run @s0.f [0]
    pp.all_to_all @x [0]
    pp.run @s0.f.1 [0]
    // expected-error @below {{exchanges what the task before it does not make}}
    pp.all_to_all @x [0]
  }
}

// -----

pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
pp.task @s0.f role F stage @s0 (%x: tensor<2xf32> = <input "x">) -> () {
  pp.yield
}
// expected-error @below {{is part 2 of role F for stage 's0', but there are 1 before it}}
pp.task @s0.f.2 role F stage @s0 part 2 (%x: tensor<2xf32> = <input "x">) -> () {
  pp.yield
}
pp.schedule "gpipe" ranks 1 microbatches 2 chunks 1
