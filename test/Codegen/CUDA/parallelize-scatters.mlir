// RUN: pp-opt %s --pass-pipeline='builtin.module(func.func(pp-parallelize-scatters))' | FileCheck %s

// The gradient of an embedding. The items' keys, each item's rank among them,
// the items by rank; then a thread a column of 32 items, and what threads have
// of lines that they share.

// CHECK-LABEL: func.func @many
// CHECK: %[[KEYS:.*]] = memref.alloc() : memref<100xi32>
// CHECK: scf.parallel (%[[ITEM:.*]]) =
// CHECK: memref.load %arg0[%[[ITEM]]]
// CHECK: memref.store %{{.*}}, %[[KEYS]][%[[ITEM]]]
// CHECK: %[[RANKS:.*]] = memref.alloc() : memref<100xi32>
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%[[KEYS]], %[[KEYS]] {{.*}} outs(%[[RANKS]]
// CHECK: %[[ORDER:.*]] = memref.alloc() : memref<100xi32>
// CHECK: scf.parallel (%[[ITEM2:.*]]) =
// CHECK: memref.load %[[RANKS]][%[[ITEM2]]]
// CHECK: memref.store %{{.*}}, %[[ORDER]]
// CHECK: %[[PARTIALS:.*]] = memref.alloc() : memref<2x4x48xf32>
// CHECK: scf.parallel (%[[THREAD:.*]], %[[COLUMN:.*]]) = (%{{.*}}, %{{.*}}) to (%c4{{.*}}, %c48
// CHECK: scf.for
// CHECK: memref.load %[[ORDER]]
// CHECK: memref.load %arg1[%{{.*}}, %[[COLUMN]]]
// CHECK: memref.store %{{.*}}, %arg2[%{{.*}}, %[[COLUMN]]]
// CHECK: memref.store %{{.*}}, %[[PARTIALS]]
// CHECK: scf.parallel
// CHECK: scf.while
// CHECK: memref.store %{{.*}}, %arg2
func.func @many(%lines: memref<100xi64>, %x: memref<100x48xf32>, %table: memref<10x48xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c48 = arith.constant 48 : index
  %c100 = arith.constant 100 : index
  scf.for %item = %c0 to %c100 step %c1 {
    scf.for %column = %c0 to %c48 step %c1 {
      %0 = memref.load %lines[%item] : memref<100xi64>
      %line = arith.index_cast %0 : i64 to index
      %1 = memref.load %x[%item, %column] : memref<100x48xf32>
      %2 = memref.load %table[%line, %column] : memref<10x48xf32>
      %3 = arith.addf %2, %1 : f32
      memref.store %3, %table[%line, %column] : memref<10x48xf32>
    }
  }
  return
}

// A few items one thread adds as fast.

// CHECK-LABEL: func.func @few
// CHECK-NOT: scf.parallel
func.func @few(%lines: memref<20xi64>, %x: memref<20x48xf32>, %table: memref<10x48xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c48 = arith.constant 48 : index
  %c20 = arith.constant 20 : index
  scf.for %item = %c0 to %c20 step %c1 {
    scf.for %column = %c0 to %c48 step %c1 {
      %0 = memref.load %lines[%item] : memref<20xi64>
      %line = arith.index_cast %0 : i64 to index
      %1 = memref.load %x[%item, %column] : memref<20x48xf32>
      %2 = memref.load %table[%line, %column] : memref<10x48xf32>
      %3 = arith.addf %2, %1 : f32
      memref.store %3, %table[%line, %column] : memref<10x48xf32>
    }
  }
  return
}

// Constant lines, no two of which are the same, and the cast before: it needs
// no buffer.

memref.global "private" constant @distinct_lines : memref<4xi64> = dense<[2, 0, 3, 1]>
memref.global "private" constant @repeated_lines : memref<4xi64> = dense<[2, 0, 3, 2]>

// CHECK-LABEL: func.func @positions
// CHECK-NOT: linalg.generic
// CHECK: scf.parallel (%[[ITEM:.*]], %[[COLUMN:.*]]) =
// CHECK: memref.load %arg0[%[[ITEM]], %[[COLUMN]]] : memref<4x48xbf16>
// CHECK: arith.extf
// CHECK: memref.store %{{.*}}, %arg1
func.func @positions(%x: memref<4x48xbf16>, %table: memref<10x48xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c48 = arith.constant 48 : index
  %c4 = arith.constant 4 : index
  %lines = memref.get_global @distinct_lines : memref<4xi64>
  %wide = memref.alloc() : memref<4x48xf32>
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>],
                  iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<4x48xbf16>) outs(%wide : memref<4x48xf32>) {
  ^bb0(%in: bf16, %out: f32):
    %0 = arith.extf %in : bf16 to f32
    linalg.yield %0 : f32
  }
  scf.for %item = %c0 to %c4 step %c1 {
    scf.for %column = %c0 to %c48 step %c1 {
      %0 = memref.load %lines[%item] : memref<4xi64>
      %line = arith.index_cast %0 : i64 to index
      %1 = memref.load %wide[%item, %column] : memref<4x48xf32>
      %2 = memref.load %table[%line, %column] : memref<10x48xf32>
      %3 = arith.addf %2, %1 : f32
      memref.store %3, %table[%line, %column] : memref<10x48xf32>
    }
  }
  return
}

