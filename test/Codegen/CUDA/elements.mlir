// RUN: pp-opt %s --pass-pipeline='builtin.module(func.func(pp-lower-to-kernels,canonicalize,cse))' | FileCheck %s

#id1 = affine_map<(d0) -> (d0)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d1)>
#swapped = affine_map<(d0, d1) -> (d1, d0)>

// A thread takes 16 bytes of each buffer; 4096 elements are 1024 threads.

// CHECK-LABEL: func.func @contiguous
// CHECK: gpu.launch blocks(%[[BLOCK:[a-z0-9]+]], {{.*}}) in ({{[^)]*}} = %c4, {{[^)]*}} = %c1, {{[^)]*}} = %c1)
// CHECK-SAME: threads(%[[THREAD:[a-z0-9]+]], {{.*}}) in ({{[^)]*}} = %c256, {{[^)]*}} = %c1, {{[^)]*}} = %c1)
// CHECK-SAME: module(@contiguous_kernels) function(@elements_0)
// CHECK: %[[FIRST:.*]] = arith.muli %[[BLOCK]], %c256
// CHECK: %[[NUMBER:.*]] = arith.addi %[[FIRST]], %[[THREAD]]
// CHECK: %[[COLUMN:.*]] = arith.muli %[[NUMBER]], %c4
// CHECK: vector.load %{{.*}}[%[[COLUMN]]] {alignment = 16 : i64} : memref<4096xf32>, vector<4xf32>
// CHECK-COUNT-4: math.exp
// CHECK: vector.store %{{.*}}[%[[COLUMN]]] {alignment = 16 : i64} : memref<4096xf32>, vector<4xf32>
func.func @contiguous(%x: memref<16x256xf32>, %y: memref<16x256xf32>) {
  linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<16x256xf32>) outs(%y : memref<16x256xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.exp %in : f32
    linalg.yield %0 : f32
  }
  return
}

// Eight numbers of 16 bits; the four elements that are left over are one
// thread's.

// CHECK-LABEL: func.func @rest
// CHECK: gpu.launch {{.*}} in (%{{.*}} = %c1, {{.*}} threads
// CHECK: %[[IS_WHOLE:.*]] = arith.cmpi ult, %[[NUMBER:.*]], %c12
// CHECK: scf.if %[[IS_WHOLE]]
// CHECK: vector.load {{.*}} : memref<100xbf16>, vector<8xbf16>
// CHECK: vector.store {{.*}} : memref<100xbf16>, vector<8xbf16>
// CHECK: } else {
// CHECK: %[[IS_LAST:.*]] = arith.cmpi ult, %[[NUMBER]], %c13
// CHECK: scf.if %[[IS_LAST]]
// CHECK: memref.store %{{.*}}[%c96]
// CHECK: memref.store %{{.*}}[%c99]
func.func @rest(%x: memref<100xbf16>, %y: memref<100xbf16>) {
  linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]}
      ins(%x : memref<100xbf16>) outs(%y : memref<100xbf16>) {
  ^bb0(%in: bf16, %out: bf16):
    %0 = arith.negf %in : bf16
    linalg.yield %0 : bf16
  }
  return
}

// Ops on the same elements are one kernel. What the second reads of the first
// comes from registers, and a temporary buffer is not even written.

