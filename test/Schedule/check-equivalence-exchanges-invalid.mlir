// RUN: pp-opt %s --verify-diagnostics --pp-check-equivalence

// A replica goes on with its own rows instead of those of its peers.

pp.model @m(%x: tensor<4xf32> = #pp.input_spec<"x", axis = 0>) {
  %0 = pp.layer "a" @f(%x) parameters [] : (tensor<4xf32>) -> tensor<4xf32>
  %1 = pp.exchanged %0 peers 2 : tensor<4xf32>
  %2 = pp.layer "b" @g(%1) parameters [] : (tensor<4xf32>) -> tensor<4xf32>
  pp.return outputs ["y"] %2 : tensor<4xf32>
}
nn.function @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.tanh %x : tensor<4xf32>
  nn.return %0 : tensor<4xf32>
}
nn.function @g(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.exp %x : tensor<4xf32>
  nn.return %0 : tensor<4xf32>
}
pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a", "b"] parameters []
pp.exchange @x of @s0 peers 2 : tensor<4xf32>
pp.task @s0.f role F stage @s0 (%x: tensor<4xf32> = <input "x">) -> (tensor<4xf32> = <sent "x">, tensor<4xf32> = <saved "s0">) {
  %0 = nn.call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  pp.yield %0, %0 : tensor<4xf32>, tensor<4xf32>
}
pp.task @s0.f.1 role F stage @s0 part 1 (%x: tensor<4xf32> = <saved "s0">, %r: tensor<4xf32> = <received "x">) -> (tensor<4xf32> = <output "y">) {
  // expected-note @below {{in this op, to which the model never gives these operands; compare the task's bindings and the order of its micro-batches}}
  %0 = nn.call @g(%x) : (tensor<4xf32>) -> tensor<4xf32>
  pp.yield %0 : tensor<4xf32>
}
pp.schedule "forward" ranks 1 microbatches 1 chunks 1 replicas 2
pp.program eval rank 0 {
  pp.overlap {
    pp.run @s0.f [0]
    pp.all_to_all @x [0]
    // expected-error @below {{S8: output 'y' of micro-batch 0, last written here by task 's0.f.1' of micro-batch 0, is not what the model computes}}
    // expected-note @below {{the first value that the model does not have is made here, by task 's0.f.1' of micro-batch 0}}
    pp.run @s0.f.1 [0]
  }
}
