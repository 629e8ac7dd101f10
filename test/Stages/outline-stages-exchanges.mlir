// RUN: pp-opt %S/Inputs/exchanges.mlir --nn-differentiate --pp-balance-stages="ranks=1 balance=uniform" --pp-outline-stages --pp-verify-stages | FileCheck %s
// RUN: pp-opt %S/Inputs/exchanges.mlir --nn-differentiate --pp-balance-stages="ranks=1 balance=uniform" --pp-outline-stages=backward=split | FileCheck %s --check-prefix=SPLIT
// RUN: not pp-opt %S/Inputs/exchanges.mlir --nn-differentiate --pp-balance-stages="ranks=2 balance=uniform split-at=a/experts" --pp-outline-stages 2>&1 | FileCheck %s --check-prefix=APART
// RUN: not pp-opt %S/Inputs/exchanges.mlir --nn-differentiate --pp-balance-stages="ranks=2 balance=uniform" 2>&1 | FileCheck %s --check-prefix=UNIT

// Tasks go on in another part where replicas exchange rows; gradients of rows
// go the other way. What one part makes for a later one is saved.

// CHECK-DAG: pp.exchange @rows.0.0 of @s0 peers 2 : tensor<12x4xf32>
// CHECK-DAG: pp.exchange @rows.0.1 of @s0 peers 2 : tensor<12xi64>
// CHECK-DAG: pp.exchange @rows.0.4 of @s0 peers 2 : tensor<12x4xf32>

// CHECK: pp.task @s0.f role F stage @s0 (
// CHECK-SAME: -> (tensor<12x4xf32> = <sent "rows.0.0">, tensor<12xi64> = <sent "rows.0.1">, tensor<6x4xf32> = <saved "s0">)
// CHECK: pp.task @s0.f.1 role F stage @s0 part 1 (%{{.*}} = <received "rows.0.0">, %{{.*}} = <received "rows.0.1">, %{{.*}} = <parameter "w">)
// CHECK-SAME: -> (tensor<12x4xf32> = <sent "rows.0.2">
// CHECK: pp.task @s0.f.2 role F stage @s0 part 2 (%{{.*}} = <saved "s0">, %{{.*}} = <received "rows.0.2">)
// CHECK-SAME: <loss_sum "">

// CHECK: pp.task @s0.bw role BW stage @s0 (
// CHECK-SAME: -> (tensor<12x4xf32> = <sent "rows.0.3">
// CHECK: pp.task @s0.bw.1 role BW stage @s0 part 1 (
// CHECK-SAME: <received "rows.0.3">
// CHECK-SAME: -> (tensor<2x4x4xf32> = <gradient "w"[1]>, tensor<12x4xf32> = <sent "rows.0.4">)
// CHECK: pp.task @s0.bw.2 role BW stage @s0 part 2 (
// CHECK-SAME: <received "rows.0.4">
// CHECK-SAME: -> (tensor<4x4xf32> = <gradient "a.weight">)

// The last part of the backward only waits for what the weights' gradients
// need: there is none for the first layer's input.

// SPLIT: pp.task @s0.b role B stage @s0 (
// SPLIT: pp.task @s0.b.1 role B stage @s0 part 1 (
// SPLIT-SAME: <sent "rows.0.4">
// SPLIT: pp.task @s0.b.2 role B stage @s0 part 2 (%{{.*}} = <received "rows.0.4">) -> ()
// SPLIT: pp.task @s0.w role W stage @s0 (
// SPLIT-SAME: -> (tensor<2x4x4xf32> = <gradient "w"[1]>, tensor<4x4xf32> = <gradient "a.weight">)

// APART: error: 'pp.layer' op 'a/experts' must be in one stage with the layer whose rows it gets from other replicas

// A stage begins at none of the layers that exchange rows.
// UNIT: error: {{.*}}cannot cut 1 layers into 2 stages
