// RUN: pp-opt %s --pass-pipeline='builtin.module(func.func(pp-lower-to-kernels,canonicalize,cse))' | FileCheck %s

#element = affine_map<(r, c) -> (r, c)>
#column = affine_map<(r, c) -> (c)>
#id = affine_map<(d0) -> (d0)>

// The gradient of a bias: a warp loads 128 columns of a row at once, eight warps
// have every eighth row, and a thread for each column adds what they have, in
// order.

// CHECK-LABEL: func.func @sum_of_rows
// CHECK: gpu.launch {{.*}} in (%{{.*}} = %c6, {{.*}} threads({{.*}}) in (%{{.*}} = %c32, %{{.*}} = %c8, %{{.*}} = %c1)
// CHECK-SAME: function(@columns_0) workgroup(%[[SHARED:.*]] : memref<8x132xf32, #gpu.address_space<workgroup>>)
// CHECK: scf.for %{{.*}} = %{{.*}} to %c512 step %c32
// CHECK-COUNT-4: vector.load %arg0{{.*}} vector<4xf32>
// CHECK-NOT: vector.load
// CHECK: memref.store %{{.*}}, %[[SHARED]]
// CHECK: gpu.barrier
// CHECK-COUNT-8: memref.load %[[SHARED]]
// CHECK: memref.store %{{.*}}, %arg1[%{{.*}}]
func.func @sum_of_rows(%x: memref<512x768xf32>, %sum: memref<768xf32>) {
  linalg.generic {indexing_maps = [#element, #column], iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<512x768xf32>) outs(%sum : memref<768xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  }
  return
}

// What goes into the sum is also stored, and what is made of the sum is, too,
// but the sum itself is in no memory.

// CHECK-LABEL: func.func @gradient_and_its_sum
// CHECK: gpu.launch
// CHECK: vector.load
// CHECK: vector.store
// CHECK: gpu.barrier
// CHECK: memref.load %arg2
// CHECK: memref.store {{.*}}, %arg2
// CHECK-NOT: memref.store
// CHECK: gpu.terminator
// CHECK-NOT: gpu.launch
func.func @gradient_and_its_sum(%x: memref<64x128xf32>, %y: memref<64x128xf32>, %bias: memref<128xf32>) {
  %zero = arith.constant 0.0 : f32
  %sum = memref.alloc() : memref<128xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<128xf32>)
  linalg.generic {indexing_maps = [#element, #element], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<64x128xf32>) outs(%y : memref<64x128xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.exp %in : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#element, #column], iterator_types = ["reduction", "parallel"]}
      ins(%y : memref<64x128xf32>) outs(%sum : memref<128xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%sum : memref<128xf32>) outs(%bias : memref<128xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  }
  return
}

// The middle axis of three: a block has columns of one matrix.

// CHECK-LABEL: func.func @sums_of_matrices
// CHECK: gpu.launch {{.*}} in (%{{.*}} = %c3, {{.*}} threads({{.*}}) in (%{{.*}} = %c16, %{{.*}} = %c16, %{{.*}} = %c1)
// CHECK-SAME: function(@columns_0)
func.func @sums_of_matrices(%x: memref<3x32x64xf32>, %sum: memref<3x64xf32>) {
  linalg.generic {indexing_maps = [affine_map<(m, c, r) -> (m, r, c)>, affine_map<(m, c, r) -> (m, c)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x : memref<3x32x64xf32>) outs(%sum : memref<3x64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  }
  return
}

// What depends on the sum of a whole column is another kernel's.

// CHECK-LABEL: func.func @column_over_its_sum
// CHECK: function(@columns_0)
// CHECK: function(@elements_1)
func.func @column_over_its_sum(%x: memref<64x128xf32>, %sum: memref<128xf32>) {
  linalg.generic {indexing_maps = [#element, #column], iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<64x128xf32>) outs(%sum : memref<128xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#column, #element], iterator_types = ["parallel", "parallel"]}
      ins(%sum : memref<128xf32>) outs(%x : memref<64x128xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.divf %out, %in : f32
    linalg.yield %0 : f32
  }
  return
}

// Two sums of the same rows are one kernel, whatever is between them.

// CHECK-LABEL: func.func @two_sums
// CHECK: gpu.launch {{.*}} function(@columns_0)
// CHECK-COUNT-4: vector.load %arg0
// CHECK-NOT: vector.load %arg0
// CHECK: gpu.terminator
// CHECK: function(@elements_1)
// CHECK-NOT: gpu.launch
func.func @two_sums(%x: memref<64x128xf32>, %sum: memref<128xf32>, %y: memref<999xf32>, %squares: memref<128xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [#element, #column], iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<64x128xf32>) outs(%sum : memref<128xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%y : memref<999xf32>) {
  ^bb0(%out: f32):
    %0 = arith.negf %out : f32
    linalg.yield %0 : f32
  }
  linalg.fill ins(%zero : f32) outs(%squares : memref<128xf32>)
  linalg.generic {indexing_maps = [#element, #column], iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<64x128xf32>) outs(%squares : memref<128xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.mulf %in, %in : f32
    %1 = arith.addf %out, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// Shared memory has no room for more than four sums.

// CHECK-LABEL: func.func @five_sums
// CHECK: function(@columns_0)
// CHECK: function(@columns_1)
// CHECK-NOT: gpu.launch
func.func @five_sums(%x: memref<64x128xf32>, %s0: memref<128xf32>, %s1: memref<128xf32>, %s2: memref<128xf32>, %s3: memref<128xf32>,
                     %s4: memref<128xf32>) {
  linalg.generic {indexing_maps = [#element, #column], iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<64x128xf32>) outs(%s0 : memref<128xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#element, #column], iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<64x128xf32>) outs(%s1 : memref<128xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#element, #column], iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<64x128xf32>) outs(%s2 : memref<128xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#element, #column], iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<64x128xf32>) outs(%s3 : memref<128xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#element, #column], iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<64x128xf32>) outs(%s4 : memref<128xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  }
  return
}
