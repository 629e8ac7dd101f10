// RUN: pp-opt %s --pass-pipeline='builtin.module(func.func(pp-lower-to-kernels,canonicalize,cse))' | FileCheck %s

#element = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#id = affine_map<(d0) -> (d0)>
#total = affine_map<(d0) -> ()>

// A softmax is one kernel: each element is loaded and stored once, and the
// maximum and the sum of a row are in registers. A row of 256 elements has a
// warp, eight rows a block.

// CHECK-LABEL: func.func @softmax
// CHECK: gpu.launch {{.*}} in (%{{.*}} = %c8, {{.*}} threads({{.*}}) in (%{{.*}} = %c32, %{{.*}} = %c8, %{{.*}} = %c1)
// CHECK-SAME: function(@rows_0)
// CHECK-COUNT-2: vector.load %arg0{{.*}} vector<4xf32>
// CHECK-NOT: vector.load
// CHECK: gpu.shuffle xor
// CHECK: arith.maximumf
// CHECK-COUNT-8: math.exp
// CHECK: gpu.shuffle xor
// CHECK: arith.addf
// CHECK-COUNT-2: vector.store {{.*}} %arg1
// CHECK-NOT: memref.store
// CHECK: gpu.terminator
// CHECK-NOT: gpu.launch
func.func @softmax(%x: memref<64x256xf32>, %y: memref<64x256xf32>) {
  %lowest = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %max = memref.alloc() : memref<64xf32>
  %sum = memref.alloc() : memref<64xf32>
  linalg.fill ins(%lowest : f32) outs(%max : memref<64xf32>)
  linalg.generic {indexing_maps = [#element, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<64x256xf32>) outs(%max : memref<64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.maximumf %out, %in : f32
    linalg.yield %0 : f32
  }
  linalg.fill ins(%zero : f32) outs(%sum : memref<64xf32>)
  linalg.generic {indexing_maps = [#element, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %max : memref<64x256xf32>, memref<64xf32>) outs(%sum : memref<64xf32>) {
  ^bb0(%in: f32, %m: f32, %out: f32):
    %0 = arith.subf %in, %m : f32
    %1 = math.exp %0 : f32
    %2 = arith.addf %out, %1 : f32
    linalg.yield %2 : f32
  }
  linalg.generic {indexing_maps = [#element, #row, #row, #element], iterator_types = ["parallel", "parallel"]}
      ins(%x, %max, %sum : memref<64x256xf32>, memref<64xf32>, memref<64xf32>) outs(%y : memref<64x256xf32>) {
  ^bb0(%in: f32, %m: f32, %s: f32, %out: f32):
    %0 = arith.subf %in, %m : f32
    %1 = math.exp %0 : f32
    %2 = arith.divf %1, %s : f32
    linalg.yield %2 : f32
  }
  return
}

// A longer row has a block, whose warps meet in shared memory. Threads past the
// end of the row, here the last 24, contribute nothing.

// CHECK-LABEL: func.func @block_a_row
// CHECK: gpu.launch {{.*}} in (%{{.*}} = %c6, {{.*}} threads({{.*}}) in (%{{.*}} = %c224, %{{.*}} = %c1, %{{.*}} = %c1)
// CHECK-SAME: function(@rows_0) workgroup(%[[SHARED:.*]] : memref<7xf32, #gpu.address_space<workgroup>>)
// CHECK: %[[IS_ACTIVE:.*]] = arith.cmpi ult, %{{.*}}, %c200
// CHECK: arith.select %[[IS_ACTIVE]], %{{.*}}, %cst : f32
// CHECK: memref.store %{{.*}}, %[[SHARED]]
// CHECK: gpu.barrier
// CHECK: memref.load %[[SHARED]]
// CHECK: gpu.shuffle idx
func.func @block_a_row(%x: memref<6x800xf32>, %y: memref<6xf32>) {
  linalg.generic {indexing_maps = [#element, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<6x800xf32>) outs(%y : memref<6xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  }
  return
}

// A row that does not fit into registers is read again by each op.

// CHECK-LABEL: func.func @long_rows
// CHECK: gpu.launch {{.*}} threads({{.*}}) in (%{{.*}} = %c512
// CHECK: scf.for %{{.*}} = %{{.*}} to %c16384 step %c512 iter_args
// CHECK: vector.load %arg0
// CHECK: scf.for %{{.*}} = %{{.*}} to %c16384 step %c512
// CHECK: vector.load %arg0
// CHECK: vector.store {{.*}} %arg0
func.func @long_rows(%x: memref<2x65536xf32>) {
  %zero = arith.constant 0.0 : f32
  %sum = memref.alloc() : memref<2xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<2xf32>)
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

// All threads of a row load its value before one of them stores over it.

// CHECK-LABEL: func.func @accumulated
// CHECK: memref.load %arg1
// CHECK: gpu.barrier
// CHECK: %[[IS_FIRST:.*]] = arith.cmpi eq, %{{.*}}, %c0
// CHECK: scf.if %[[IS_FIRST]]
// CHECK: memref.store %{{.*}}, %arg1
func.func @accumulated(%x: memref<8x64xf32>, %sum: memref<8xf32>) {
  linalg.generic {indexing_maps = [#element, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<8x64xf32>) outs(%sum : memref<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  }
  return
}

// A sum of everything is one row.

// CHECK-LABEL: func.func @total
// CHECK: gpu.launch {{.*}} in (%{{.*}} = %c1, {{.*}} function(@rows_0)
func.func @total(%x: memref<1024xf32>, %sum: memref<f32>) {
  linalg.generic {indexing_maps = [#id, #total], iterator_types = ["reduction"]}
      ins(%x : memref<1024xf32>) outs(%sum : memref<f32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  }
  return
}

// Short rows share a warp: two threads have one, 16 rows are in a warp.

// CHECK-LABEL: func.func @short_rows
// CHECK: gpu.launch {{.*}} in (%{{.*}} = %c4, {{.*}} threads({{.*}}) in (%{{.*}} = %c2, %{{.*}} = %c128, %{{.*}} = %c1)
// CHECK-COUNT-1: gpu.shuffle
// CHECK-NOT: gpu.shuffle
func.func @short_rows(%x: memref<512x8xf32>, %y: memref<512xf32>) {
  linalg.generic {indexing_maps = [#element, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<512x8xf32>) outs(%y : memref<512xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  }
  return
}

// What is made of a long row on the way to its sum has no buffer; each pass
// makes it again.

// CHECK-LABEL: func.func @long_rows_of_made_elements
// CHECK: gpu.launch
// CHECK: scf.for
// CHECK: vector.load {{.*}} vector<8xbf16>
// CHECK: math.exp
// CHECK: scf.yield
// CHECK-NOT: vector.store
// CHECK: gpu.terminator
func.func @long_rows_of_made_elements(%x: memref<2x65536xbf16>, %sum: memref<2xf32>) {
  %made = memref.alloc() : memref<2x65536xf32>
  linalg.generic {indexing_maps = [#element, #element], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<2x65536xbf16>) outs(%made : memref<2x65536xf32>) {
  ^bb0(%in: bf16, %out: f32):
    %0 = arith.extf %in : bf16 to f32
    %1 = math.exp %0 : f32
    linalg.yield %1 : f32
  }
  linalg.generic {indexing_maps = [#element, #row], iterator_types = ["parallel", "reduction"]}
      ins(%made : memref<2x65536xf32>) outs(%sum : memref<2xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  }
  return
}
