// RUN: pp-opt %s --pass-pipeline='builtin.module(func.func(pp-expand-bfloat16))' | FileCheck %s

// CHECK-LABEL: func.func @conversions
func.func @conversions(%x: f32, %y: bf16) -> (bf16, f32) {
  // CHECK-NOT: arith.truncf
  // CHECK-NOT: arith.extf
  // CHECK: return
  %0 = arith.truncf %x : f32 to bf16
  %1 = arith.extf %y : bf16 to f32
  return %0, %1 : bf16, f32
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
