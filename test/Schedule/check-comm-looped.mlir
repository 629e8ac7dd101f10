// RUN: not pp-opt %s --pp-check-comm 2>&1 | FileCheck %s
// RUN: pp-opt %s --pp-check-comm=transport=stream-per-kind -o /dev/null
// RUN: pp-opt %s --pp-order-messages --pp-check-comm -o /dev/null

// Two ranks with two stages each. Rank 0 has a forward to send before it asks
// for the gradient that rank 1 sends before it asks for that forward.

// CHECK: :[[#@LINE+55]]:3: error: S5: rank 0 waits to send 'h0' micro-batch 2 before it can receive 'd2' micro-batch 0
// CHECK: note: rank 1 waits to send 'd2' micro-batch 0 before it can receive 'h0' micro-batch 2
// CHECK: note: with transport 'blocking' none of these can go on; change the order or run '--pp-order-messages'

// With the two transfers of rank 0 in the other order all is well.

// RUN: sed '/^  pp.send @h0 .2.$/{N;s/\(.*\)\n\(  pp.recv @d2.*\)/\2\n\1/}' %s | pp-opt --pp-check-comm -o /dev/null

pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["l0"] parameters []
pp.stage @s1 index 1 rank 1 chunk 0 first_layer 1 layers ["l1"] parameters []
pp.stage @s2 index 2 rank 0 chunk 1 first_layer 2 layers ["l2"] parameters []
pp.stage @s3 index 3 rank 1 chunk 1 first_layer 3 layers ["l3"] parameters []
pp.channel @h0 activation from @s0 to @s1 : tensor<2xf32>
pp.channel @d0 gradient from @s1 to @s0 : tensor<2xf32>
pp.channel @h1 activation from @s1 to @s2 : tensor<2xf32>
pp.channel @d1 gradient from @s2 to @s1 : tensor<2xf32>
pp.channel @h2 activation from @s2 to @s3 : tensor<2xf32>
pp.channel @d2 gradient from @s3 to @s2 : tensor<2xf32>
pp.task @s0.f role F stage @s0 (%x: tensor<2xf32> = <input "x">) -> (tensor<2xf32> = <channel "h0">) {
  pp.yield %x : tensor<2xf32>
}
pp.task @s0.bw role BW stage @s0 (%x: tensor<2xf32> = <channel "d0">) -> () {
  pp.yield
}
pp.task @s1.f role F stage @s1 (%x: tensor<2xf32> = <channel "h0">) -> (tensor<2xf32> = <channel "h1">) {
  pp.yield %x : tensor<2xf32>
}
pp.task @s1.bw role BW stage @s1 (%x: tensor<2xf32> = <channel "d1">) -> (tensor<2xf32> = <channel "d0">) {
  pp.yield %x : tensor<2xf32>
}
pp.task @s2.f role F stage @s2 (%x: tensor<2xf32> = <channel "h1">) -> (tensor<2xf32> = <channel "h2">) {
  pp.yield %x : tensor<2xf32>
}
pp.task @s2.bw role BW stage @s2 (%x: tensor<2xf32> = <channel "d2">) -> (tensor<2xf32> = <channel "d1">) {
  pp.yield %x : tensor<2xf32>
}
pp.task @s3.f role F stage @s3 (%x: tensor<2xf32> = <channel "h2">) -> () {
  pp.yield
}
pp.task @s3.bw role BW stage @s3 (%x: tensor<2xf32> = <channel "h2">) -> (tensor<2xf32> = <channel "d2">) {
  pp.yield %x : tensor<2xf32>
}
pp.schedule "looped" ranks 2 microbatches 3 chunks 2
pp.program step rank 0 {
  pp.run @s0.f [0]
  pp.send @h0 [0]
  pp.recv @h1 [0]
  pp.run @s2.f [0]
  pp.send @h2 [0]
  pp.run @s0.f [1]
  pp.send @h0 [1]
  pp.recv @h1 [1]
  pp.run @s2.f [1]
  pp.send @h2 [1]
  pp.run @s0.f [2]
  pp.send @h0 [2]
  pp.recv @d2 [0]
  pp.run @s2.bw [0]
  pp.recv @h1 [2]
  pp.run @s2.f [2]
  pp.send @h2 [2]
  pp.recv @d2 [1]
  pp.run @s2.bw [1]
  pp.recv @d2 [2]
  pp.run @s2.bw [2]
  pp.send @d1 [0]
  pp.send @d1 [1]
  pp.send @d1 [2]
  pp.recv @d0 [0]
  pp.run @s0.bw [0]
  pp.recv @d0 [1]
  pp.run @s0.bw [1]
  pp.recv @d0 [2]
  pp.run @s0.bw [2]
  pp.step
}
pp.program step rank 1 {
  pp.recv @h0 [0]
  pp.run @s1.f [0]
  pp.send @h1 [0]
  pp.recv @h2 [0]
  pp.run @s3.f [0]
  pp.run @s3.bw [0]
  pp.recv @h0 [1]
  pp.run @s1.f [1]
  pp.send @h1 [1]
  pp.recv @h2 [1]
  pp.send @d2 [0]
  pp.run @s3.f [1]
  pp.run @s3.bw [1]
  pp.recv @h0 [2]
  pp.run @s1.f [2]
  pp.send @h1 [2]
  pp.recv @h2 [2]
  pp.send @d2 [1]
  pp.run @s3.f [2]
  pp.run @s3.bw [2]
  pp.send @d2 [2]
  pp.recv @d1 [0]
  pp.run @s1.bw [0]
  pp.recv @d1 [1]
  pp.run @s1.bw [1]
  pp.recv @d1 [2]
  pp.run @s1.bw [2]
  pp.send @d0 [0]
  pp.send @d0 [1]
  pp.send @d0 [2]
  pp.step
}
pp.program eval rank 0 {
  pp.run @s0.f [0]
  pp.send @h0 [0]
  pp.recv @h1 [0]
  pp.run @s2.f [0]
  pp.send @h2 [0]
  pp.run @s0.f [1]
  pp.send @h0 [1]
  pp.recv @h1 [1]
  pp.run @s2.f [1]
  pp.send @h2 [1]
  pp.run @s0.f [2]
  pp.send @h0 [2]
  pp.recv @h1 [2]
  pp.run @s2.f [2]
  pp.send @h2 [2]
}
pp.program eval rank 1 {
  pp.recv @h0 [0]
  pp.run @s1.f [0]
  pp.send @h1 [0]
  pp.recv @h2 [0]
  pp.run @s3.f [0]
  pp.recv @h0 [1]
  pp.run @s1.f [1]
  pp.send @h1 [1]
  pp.recv @h2 [1]
  pp.run @s3.f [1]
  pp.recv @h0 [2]
  pp.run @s1.f [2]
  pp.send @h1 [2]
  pp.recv @h2 [2]
  pp.run @s3.f [2]
}
