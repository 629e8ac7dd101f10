// RUN: pp-opt %s --pass-pipeline='builtin.module(func.func(pp-lower-to-kernels,canonicalize,cse))' --verify-diagnostics | FileCheck %s

// Loops of which no iteration can run beside another run on one thread, and
// someone is told.

// CHECK-LABEL: func.func @loop_carried
// CHECK: gpu.launch blocks({{.*}}) in (%{{.*}} = %[[ONE:c1[_0-9]*]], %{{.*}} = %[[ONE]], %{{.*}} = %[[ONE]]) threads({{.*}}) in (%{{.*}} = %[[ONE]], %{{.*}} = %[[ONE]], %{{.*}} = %[[ONE]])
// CHECK-SAME: function(@loops_0)
// CHECK: scf.for %[[I:.*]] = %c0 to %c7 step %c1
// CHECK: memref.load %arg0[%[[I]]]
// CHECK: memref.store %{{.*}}, %arg0[
// CHECK: gpu.terminator
func.func @loop_carried(%x: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  // expected-warning @below {{runs on one thread of the device, which is slow: its iterations touch each other's memory, so that they cannot run in parallel}}
  scf.for %i = %c0 to %c7 step %c1 {
    %next = arith.addi %i, %c1 : index
    %0 = memref.load %x[%i] : memref<8xf32>
    memref.store %0, %x[%next] : memref<8xf32>
  }
  return
}

// Two rows may be one.

// CHECK-LABEL: func.func @scattered
// CHECK: gpu.launch blocks({{.*}}) in (%{{.*}} = %[[ONE:c1[_0-9]*]], %{{.*}} = %[[ONE]], %{{.*}} = %[[ONE]]) threads({{.*}}) in (%{{.*}} = %[[ONE]], %{{.*}} = %[[ONE]], %{{.*}} = %[[ONE]])
// CHECK-SAME: function(@loops_0)
// CHECK: scf.for
func.func @scattered(%rows: memref<8xi64>, %x: memref<8xf32>, %y: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  // expected-warning @below {{runs on one thread of the device, which is slow: its iterations touch each other's memory, so that they cannot run in parallel}}
  scf.for %i = %c0 to %c8 step %c1 {
    %0 = memref.load %rows[%i] : memref<8xi64>
    %row = arith.index_cast %0 : i64 to index
    %1 = memref.load %x[%i] : memref<8xf32>
    memref.store %1, %y[%row] : memref<8xf32>
  }
  return
}

// Loops over other numbers are as they were.

// CHECK-LABEL: func.func @every_other
// CHECK: gpu.launch blocks({{.*}}) in (%{{.*}} = %[[ONE:c1[_0-9]*]], %{{.*}} = %[[ONE]], %{{.*}} = %[[ONE]]) threads({{.*}}) in (%{{.*}} = %[[ONE]], %{{.*}} = %[[ONE]], %{{.*}} = %[[ONE]])
// CHECK-SAME: function(@loops_0)
// CHECK: scf.for %{{.*}} = %c1 to %c7 step %c2
func.func @every_other(%x: memref<8xf32>) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c7 = arith.constant 7 : index
  // expected-warning @below {{runs on one thread of the device, which is slow}}
  scf.for %i = %c1 to %c7 step %c2 {
    %0 = memref.load %x[%i] : memref<8xf32>
    %next = arith.addi %i, %c1 : index
    memref.store %0, %x[%next] : memref<8xf32>
  }
  return
}
