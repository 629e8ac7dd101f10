// RUN: split-file %s %t
// RUN: pp-opt %t/model.mlir --pp-attach-schedule="schedule=%t/mine.csv microbatches=2" | FileCheck %s
// RUN: pp-opt %t/model.mlir --pp-attach-schedule="schedule=%t/mine.json microbatches=2" | FileCheck %s --check-prefixes=JSON,CHECK
// RUN: not pp-opt %t/model.mlir --pp-attach-schedule="schedule=%t/split.csv microbatches=1" 2>&1 | FileCheck %s --check-prefix=SPLIT
// RUN: not pp-opt %t/model.mlir --pp-attach-schedule="schedule=%t/mine.csv microbatches=3" 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: not pp-opt %t/model.mlir --pp-attach-schedule="schedule=%t/absent.csv microbatches=3" 2>&1 | FileCheck %s --check-prefix=ABSENT
// RUN: not pp-opt %t/model.mlir --pp-attach-schedule="schedule=%t/wide.csv microbatches=1" 2>&1 | FileCheck %s --check-prefix=WIDE
// RUN: not pp-opt %t/model.mlir --pp-attach-schedule="schedule=gpipe microbatches=0" 2>&1 | FileCheck %s --check-prefix=NONE

// A schedule may come from a file, in PyTorch's format or as JSON.

// JSON: pp.schedule "mine" ranks 1 microbatches 2 chunks 1
// CHECK: pp.program step rank 0 {
// CHECK-NEXT: pp.run @s0.f[0]
// CHECK-NEXT: pp.run @s0.bw[0]
// CHECK-NEXT: pp.run @s0.f[1]
// CHECK-NEXT: pp.run @s0.bw[1]
// CHECK-NEXT: pp.step

// SPLIT: error: 'pp.task' op is a full backward where the schedule has B and W apart; split the backward of the stages
// COUNT: error: '{{.*}}mine.csv' has 2 micro-batches, not 3
// ABSENT: error: '{{.*}}absent.csv': No such file or directory
// WIDE: error: schedule 'csv' has 2 stages; the module has 1
// NONE: error: there must be at least 1 micro-batch, not 0

//--- mine.csv
0F0,0B0,0F1,0B1
//--- mine.json
{"schedule": "mine", "ranks": 1, "microbatches": 2, "placement": [[0]],
 "actions": [[{"op": "F", "stage": 0, "mb": 0},
              {"op": "BW", "stage": 0, "mb": 0},
              {"op": "F", "stage": 0, "mb": 1},
              {"op": "BW", "stage": 0, "mb": 1}]]}
//--- split.csv
0F0,0I0,0W0
//--- wide.csv
0F0,1F0,1B0,0B0
//--- model.mlir
pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
pp.task @s0.f role F stage @s0 () -> () {
  pp.yield
}
pp.task @s0.bw role BW stage @s0 () -> () {
  pp.yield
}
