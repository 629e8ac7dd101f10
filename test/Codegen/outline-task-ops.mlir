// RUN: pp-opt %s --pp-outline-task-ops | FileCheck %s

pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []

// Equal ops share one function, whatever their operands.

// CHECK-LABEL: pp.task @s0.f
pp.task @s0.f role F stage @s0 (%x: tensor<4xf32> = <input "x">) -> (tensor<4xf32> = <output "y">) {
  // CHECK: %[[ONE:.*]] = nn.call @glue.constant()
  // CHECK: %[[SUM:.*]] = nn.call @[[ADD:glue.add]](%{{.*}}, %[[ONE]])
  // CHECK: %[[TWICE:.*]] = nn.call @[[ADD]](%[[SUM]], %[[SUM]])
  // CHECK: pp.yield %[[TWICE]]
  %one = nn.constant dense<1.0> : tensor<4xf32>
  %0 = nn.add %x, %one : tensor<4xf32>
  %1 = nn.add %0, %0 : tensor<4xf32>
  pp.yield %1 : tensor<4xf32>
}

// CHECK: nn.function @glue.constant() -> tensor<4xf32>
// CHECK: nn.function @glue.add(%[[A:.*]]: tensor<4xf32>, %[[B:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[RESULT:.*]] = nn.add %[[A]], %[[B]]
// CHECK-NEXT: nn.return %[[RESULT]]
