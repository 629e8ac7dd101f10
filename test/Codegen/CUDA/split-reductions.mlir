// RUN: pp-opt %s --pass-pipeline='builtin.module(func.func(pp-split-reductions))' | FileCheck %s

#element = affine_map<(r, c) -> (r, c)>
#column = affine_map<(r, c) -> (c)>
#row = affine_map<(r, c) -> (r)>

// CHECK-DAG: #[[$PART:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-DAG: #[[$PARTIAL:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[$BOTH:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[$COLUMN:.*]] = affine_map<(d0, d1) -> (d1)>

// 256 columns are two blocks of 128, so that 128 parts of the rows occupy a
// device. The result keeps what it held.

// CHECK-LABEL: func.func @sum_of_rows
// CHECK: %[[PARTS:.*]] = memref.expand_shape %arg0 {{\[\[}}0, 1], [2]{{.*}} into memref<128x64x256xf32>
// CHECK: %[[SUMS:.*]] = memref.alloc() : memref<128x256xf32>
// CHECK: linalg.fill {{.*}} outs(%[[SUMS]] : memref<128x256xf32>)
// CHECK: linalg.generic {indexing_maps = [#[[$PART]], #[[$PARTIAL]]], iterator_types = ["parallel", "reduction", "parallel"]} ins(%[[PARTS]] {{.*}} outs(%[[SUMS]]
// CHECK: linalg.generic {indexing_maps = [#[[$BOTH]], #[[$COLUMN]]], iterator_types = ["reduction", "parallel"]} ins(%[[SUMS]] {{.*}} outs(%arg1
// CHECK: arith.addf
func.func @sum_of_rows(%x: memref<8192x256xf32>, %sum: memref<256xf32>) {
  linalg.generic {indexing_maps = [#element, #column], iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<8192x256xf32>) outs(%sum : memref<256xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  }
  return
}

// Two results of one op have partial results each.

// CHECK-LABEL: func.func @two_results
// CHECK: memref.alloc() : memref<2x64xf32>
// CHECK: memref.alloc() : memref<2x64xf32>
// CHECK: linalg.generic
// CHECK: linalg.generic
// CHECK: arith.addf
// CHECK: linalg.generic
// CHECK: arith.maximumf
func.func @two_results(%x: memref<128x64xf32>, %sum: memref<64xf32>, %max: memref<64xf32>) {
  linalg.generic {indexing_maps = [#element, #column, #column], iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<128x64xf32>) outs(%sum, %max : memref<64xf32>, memref<64xf32>) {
  ^bb0(%in: f32, %out: f32, %high: f32):
    %0 = arith.addf %out, %in : f32
    %1 = arith.maximumf %high, %in : f32
    linalg.yield %0, %1 : f32, f32
  }
  return
}

// A loss of many items.

// CHECK-LABEL: func.func @total
// CHECK: memref.expand_shape %arg0 {{.*}} into memref<16x4096xf32>
// CHECK: memref.alloc() : memref<16xf32>
func.func @total(%x: memref<65536xf32>, %sum: memref<f32>) {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
      ins(%x : memref<65536xf32>) outs(%sum : memref<f32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  }
  return
}

// Many rows have blocks enough, and few rows are too few to be split.

// CHECK-LABEL: func.func @enough_blocks
// CHECK-NOT: memref.alloc
func.func @enough_blocks(%x: memref<512x1024xf32>, %rows: memref<512xf32>, %y: memref<100x64xf32>, %columns: memref<64xf32>) {
  linalg.generic {indexing_maps = [#element, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<512x1024xf32>) outs(%rows : memref<512xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#element, #column], iterator_types = ["reduction", "parallel"]}
      ins(%y : memref<100x64xf32>) outs(%columns : memref<64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  }
  return
}

// What is done with few long rows stays together: both ops are one kernel.

// CHECK-LABEL: func.func @rows_that_are_read_again
// CHECK-NOT: memref.alloc
func.func @rows_that_are_read_again(%x: memref<2x65536xf32>, %sum: memref<2xf32>) {
  linalg.generic {indexing_maps = [#element, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<2x65536xf32>) outs(%sum : memref<2xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#element, #row, #element], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : memref<2x65536xf32>, memref<2xf32>) outs(%x : memref<2x65536xf32>) {
  ^bb0(%in: f32, %s: f32, %out: f32):
    %0 = arith.divf %in, %s : f32
    linalg.yield %0 : f32
  }
  return
}
