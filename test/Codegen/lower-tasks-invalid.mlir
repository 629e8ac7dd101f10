// RUN: pp-opt %s --pp-lower-tasks --verify-diagnostics

pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
pp.task @s0.f role F stage @s0 (%x: tensor<4xf32> = <input "x">) -> (tensor<4xf32> = <output "y">) {
  // expected-error @below {{'nn.add' op is in the body of task 's0.f', which may only call; run '--pp-outline-task-ops' first}}
  %0 = nn.add %x, %x : tensor<4xf32>
  pp.yield %0 : tensor<4xf32>
}
