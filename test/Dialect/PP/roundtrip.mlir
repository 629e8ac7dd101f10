// RUN: pp-opt %s | pp-opt | FileCheck %s

// The module of a two-stage model prints and parses at every phase.

// CHECK: pp.parameter @fc1.weight trainable
module attributes {pp.phase = #pp.phase<layers>} {
  pp.parameter @"fc1.weight" trainable : tensor<16x8xf32> = #pp.external<"mlp.onnx", offset = 312, length = 512>
  pp.model @mlp(%x: tensor<2x8xf32> = #pp.input_spec<"x", axis = 0>) {
    %h = pp.layer "fc1" @fc1(%x) parameters [@"fc1.weight"] : (tensor<2x8xf32>) -> tensor<2x16xf32>
    // CHECK: pp.layer "again" {{.*}} cost <{{.*}}residual_bytes = 8, picoseconds_r = 9, selective_bytes = 10, input_bytes = 11, source = formula> remat selective : (tensor<2x8xf32>)
    %again = pp.layer "again" @fc1(%x) parameters [@"fc1.weight"]
      cost <flops_f = 1, flops_b = 2, flops_w = 3, picoseconds_f = 4, picoseconds_b = 5, picoseconds_w = 6, activation_bytes = 7, residual_bytes = 8, picoseconds_r = 9, selective_bytes = 10, input_bytes = 11, source = formula>
      remat selective : (tensor<2x8xf32>) -> tensor<2x16xf32>
    pp.return outputs ["h"] %h : tensor<2x16xf32>
  }
  nn.function @fc1(%x: tensor<2x8xf32>, %w: tensor<16x8xf32>) -> tensor<2x16xf32> {
    %0 = nn.matmul %x, %w transpose_rhs : tensor<2x8xf32>, tensor<16x8xf32> -> tensor<2x16xf32>
    %1 = nn.gelu erf %0 : tensor<2x16xf32>
    nn.return %1 : tensor<2x16xf32>
  }
  nn.function @fc1.b(%dy: tensor<2x16xf32>, %w: tensor<16x8xf32>) -> tensor<2x8xf32> {
    %0 = nn.matmul %dy, %w : tensor<2x16xf32>, tensor<16x8xf32> -> tensor<2x8xf32>
    nn.return %0 : tensor<2x8xf32>
  }
  nn.derivative @fc1 forward @fc1 backward @fc1.b operands [#nn.operand<cotangent 0>, #nn.operand<argument 1>] gradients [0] operands [] gradients []
  pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["fc1"] parameters [@"fc1.weight"]
  pp.stage @s1 index 1 rank 1 chunk 0 first_layer 0 layers ["fc1"] parameters [@"fc1.weight"]
  pp.channel @h activation from @s0 to @s1 : tensor<2x16xf32>
  pp.task @s0.f role F stage @s0 (%x: tensor<2x8xf32> = <input "x">, %w: tensor<16x8xf32> = <parameter "fc1.weight">) -> (tensor<2x16xf32> = <channel "h">) {
    %y = nn.call @fc1(%x, %w) : (tensor<2x8xf32>, tensor<16x8xf32>) -> tensor<2x16xf32>
    pp.yield %y : tensor<2x16xf32>
  }
  pp.program step rank 0 {
    pp.run @s0.f [0]
    pp.repeat %i = 1 to 8 {
      pp.run @s0.f [%i]
      pp.send @h [%i + -1]
    }
    pp.repeat %i = 0 to 8 step 2 {
      pp.run @s0.f [%i + 1]
      pp.overlap {
        pp.run @s0.f [%i]
      }, {
        pp.run @s0.f [%i + 2]
        pp.run @s0.f [3]
      }
    }
    pp.all_reduce [@fc1.weight]
    pp.step
  }
  pp.arena rank 0 bytes 4096 {
    pp.place <parameter "fc1.weight"> at 0 bytes 512
    pp.place <saved "s0"[1]> at [512, 640] bytes 64 of [0, 1] eval 1
  }
  pp.update @fc1.weight from layers [0]
  pp.update_rule adamw
  pp.schedule "1f1b" ranks 2 microbatches 8 chunks 1 replicas 4
}
