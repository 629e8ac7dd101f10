// RUN: pp-opt %S/../Stages/Inputs/exchanges.mlir --nn-differentiate --pp-choose-remat="policy=full" --pp-balance-stages="ranks=1 balance=uniform" --pp-outline-stages --pp-insert-transfers --pp-verify-comm --pp-apply-remat --pp-verify-remat | FileCheck %s

// One R makes again what all parts of F made: what replicas have exchanged is
// kept, so nothing is exchanged again. What one part of F makes for another one
// is not kept for the backward.

// CHECK: pp.task @s0.f role F
// CHECK-SAME: tensor<6x4xf32> = <saved "s0">)
// CHECK: pp.task @s0.f.1 role F stage @s0 part 1
// CHECK-SAME: -> (tensor<12x4xf32> = <sent "rows.0.2">) {
// CHECK: pp.task @s0.f.2 role F stage @s0 part 2 (%{{.*}} = <saved "s0">
// CHECK: pp.task @s0.r role R stage @s0 (
// CHECK-SAME: <input "x">
// CHECK-SAME: <received "rows.0.0">
// CHECK-SAME: <received "rows.0.1">
// CHECK-NOT: <sent
// CHECK-SAME: -> (tensor<6x4xf32> = <saved "s0"[3]>, tensor<12x4xf32> = <saved "s0"[1]>) {
// CHECK: pp.task @s0.bw role BW
// CHECK-SAME: <saved "s0"[3]>
// CHECK: pp.task @s0.bw.1 role BW
// CHECK-SAME: <saved "s0"[1]>
