// RUN: not pp-opt %s --pp-attach-schedule="schedule=1f1b microbatches=8" --pp-check-comm 2>&1 | FileCheck %s
// RUN: pp-opt %s --pp-attach-schedule="schedule=1f1b microbatches=8" --pp-check-comm=credits=3 | FileCheck %s --check-prefix=ACCEPTED
// RUN: pp-opt %s --pp-attach-schedule="schedule=gpipe microbatches=8" --pp-check-comm | FileCheck %s --check-prefix=GPIPE

// Four ranks of 1F1B, each of which sends right after a task and receives right
// before one: with sends that block they wait for each other. GPipe's order has
// no such cycle, and with buffers for three messages neither has 1F1B's.

// CHECK: error: S5: rank {{[0-3]}} waits to send
// CHECK-COUNT-1: note: rank {{[0-3]}} waits to send
// CHECK: note: with transport 'blocking' none of these can go on

// ACCEPTED: pp.schedule "1f1b"
// GPIPE: pp.schedule "gpipe"

// Transfers that are posted together between two tasks cannot block each other,
// and neither can activations and gradients on streams of their own; on one
// stream for both they can.

// RUN: pp-opt %s --pp-attach-schedule="schedule=1f1b microbatches=8" --pp-check-comm=transport=grouped | FileCheck %s --check-prefix=ACCEPTED
// RUN: pp-opt %s --pp-attach-schedule="schedule=1f1b microbatches=8" --pp-check-comm=transport=stream-per-kind | FileCheck %s --check-prefix=ACCEPTED
// RUN: not pp-opt %s --pp-attach-schedule="schedule=1f1b microbatches=8" --pp-check-comm=transport=stream-per-peer 2>&1 | FileCheck %s --check-prefix=STREAM
// RUN: not pp-opt %s --pp-check-comm=transport=pigeon 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// STREAM: error: S5: rank {{[0-3]}} waits to {{send|receive|run}}
// STREAM: note: with transport 'stream-per-peer' none of these can go on
// UNKNOWN: error: there is no transport 'pigeon'; there are blocking, grouped, stream, stream-per-peer, stream-per-kind, stream-per-peer-kind, stream-per-channel

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