// CHECK-LABEL: func.func @bias_and_residual
// CHECK: gpu.launch
// CHECK-COUNT-3: vector.load
// CHECK-NOT: vector.load
// CHECK: vector.store
// CHECK-NOT: vector.store
// CHECK: gpu.terminator
// CHECK-NOT: gpu.launch
func.func @bias_and_residual(%x: memref<8x32xf32>, %bias: memref<32xf32>, %residual: memref<8x32xf32>,
                             %y: memref<8x32xf32>) {
  %sum = memref.alloc() : memref<8x32xf32>
  linalg.generic {indexing_maps = [#id2, #column, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%x, %bias : memref<8x32xf32>, memref<32xf32>) outs(%sum : memref<8x32xf32>) {
  ^bb0(%in: f32, %b: f32, %out: f32):
    %0 = arith.addf %in, %b : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#id2, #id2, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%sum, %residual : memref<8x32xf32>, memref<8x32xf32>) outs(%y : memref<8x32xf32>) {
  ^bb0(%in: f32, %r: f32, %out: f32):
    %0 = arith.addf %in, %r : f32
    linalg.yield %0 : f32
  }
  return
}

// The second op reads, at other places, what the first writes: it has to wait
// for all threads of the first.

// CHECK-LABEL: func.func @reads_across_threads
// CHECK: function(@elements_0)
// CHECK: function(@tiles_1)
func.func @reads_across_threads(%x: memref<32x32xf32>, %y: memref<32x32xf32>, %z: memref<32x32xf32>) {
  linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<32x32xf32>) outs(%y : memref<32x32xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.negf %in : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#swapped, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%y : memref<32x32xf32>) outs(%z : memref<32x32xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }
  return
}

// Places of a workspace that overlap are not written and read by one kernel.

// CHECK-LABEL: func.func @overlapping_views
// CHECK: function(@elements_0)
// CHECK: function(@elements_1)
func.func @overlapping_views(%x: memref<64xf32>, %y: memref<64xf32>, %z: memref<64xf32>, %workspace: memref<512xi8>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %first = memref.view %workspace[%c0][] : memref<512xi8> to memref<64xf32>
  %second = memref.view %workspace[%c64][] : memref<512xi8> to memref<64xf32>
  memref.copy %first, %y : memref<64xf32> to memref<64xf32>
  memref.copy %x, %second : memref<64xf32> to memref<64xf32>
  memref.copy %second, %z : memref<64xf32> to memref<64xf32>
  return
}

// A part of a buffer is written in place; its rows are aligned.

// CHECK-LABEL: func.func @concatenated
// CHECK: gpu.launch
// CHECK: vector.load
// CHECK: vector.store {{.*}} {alignment = 16 : i64} : memref<4x8xf32, strided<[16, 1], offset: 8>>, vector<4xf32>
func.func @concatenated(%x: memref<4x8xf32>, %y: memref<4x16xf32>) {
  %part = memref.subview %y[0, 8] [4, 8] [1, 1] : memref<4x16xf32> to memref<4x8xf32, strided<[16, 1], offset: 8>>
  memref.copy %x, %part : memref<4x8xf32> to memref<4x8xf32, strided<[16, 1], offset: 8>>
  return
}

// A constant is part of the kernel's code, so no argument of it.

memref.global "private" constant @mask : memref<8xi1> = dense<[true, true, false, true, true, false, true, true]>

// CHECK-LABEL: func.func @masked
// CHECK: gpu.launch
// CHECK: memref.get_global @mask
func.func @masked(%x: memref<8xf32>, %y: memref<8xf32>) {
  %mask = memref.get_global @mask : memref<8xi1>
  linalg.generic {indexing_maps = [#id1, #id1, #id1], iterator_types = ["parallel"]}
      ins(%mask, %x : memref<8xi1>, memref<8xf32>) outs(%y : memref<8xf32>) {
  ^bb0(%keep: i1, %in: f32, %out: f32):
    %zero = arith.constant 0.0 : f32
    %0 = arith.select %keep, %in, %zero : f32
    linalg.yield %0 : f32
  }
  return
}

// Lines of a table are loaded as a vector, whichever they are.

// CHECK-LABEL: func.func @gathered
// CHECK: %[[LINE:.*]] = memref.load %arg0
// CHECK: %[[PLACE:.*]] = arith.index_cast %[[LINE]]
// CHECK: vector.load %arg1[%[[PLACE]], %[[COLUMN:.*]]] {alignment = 16 : i64} : memref<100x64xf32>, vector<4xf32>
// CHECK-NOT: load
// CHECK: vector.store
func.func @gathered(%lines: memref<8xi64>, %table: memref<100x64xf32>, %y: memref<8x64xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%lines : memref<8xi64>) outs(%y : memref<8x64xf32>) {
  ^bb0(%line: i64, %out: f32):
    %place = arith.index_cast %line : i64 to index
    %column = linalg.index 1 : index
    %0 = memref.load %table[%place, %column] : memref<100x64xf32>
    linalg.yield %0 : f32
  }
  return
}
