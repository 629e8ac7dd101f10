// RUN: pp-opt %s --pp-expand-bfloat16 | FileCheck %s

// CHECK-NOT: bf16

// CHECK-LABEL: func.func @conversions
// CHECK-SAME: (%[[X:.*]]: f32, %[[Y:.*]]: i16) -> (i16, f32)
func.func @conversions(%x: f32, %y: bf16) -> (bf16, f32) {
  // A NaN stays one.
  // CHECK-DAG: %[[NAN:.*]] = arith.constant 32704 : i16
  // CHECK: %[[IS_NAN:.*]] = arith.cmpf uno, %[[X]], %[[X]] : f32
  // CHECK: arith.select %[[IS_NAN]], %[[NAN]], %{{.*}} : i16
  // CHECK-NOT: arith.truncf
  // CHECK-NOT: arith.extf
  // CHECK: return
  %0 = arith.truncf %x : f32 to bf16
  %1 = arith.extf %y : bf16 to f32
  return %0, %1 : bf16, f32
}

// What moves values moves integers, constants too: here the bits of 1.

// CHECK-LABEL: func.func @moves
// CHECK-SAME: (%[[C:.*]]: i1, %[[BUFFER:.*]]: memref<4xi16>, %[[I:.*]]: index)
func.func @moves(%c: i1, %buffer: memref<4xbf16>, %i: index) {
  // CHECK: %[[ONE:.*]] = arith.constant 16256 : i16
  // CHECK: %[[OLD:.*]] = memref.load %[[BUFFER]]
  // CHECK: %[[NEW:.*]] = arith.select %[[C]], %[[OLD]], %[[ONE]] : i16
  // CHECK: memref.store %[[NEW]], %[[BUFFER]]
  %one = arith.constant 1.0 : bf16
  %old = memref.load %buffer[%i] : memref<4xbf16>
  %new = arith.select %c, %old, %one : bf16
  memref.store %new, %buffer[%i] : memref<4xbf16>
  return
}

// Sums stay as they are, and so do extremes, which LLVM knows how to widen.

// CHECK-LABEL: func.func @others
func.func @others(%x: f32, %z: f32, %y: f16) -> (f32, f32) {
  // CHECK: arith.maximumf
  // CHECK: arith.extf
  %0 = arith.maximumf %x, %z : f32
  %1 = arith.extf %y : f16 to f32
  return %0, %1 : f32, f32
}
