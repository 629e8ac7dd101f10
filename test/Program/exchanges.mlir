// RUN: pp-opt %S/../Stages/Inputs/exchanges.mlir --nn-differentiate --nn-attach-optimizer --pp-balance-stages="ranks=1 balance=uniform" --pp-outline-stages --pp-insert-transfers --pp-apply-remat \
// RUN:   --pp-attach-schedule="schedule=1f1b microbatches=3 replicas=2" --pp-check-schedule --pp-order-messages --pp-insert-reductions --pp-roll \
// RUN:   --pp-check-schedule --pp-check-comm --pp-check-gradients --pp-annotate-workspaces --pp-plan-arena --pp-check-equivalence | FileCheck %s
// RUN: pp-opt %S/../Stages/Inputs/exchanges.mlir --nn-differentiate --nn-attach-optimizer --pp-choose-remat="policy=full" --pp-balance-stages="ranks=1 balance=uniform" --pp-outline-stages=backward=split --pp-insert-transfers --pp-apply-remat \
// RUN:   --pp-attach-schedule="schedule=zb-h1 microbatches=3 replicas=2" --pp-check-schedule --pp-order-messages --pp-insert-reductions \
// RUN:   --pp-check-schedule --pp-check-comm --pp-check-gradients --pp-annotate-workspaces --pp-plan-arena --pp-check-equivalence | FileCheck %s --check-prefix=SPLIT

// The parts of an action are one branch, with the exchanges between them.

// CHECK: pp.program step rank 0 {
// CHECK-NEXT: pp.repeat %[[I:.*]] = 0 to 3 {
// CHECK-NEXT: pp.overlap {
// CHECK-NEXT: pp.run @s0.f[%[[I]]]
// CHECK-NEXT: pp.all_to_all @rows.0.0[%[[I]]]
// CHECK-NEXT: pp.all_to_all @rows.0.1[%[[I]]]
// CHECK-NEXT: pp.run @s0.f.1[%[[I]]]
// CHECK-NEXT: pp.all_to_all @rows.0.2[%[[I]]]
// CHECK-NEXT: pp.run @s0.f.2[%[[I]]]
// CHECK-NEXT: }
// CHECK-NEXT: pp.overlap {
// CHECK-NEXT: pp.run @s0.bw[%[[I]]]
// CHECK-NEXT: pp.all_to_all @rows.0.3[%[[I]]]
// CHECK-NEXT: pp.run @s0.bw.1[%[[I]]]
// CHECK-NEXT: pp.all_to_all @rows.0.4[%[[I]]]
// CHECK-NEXT: pp.run @s0.bw.2[%[[I]]]
// CHECK-NEXT: }
// CHECK: pp.all_reduce [@a.weight]
// CHECK: pp.program eval rank 0 {
// CHECK: pp.all_to_all @rows.0.2
// CHECK-NOT: pp.all_to_all

// A rank holds one shard of the experts, and both sides of each exchange.

// CHECK: pp.place <parameter "w"> at {{.*}} bytes 128
// CHECK: pp.place <sent "rows.0.0">
// CHECK: pp.place <received "rows.0.0">

// SPLIT: pp.run @s0.r[0]
// SPLIT-NEXT: pp.overlap {
// SPLIT-NEXT: pp.run @s0.b[0]
// SPLIT-NEXT: pp.all_to_all @rows.0.3[0]
// SPLIT-NEXT: pp.run @s0.b.1[0]
// SPLIT-NEXT: pp.all_to_all @rows.0.4[0]
// SPLIT-NEXT: pp.run @s0.b.2[0]
// SPLIT-NEXT: }
// SPLIT-NEXT: pp.run @s0.w[0]