// CHECK-LABEL: func.func @repeated
// CHECK-NOT: scf.parallel
func.func @repeated(%x: memref<4x48xf32>, %table: memref<10x48xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c48 = arith.constant 48 : index
  %c4 = arith.constant 4 : index
  %lines = memref.get_global @repeated_lines : memref<4xi64>
  scf.for %item = %c0 to %c4 step %c1 {
    scf.for %column = %c0 to %c48 step %c1 {
      %0 = memref.load %lines[%item] : memref<4xi64>
      %line = arith.index_cast %0 : i64 to index
      %1 = memref.load %x[%item, %column] : memref<4x48xf32>
      %2 = memref.load %table[%line, %column] : memref<10x48xf32>
      %3 = arith.addf %2, %1 : f32
      memref.store %3, %table[%line, %column] : memref<10x48xf32>
    }
  }
  return
}

// Windows of three elements, two apart, that overlap: the first elements of all
// windows, then the second ones, then the third.

// CHECK-LABEL: func.func @windows
// CHECK-NOT: scf.for
// CHECK: scf.parallel (%[[ROW:.*]], %[[WINDOW:.*]]) = (%{{.*}}, %{{.*}}) to (%c8{{.*}}, %c16{{.*}})
// CHECK: memref.load %arg0[%[[ROW]], %c0{{.*}}, %[[WINDOW]]]
// CHECK: scf.parallel (%[[ROW1:.*]], %[[WINDOW1:.*]]) =
// CHECK: memref.load %arg0[%[[ROW1]], %c1{{.*}}, %[[WINDOW1]]]
// CHECK: scf.parallel
// CHECK: memref.load %arg0[%{{.*}}, %c2{{.*}}, %{{.*}}]
// CHECK-NOT: scf.parallel
func.func @windows(%x: memref<8x3x16xf32>, %y: memref<8x33xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  scf.for %row = %c0 to %c8 step %c1 {
    scf.for %element = %c0 to %c3 step %c1 {
      scf.for %window = %c0 to %c16 step %c1 {
        %first = arith.muli %window, %c2 : index
        %place = arith.addi %first, %element : index
        %0 = memref.load %x[%row, %element, %window] : memref<8x3x16xf32>
        %1 = memref.load %y[%row, %place] : memref<8x33xf32>
        %2 = arith.addf %1, %0 : f32
        memref.store %2, %y[%row, %place] : memref<8x33xf32>
      }
    }
  }
  return
}

// What was made of an operand in its own place is not made again.

// CHECK-LABEL: func.func @made_in_place
// CHECK: linalg.generic
// CHECK: scf.parallel
// CHECK: memref.load %arg0
// CHECK-NOT: arith.negf
func.func @made_in_place(%x: memref<4x48xf32>, %table: memref<10x48xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c48 = arith.constant 48 : index
  %c4 = arith.constant 4 : index
  %lines = memref.get_global @distinct_lines : memref<4xi64>
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>],
                  iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<4x48xf32>) outs(%x : memref<4x48xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.negf %in : f32
    linalg.yield %0 : f32
  }
  scf.for %item = %c0 to %c4 step %c1 {
    scf.for %column = %c0 to %c48 step %c1 {
      %0 = memref.load %lines[%item] : memref<4xi64>
      %line = arith.index_cast %0 : i64 to index
      %1 = memref.load %x[%item, %column] : memref<4x48xf32>
      %2 = memref.load %table[%line, %column] : memref<10x48xf32>
      %3 = arith.addf %2, %1 : f32
      memref.store %3, %table[%line, %column] : memref<10x48xf32>
    }
  }
  return
}
