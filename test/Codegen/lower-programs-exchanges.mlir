// RUN: pp-opt %s --pp-lower-programs=rank=0 | FileCheck %s

// Branches take turns: one computes while the other exchanges.

pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
pp.exchange @x of @s0 peers 2 : tensor<4xf32>
pp.exchange @y of @s0 peers 2 : tensor<4xi64>
pp.exchange @z of @s0 peers 2 : tensor<4xf32>
pp.task @s0.f role F stage @s0 (%a: tensor<4xf32> = <input "a">, %b: tensor<4xi64> = <input "b">)
    -> (tensor<4xf32> = <sent "x">, tensor<4xi64> = <sent "y">) {
  pp.yield %a, %b : tensor<4xf32>, tensor<4xi64>
}
pp.task @s0.f.1 role F stage @s0 part 1 (%a: tensor<4xf32> = <received "x">, %b: tensor<4xi64> = <received "y">) -> () {
  pp.yield
}
pp.task @s0.b role B stage @s0 (%a: tensor<4xf32> = <input "a">) -> (tensor<4xf32> = <sent "z">) {
  pp.yield %a : tensor<4xf32>
}
pp.task @s0.b.1 role B stage @s0 part 1 (%a: tensor<4xf32> = <received "z">) -> () {
  pp.yield
}

// CHECK-LABEL: llvm.func @step(
// CHECK: %[[F:.*]] = llvm.mlir.constant(0 : i32)
// CHECK: llvm.call @pprtRun(%{{.*}}, %[[F]], %{{.*}})
// CHECK: %[[X:.*]] = llvm.mlir.constant(0 : i32)
// CHECK: llvm.call @pprtAllToAll(%{{.*}}, %[[X]], %{{.*}})
// CHECK: %[[Y:.*]] = llvm.mlir.constant(1 : i32)
// CHECK: llvm.call @pprtAllToAll(%{{.*}}, %[[Y]], %{{.*}})
// CHECK: %[[B:.*]] = llvm.mlir.constant(2 : i32)
// CHECK: llvm.call @pprtRun(%{{.*}}, %[[B]], %{{.*}})
// CHECK: %[[Z:.*]] = llvm.mlir.constant(2 : i32)
// CHECK: llvm.call @pprtAllToAll(%{{.*}}, %[[Z]], %{{.*}})
// CHECK: %[[F1:.*]] = llvm.mlir.constant(1 : i32)
// CHECK: llvm.call @pprtRun(%{{.*}}, %[[F1]], %{{.*}})
// CHECK: %[[B1:.*]] = llvm.mlir.constant(3 : i32)
// CHECK: llvm.call @pprtRun(%{{.*}}, %[[B1]], %{{.*}})
pp.program step rank 0 {
  pp.overlap {
    pp.run @s0.f [4]
    pp.all_to_all @x [4]
    pp.all_to_all @y [4]
    pp.run @s0.f.1 [4]
  }, {
    pp.run @s0.b [1]
    pp.all_to_all @z [1]
    pp.run @s0.b.1 [1]
  }
}
