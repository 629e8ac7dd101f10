// RUN: pp-opt %s --pp-lower-tasks | FileCheck %s
// RUN: pp-opt %s --pp-lower-tasks=target=cuda | FileCheck %s --check-prefix=CUDA

nn.function @f(%x: tensor<16xf32>) -> tensor<16xf32> {
  %0 = nn.exp %x : tensor<16xf32>
  nn.return %0 : tensor<16xf32>
}
nn.function @w(%a: tensor<16xf32>, %x: tensor<16xf32>) -> tensor<16xf32> {
  %0 = nn.accumulate %a, %x : tensor<16xf32>
  nn.return %0 : tensor<16xf32>
}
pp.parameter @p trainable : tensor<16xf32> = dense<0.0> : tensor<16xf32>
pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters [@p]

// The first value lies in the workspace, pointer 2, and the second where its
// binding is, pointer 1. The callee needs no workspace, so any pointer will do.

// CHECK-LABEL: llvm.func @task.s0.f(
// CHECK-SAME:    %[[POINTERS:.*]]: !llvm.ptr)
pp.task @s0.f role F stage @s0 (%x: tensor<16xf32> = <input "x">) -> (tensor<16xf32> = <output "y">) {
  // CHECK: %[[X_AT:.*]] = llvm.getelementptr %[[POINTERS]][0]
  // CHECK: %[[X:.*]] = llvm.load %[[X_AT]]
  // CHECK: %[[W_AT:.*]] = llvm.getelementptr %[[POINTERS]][2]
  // CHECK: %[[WORKSPACE:.*]] = llvm.load %[[W_AT]]
  // CHECK: llvm.call @layer.f(%[[X]], %[[WORKSPACE]], %[[WORKSPACE]])
  // CHECK: %[[Y_AT:.*]] = llvm.getelementptr %[[POINTERS]][1]
  // CHECK: %[[Y:.*]] = llvm.load %[[Y_AT]]
  // CHECK: llvm.call @layer.f(%[[WORKSPACE]], %[[Y]], %{{.*}})
  %0 = nn.call @f(%x) : (tensor<16xf32>) -> tensor<16xf32>
  %1 = nn.call @f(%0) : (tensor<16xf32>) -> tensor<16xf32>
  pp.yield %1 : tensor<16xf32>
}

// A gradient is one buffer, argument and result; no copy.

// CHECK-LABEL: llvm.func @task.s0.w(
pp.task @s0.w role W stage @s0 (%x: tensor<16xf32> = <input "x">, %a: tensor<16xf32> = <gradient "p">)
    -> (tensor<16xf32> = <gradient "p">) {
  // CHECK: %[[A_AT:.*]] = llvm.getelementptr %{{.*}}[1]
  // CHECK: %[[A:.*]] = llvm.load %[[A_AT]]
  // CHECK: llvm.call @layer.w(%[[A]], %{{.*}}, %{{.*}})
  // CHECK-NEXT: llvm.return
  %0 = nn.call @w(%a, %x) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  pp.yield %0 : tensor<16xf32>
}

// What is passed on is copied, by the runtime if it is not in the host's memory.

// CHECK-LABEL: llvm.func @task.s0.pass(
pp.task @s0.pass role F stage @s0 (%x: tensor<16xf32> = <input "x">) -> (tensor<16xf32> = <output "z">) {
  // CHECK: %[[BYTES:.*]] = llvm.mlir.constant(64 : i64)
  // CHECK: "llvm.intr.memcpy"(%{{.*}}, %{{.*}}, %[[BYTES]])
  // CUDA-LABEL: llvm.func @task.s0.pass(
  // CUDA-DAG: %[[BYTES:.*]] = llvm.mlir.constant(64 : i64)
  // CUDA-DAG: %[[Z_AT:.*]] = llvm.getelementptr %{{.*}}[1]
  // CUDA-DAG: %[[Z:.*]] = llvm.load %[[Z_AT]]
  // CUDA-DAG: %[[X_AT:.*]] = llvm.getelementptr %{{.*}}[0]
  // CUDA-DAG: %[[X:.*]] = llvm.load %[[X_AT]]
  // CUDA: llvm.call @pprtCudaCopy(%[[Z]], %[[X]], %[[BYTES]])
  pp.yield %x : tensor<16xf32>
}
