// RUN: pp-opt %s --pass-pipeline='builtin.module(func.func(pp-lower-device-math))' | FileCheck %s

// What the device has an instruction for.

// CHECK-LABEL: func.func @instructions
// CHECK: %[[SCALED:.*]] = arith.mulf %arg0, %{{.*}} : f32
// CHECK: llvm.call_intrinsic "llvm.exp2.f32"(%[[SCALED]])
// CHECK: %[[ROOT:.*]] = llvm.call_intrinsic "llvm.sqrt.f32"(%arg0)
// CHECK: arith.divf %{{.*}}, %[[ROOT]]
func.func @instructions(%x: f32) -> (f32, f32) {
  %0 = math.exp %x : f32
  %1 = math.rsqrt %x : f32
  return %0, %1 : f32, f32
}

// What it has one for that is not exact enough, and what it has none for.

// CHECK-LABEL: func.func @polynomials
// CHECK-NOT: math.
// CHECK: return
func.func @polynomials(%x: f32) -> (f32, f32, f32) {
  %0 = math.tanh %x : f32
  %1 = math.log %x : f32
  %2 = math.erf %x : f32
  return %0, %1, %2 : f32, f32, f32
}
