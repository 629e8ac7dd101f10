// RUN: pp-opt %s --pass-pipeline='builtin.module(func.func(pp-lower-to-kernels,canonicalize,cse))' | FileCheck %s

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

// Where sums are long, 16 threads share each. The first adds their parts in
// order.

// CHECK-LABEL: func.func @long_product
// CHECK: gpu.launch {{.*}} in (%{{.*}} = %c8, {{.*}} threads({{.*}}) in (%{{.*}} = %c32, %{{.*}} = %c16, %{{.*}} = %c1)
// CHECK-SAME: function(@outputs_0) workgroup(%[[SHARED:.*]] : memref<16x32xf32, #gpu.address_space<workgroup>>)
// CHECK: scf.for {{.*}} to %c512 step %c16
// CHECK: memref.store %{{.*}}, %[[SHARED]]
// CHECK: gpu.barrier
// CHECK-COUNT-15: memref.load %[[SHARED]]
// CHECK: memref.store %{{.*}}, %arg2
func.func @long_product(%a: memref<16x512xf32>, %b: memref<512x16xf32>, %c: memref<16x16xf32>) {
  linalg.matmul ins(%a, %b : memref<16x512xf32>, memref<512x16xf32>) outs(%c : memref<16x16xf32>)
  return
}
