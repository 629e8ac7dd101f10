// RUN: pp-opt %s --pass-pipeline='builtin.module(func.func(pp-approximate-math))' | FileCheck %s

// CHECK-LABEL: func.func @polynomials
func.func @polynomials(%x: f32) -> (f32, f32, f32, f32) {
  // CHECK-NOT: math.exp
  // CHECK-NOT: math.log
  // CHECK-NOT: math.tanh
  // CHECK-NOT: math.erf
  // CHECK: return
  %0 = math.exp %x : f32
  %1 = math.log %x : f32
  %2 = math.tanh %x : f32
  %3 = math.erf %x : f32
  return %0, %1, %2, %3 : f32, f32, f32, f32
}

// Far from zero the polynomials of sine and cosine are wrong, and doubles need
// more digits than any of them has.

// CHECK-LABEL: func.func @library
func.func @library(%x: f32, %y: f64) -> (f32, f64) {
  // CHECK: math.sin
  // CHECK: math.exp
  %0 = math.sin %x : f32
  %1 = math.exp %y : f64
  return %0, %1 : f32, f64
}
