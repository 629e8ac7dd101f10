// RUN: pp-opt %s --pass-pipeline='builtin.module(func.func(pp-lower-to-kernels,canonicalize,cse))' | FileCheck %s

// A scattered sum: rows may meet in the table, columns cannot. A thread adds
// one column of all rows, in their order.

// CHECK-LABEL: func.func @scatter_add
// CHECK: gpu.launch {{.*}} in (%{{.*}} = %c2, {{.*}} threads({{.*}}) in (%{{.*}} = %c128
// CHECK-SAME: function(@loops_0)
// CHECK: scf.for %[[ROW:.*]] = %c0 to %c16 step %c1
// CHECK: memref.load %arg0[%[[ROW]]]
// CHECK: memref.load %arg1[%[[ROW]], %[[COLUMN:.*]]]
// CHECK: memref.load %arg2[%[[PLACE:.*]], %[[COLUMN]]]
// CHECK: memref.store %{{.*}}, %arg2[%[[PLACE]], %[[COLUMN]]]
func.func @scatter_add(%rows: memref<16xi64>, %x: memref<16x256xf32>, %table: memref<8x256xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c256 = arith.constant 256 : index
  scf.for %row = %c0 to %c16 step %c1 {
    scf.for %column = %c0 to %c256 step %c1 {
      %0 = memref.load %rows[%row] : memref<16xi64>
      %place = arith.index_cast %0 : i64 to index
      %1 = memref.load %x[%row, %column] : memref<16x256xf32>
      %2 = memref.load %table[%place, %column] : memref<8x256xf32>
      %3 = arith.addf %2, %1 : f32
      memref.store %3, %table[%place, %column] : memref<8x256xf32>
    }
  }
  return
}

// Four elements an iteration, and what they need of the key is loaded by the
// kernel.

// CHECK-LABEL: func.func @groups_of_four
// CHECK-NOT: memref.load
// CHECK: gpu.launch
// CHECK: memref.load %arg0
// CHECK-NOT: scf.for
// CHECK-COUNT-4: memref.store
func.func @groups_of_four(%key: memref<1xi64>, %mask: memref<64xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %0 = memref.load %key[%c0] : memref<1xi64>
  scf.for %group = %c0 to %c16 step %c1 {
    %first = arith.muli %group, %c4 : index
    memref.store %0, %mask[%first] : memref<64xi64>
    %second = arith.addi %first, %c1 : index
    memref.store %0, %mask[%second] : memref<64xi64>
    %third = arith.addi %first, %c2 : index
    memref.store %0, %mask[%third] : memref<64xi64>
    %fourth = arith.addi %first, %c3 : index
    memref.store %0, %mask[%fourth] : memref<64xi64>
  }
  return
}

// A running sum is sequential along its axis; a thread computes one row.

// CHECK-LABEL: func.func @running_sum
// CHECK: gpu.launch
// CHECK: scf.for {{.*}} iter_args
func.func @running_sum(%x: memref<128x8xf32>, %y: memref<128x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c128 = arith.constant 128 : index
  scf.for %row = %c0 to %c128 step %c1 {
    %total = scf.for %column = %c0 to %c8 step %c1 iter_args(%sum = %zero) -> f32 {
      %0 = memref.load %x[%row, %column] : memref<128x8xf32>
      %1 = arith.addf %sum, %0 : f32
      memref.store %1, %y[%row, %column] : memref<128x8xf32>
      scf.yield %1 : f32
    }
  }
  return
}
