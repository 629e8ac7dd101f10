// RUN: pp-opt %s --pass-pipeline='builtin.module(func.func(pp-lower-to-loops,canonicalize))' | FileCheck %s

// Axes that are contiguous everywhere are one loop.

// CHECK-LABEL: func.func @contiguous
func.func @contiguous(%x: memref<2x3x4xf32>, %y: memref<2x3x4xf32>) {
  // CHECK: %[[COUNT:.*]] = arith.constant 24 : index
  // CHECK: scf.for %{{.*}} to %[[COUNT]]
  // CHECK-NOT: scf.for
  // CHECK: math.exp
  linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (a, b, c)>],
                  iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : memref<2x3x4xf32>) outs(%y : memref<2x3x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.exp %in : f32
    linalg.yield %0 : f32
  }
  return
}

// The partial sum of a row is carried by the loop, not by memory.

// CHECK-LABEL: func.func @row_sum
func.func @row_sum(%x: memref<4x8xf32>, %y: memref<4xf32>) {
  // CHECK: scf.for %[[ROW:.*]] =
  // CHECK:   %[[INITIAL:.*]] = memref.load %{{.*}}[%[[ROW]]]
  // CHECK:   %[[SUM:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[INITIAL]]) -> (f32)
  // CHECK-NOT: memref.store
  // CHECK:     scf.yield
  // CHECK:   memref.store %[[SUM]], %{{.*}}[%[[ROW]]]
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<4x8xf32>) outs(%y : memref<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  }
  return
}

// What is only written is not read: it may hold anything.

// CHECK-LABEL: func.func @fill
func.func @fill(%y: memref<8xf32>, %value: f32) {
  // CHECK: scf.for
  // CHECK-NOT: memref.load
  // CHECK: memref.store
  linalg.fill ins(%value : f32) outs(%y : memref<8xf32>)
  return
}

// A copy between layouts is a loop; a block of bytes is not.

// CHECK-LABEL: func.func @copies
func.func @copies(%x: memref<4x8xf32, strided<[16, 1]>>, %y: memref<4x8xf32>, %z: memref<4x8xf32>) {
  // CHECK: scf.for
  // CHECK: memref.copy %{{.*}}, %{{.*}} : memref<4x8xf32> to memref<4x8xf32>
  memref.copy %x, %y : memref<4x8xf32, strided<[16, 1]>> to memref<4x8xf32>
  memref.copy %y, %z : memref<4x8xf32> to memref<4x8xf32>
  return
}

// What is the same for a whole row is loaded once, before the loop over it,
// also where its place is no plain index; likewise in reductions.

// CHECK-LABEL: func.func @normalize
func.func @normalize(%x: memref<4x8xf32>, %sum: memref<4x1xf32>, %y: memref<4x8xf32>) {
  // CHECK: scf.for %[[ROW:.*]] =
  // CHECK-NEXT: %[[FACTOR:.*]] = memref.load %arg1[%[[ROW]], %{{.*}}]
  // CHECK-NEXT: scf.for
  // CHECK-NEXT: %[[X:.*]] = memref.load %arg0
  // CHECK-NEXT: arith.mulf %[[X]], %[[FACTOR]]
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r, 0)>, affine_map<(r, c) -> (r, c)>],
                  iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : memref<4x8xf32>, memref<4x1xf32>) outs(%y : memref<4x8xf32>) {
  ^bb0(%in: f32, %factor: f32, %out: f32):
    %0 = arith.mulf %in, %factor : f32
    linalg.yield %0 : f32
  }
  return
}

// CHECK-LABEL: func.func @sum_of_differences
func.func @sum_of_differences(%x: memref<4x8xf32>, %mean: memref<4xf32>, %y: memref<4xf32>) {
  // CHECK: scf.for %[[ROW:.*]] =
  // CHECK: %[[MEAN:.*]] = memref.load %arg1[%[[ROW]]]
  // CHECK-NEXT: scf.for
  // CHECK: arith.subf %{{.*}}, %[[MEAN]]
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r)>, affine_map<(r, c) -> (r)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x, %mean : memref<4x8xf32>, memref<4xf32>) outs(%y : memref<4xf32>) {
  ^bb0(%in: f32, %m: f32, %out: f32):
    %0 = arith.subf %in, %m : f32
    %1 = arith.addf %out, %0 : f32
    linalg.yield %1 : f32
  }
  return
}
