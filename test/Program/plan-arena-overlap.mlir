// RUN: pp-opt %s --pp-plan-arena | FileCheck %s
// RUN: sed -n '/pp.overlap {/d; /}, {/d; /^  } .. pair/d; p' %s | pp-opt --pp-plan-arena | FileCheck %s --check-prefix=APART

// The forward of micro-batch 1 begins before the backward of micro-batch 0 has
// ended, so each needs a slot of its own. One after the other, backward first,
// they would share one.

// CHECK: pp.place <saved "s0"> at [64, 128] bytes 64 of [0, 1]
// APART: pp.place <saved "s0"> at {{[0-9]+}} bytes 64 of [0, 0]

pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
pp.task @s0.f role F stage @s0 (%x: tensor<2xf32> = <input "x">) -> (tensor<2xf32> = <saved "s0">) {
  pp.yield %x : tensor<2xf32>
} {workspace_bytes = 0 : i64}
pp.task @s0.bw role BW stage @s0 (%s: tensor<2xf32> = <saved "s0">) -> () {
  pp.yield
} {workspace_bytes = 0 : i64}
pp.schedule "pairs" ranks 1 microbatches 2 chunks 1
pp.program step rank 0 {
  pp.run @s0.f [0]
  pp.overlap {
    pp.run @s0.bw [0]
  }, {
    pp.run @s0.f [1]
  } // pair
  pp.run @s0.bw [1]
  pp.step
}
