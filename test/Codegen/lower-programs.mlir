// RUN: pp-opt %s --pp-lower-programs=rank=0 | FileCheck %s

pp.parameter @unused trainable : tensor<4xf32> = dense<0.0> : tensor<4xf32>
pp.parameter @w trainable : tensor<4xf32> = dense<0.0> : tensor<4xf32>
pp.parameter @b trainable : tensor<4xf32> = dense<0.0> : tensor<4xf32>
pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
pp.stage @s1 index 1 rank 1 chunk 0 first_layer 1 layers ["b"] parameters []
pp.channel @h activation from @s0 to @s1 : tensor<4xf32>
pp.task @s1.f role F stage @s1 (%x: tensor<4xf32> = <channel "h">) -> (tensor<4xf32> = <output "y">) {
  pp.yield %x : tensor<4xf32>
}
pp.task @s0.f role F stage @s0 (%x: tensor<4xf32> = <input "x">) -> (tensor<4xf32> = <channel "h">) {
  pp.yield %x : tensor<4xf32>
}

// CHECK: llvm.mlir.global internal constant @parameters.0(dense<[1, 0]> : tensor<2xi32>)
// CHECK-LABEL: llvm.func @step(
// CHECK-SAME:    %[[CONTEXT:.*]]: !llvm.ptr)
pp.program step rank 0 {
  // The rank runs one task, which is number 0 of its own.
  // CHECK: %[[TWO:.*]] = llvm.mlir.constant(2 : i32)
  // CHECK: %[[TASK:.*]] = llvm.mlir.constant(0 : i32)
  // CHECK: llvm.call @pprtRun(%[[CONTEXT]], %[[TASK]], %[[TWO]])
  pp.run @s0.f [2]
  // CHECK: %[[LOWER:.*]] = llvm.mlir.constant(3 : i32)
  // CHECK: llvm.br ^[[BODY:.*]](%[[LOWER]] : i32)
  // CHECK: ^[[BODY]](%[[I:.*]]: i32):
  pp.repeat %i = 3 to 8 {
    // CHECK: %[[BEFORE:.*]] = llvm.mlir.constant(-1 : i32)
    // CHECK: %[[MB:.*]] = llvm.add %[[I]], %[[BEFORE]]
    // CHECK: llvm.call @pprtSend(%[[CONTEXT]], %{{.*}}, %[[MB]])
    pp.send @h [%i + -1]
    // CHECK: %[[NEXT:.*]] = llvm.add %[[I]], %{{.*}}
    // CHECK: %[[UPPER:.*]] = llvm.mlir.constant(8 : i32)
    // CHECK: %[[AGAIN:.*]] = llvm.icmp "slt" %[[NEXT]], %[[UPPER]]
    // CHECK: llvm.cond_br %[[AGAIN]], ^[[BODY]](%[[NEXT]] : i32), ^[[AFTER:.*]]
  }
  // CHECK: ^[[AFTER]]:
  // Branches run one after the other.
  // CHECK: %[[FOUR:.*]] = llvm.mlir.constant(4 : i32)
  // CHECK: llvm.call @pprtRun(%[[CONTEXT]], %{{.*}}, %[[FOUR]])
  // CHECK: %[[SIX:.*]] = llvm.mlir.constant(6 : i32)
  // CHECK: llvm.call @pprtRun(%[[CONTEXT]], %{{.*}}, %[[SIX]])
  // CHECK: %[[SEVEN:.*]] = llvm.mlir.constant(7 : i32)
  // CHECK: llvm.call @pprtRun(%[[CONTEXT]], %{{.*}}, %[[SEVEN]])
  pp.overlap {
    pp.run @s0.f [4]
  }, {
    pp.run @s0.f [6]
    pp.run @s0.f [7]
  }
  // CHECK: %[[NUMBERS:.*]] = llvm.mlir.addressof @parameters.0
  // CHECK: %[[COUNT:.*]] = llvm.mlir.constant(2 : i32)
  // CHECK: llvm.call @pprtAllReduce(%[[CONTEXT]], %[[NUMBERS]], %[[COUNT]])
  pp.all_reduce [@b, @w]
  // CHECK: llvm.call @pprtUpdate(%[[CONTEXT]])
  // CHECK-NEXT: llvm.return
  pp.step
}

// Other ranks' programs stay as they are.

// CHECK: pp.program eval rank 1
pp.program eval rank 1 {
  pp.run @s1.f [0]
}
