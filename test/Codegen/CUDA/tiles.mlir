// RUN: pp-opt %s --pass-pipeline='builtin.module(func.func(pp-lower-to-kernels,canonicalize,cse))' | FileCheck %s

#id2 = affine_map<(d0, d1) -> (d0, d1)>
#swapped = affine_map<(d0, d1) -> (d1, d0)>

// What is read across goes through a square of shared memory, 32 lines of 33
// elements: threads that follow each other load and store elements that do.

// CHECK-LABEL: func.func @transposed
// CHECK: gpu.launch blocks(%[[BLOCK:[a-z0-9]+]], {{.*}}) in ({{[^)]*}} = %c2, {{.*}} threads(%[[X:[a-z0-9]+]], %[[Y:[a-z0-9]+]], {{.*}}) in ({{[^)]*}} = %c32, {{[^)]*}} = %c8, {{[^)]*}} = %c1)
// CHECK-SAME: function(@tiles_0) workgroup(%[[TILE:.*]] : memref<32x33xf32, #gpu.address_space<workgroup>>)
// CHECK: %[[FIRST:.*]] = arith.muli %[[BLOCK]], %c32
// CHECK: %[[ALONG:.*]] = arith.addi %[[FIRST]], %[[Y]]
// CHECK: %[[VALUE:.*]] = memref.load %arg0[%[[ALONG]], %[[X]]]
// CHECK: memref.store %[[VALUE]], %[[TILE]][%[[Y]], %[[X]]]
// CHECK-COUNT-3: memref.load %arg0
// CHECK: gpu.barrier
// CHECK: memref.load %[[TILE]][%[[X]], %[[Y]]]
// CHECK-COUNT-4: memref.store {{.*}}, %arg1
// CHECK-NOT: scf.if
func.func @transposed(%x: memref<64x32xf32>, %y: memref<32x64xf32>) {
  linalg.generic {indexing_maps = [#swapped, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<64x32xf32>) outs(%y : memref<32x64xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }
  return
}

// Squares that reach over an end have elements that nobody touches, but all
// threads meet at the barrier.

// CHECK-LABEL: func.func @over_the_end
// CHECK: gpu.launch {{.*}} in ({{[^)]*}} = %c4, {{.*}} function(@tiles_0)
// CHECK: scf.if
// CHECK: scf.if
// CHECK: memref.load %arg0
// CHECK: {{^    *}}gpu.barrier
// CHECK: scf.if
func.func @over_the_end(%x: memref<40x50xbf16>, %y: memref<50x40xbf16>) {
  linalg.generic {indexing_maps = [#swapped, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<40x50xbf16>) outs(%y : memref<50x40xbf16>) {
  ^bb0(%in: bf16, %out: bf16):
    linalg.yield %in : bf16
  }
  return
}

// A few short lines are loaded element by element.

// CHECK-LABEL: func.func @narrow
// CHECK: function(@elements_0)
// CHECK-COUNT-4: memref.load %arg0
// CHECK: vector.store
func.func @narrow(%x: memref<64x3xf32>, %y: memref<3x64xf32>) {
  linalg.generic {indexing_maps = [#swapped, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<64x3xf32>) outs(%y : memref<3x64xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }
  return
}
