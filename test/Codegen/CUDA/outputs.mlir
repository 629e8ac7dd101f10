// RUN: pp-opt %s --pass-pipeline='builtin.module(func.func(pp-lower-to-kernels,canonicalize,cse))' | FileCheck %s

// The gradient of a bias: threads that follow each other read columns that do,
// and 16 of them share the rows of a column. The first adds their parts in order.

// CHECK-LABEL: func.func @sum_of_rows
// CHECK: gpu.launch {{.*}} in (%{{.*}} = %c24, {{.*}} threads({{.*}}) in (%{{.*}} = %c32, %{{.*}} = %c16, %{{.*}} = %c1)
// CHECK-SAME: function(@outputs_0) workgroup(%[[SHARED:.*]] : memref<16x32xf32, #gpu.address_space<workgroup>>)
// CHECK: scf.for %[[ROW:.*]] = %{{.*}} to %c512 step %c16
// CHECK: memref.load %arg0[%[[ROW]], %[[COLUMN:.*]]]
// CHECK: memref.store %{{.*}}, %[[SHARED]]
// CHECK: gpu.barrier
// CHECK-COUNT-15: memref.load %[[SHARED]]
// CHECK: memref.store %{{.*}}, %arg1[%[[COLUMN]]]
func.func @sum_of_rows(%x: memref<512x768xf32>, %sum: memref<768xf32>) {
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (c)>],
                  iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<512x768xf32>) outs(%sum : memref<768xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  }
  return
}

// A product without a library: a thread an element.

// CHECK-LABEL: func.func @product
// CHECK: gpu.launch {{.*}} in (%{{.*}} = %c1, {{.*}} threads({{.*}}) in (%{{.*}} = %c256
// CHECK: scf.for
// CHECK: arith.mulf
// CHECK: arith.addf
// CHECK: memref.store
func.func @product(%a: memref<16x12xf32>, %b: memref<12x16xf32>, %c: memref<16x16xf32>) {
  linalg.matmul ins(%a, %b : memref<16x12xf32>, memref<12x16xf32>) outs(%c : memref<16x16xf32>)
  return
}
