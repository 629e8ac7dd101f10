// RUN: pp-opt %s --pp-attach-schedule="schedule=1f1b microbatches=8" --pp-order-messages --pp-check-schedule --pp-check-comm | FileCheck %s

// The cycle of four ranks that 1F1B's plain order has is gone.

// CHECK: pp.program step rank 3

pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["l0"] parameters []
pp.stage @s1 index 1 rank 1 chunk 0 first_layer 1 layers ["l1"] parameters []
pp.stage @s2 index 2 rank 2 chunk 0 first_layer 2 layers ["l2"] parameters []
pp.stage @s3 index 3 rank 3 chunk 0 first_layer 3 layers ["l3"] parameters []
pp.channel @h0 activation from @s0 to @s1 : tensor<2xf32>
pp.channel @d0 gradient from @s1 to @s0 : tensor<2xf32>
pp.channel @h1 activation from @s1 to @s2 : tensor<2xf32>
pp.channel @d1 gradient from @s2 to @s1 : tensor<2xf32>
pp.channel @h2 activation from @s2 to @s3 : tensor<2xf32>
pp.channel @d2 gradient from @s3 to @s2 : tensor<2xf32>
pp.task @s0.f role F stage @s0 (%x: tensor<2xf32> = <input "x">)
    -> (tensor<2xf32> = <channel "h0">) {
  pp.yield %x : tensor<2xf32>
}
pp.task @s0.bw role BW stage @s0 (%x: tensor<2xf32> = <channel "d0">) -> () {
  pp.yield
}
pp.task @s1.f role F stage @s1 (%x: tensor<2xf32> = <channel "h0">)
    -> (tensor<2xf32> = <channel "h1">) {
  pp.yield %x : tensor<2xf32>
}
pp.task @s1.bw role BW stage @s1 (%x: tensor<2xf32> = <channel "d1">)
    -> (tensor<2xf32> = <channel "d0">) {
  pp.yield %x : tensor<2xf32>
}
pp.task @s2.f role F stage @s2 (%x: tensor<2xf32> = <channel "h1">)
    -> (tensor<2xf32> = <channel "h2">) {
  pp.yield %x : tensor<2xf32>
}
pp.task @s2.bw role BW stage @s2 (%x: tensor<2xf32> = <channel "d2">)
    -> (tensor<2xf32> = <channel "d1">) {
  pp.yield %x : tensor<2xf32>
}
pp.task @s3.f role F stage @s3 (%x: tensor<2xf32> = <channel "h2">) -> () {
  pp.yield
}
pp.task @s3.bw role BW stage @s3 (%x: tensor<2xf32> = <channel "h2">)
    -> (tensor<2xf32> = <channel "d2">) {
  pp.yield %x : tensor<2xf32>
}
