// RUN: pp-opt %s --pp-codegen-kernels=chips=sm_90 | %python %S/kernels.py ptx %t
// RUN: FileCheck %s < %t/gelu_kernels.sm_90.ptx

// The PTX of a kernel: how many threads it may have, 16 bytes a load and a
// store, products and sums as one instruction, and no function that would have
// to be linked.

// CHECK: .target sm_90
// CHECK-NOT: .extern
// CHECK: .visible .entry elements_0(
// CHECK: .maxntid 256, 1, 1
// CHECK: .minnctapersm 1
// CHECK: ld.global.v4.b32
// CHECK: fma.rn.f32
// CHECK-NOT: .func
// CHECK: st.global.v4.b32
func.func @gelu(%x: memref<4096xbf16>, %y: memref<4096xbf16>) {
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %inner = arith.constant 0.797884583 : f32
  %cubic = arith.constant 0.0356774069 : f32
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : memref<4096xbf16>) outs(%y : memref<4096xbf16>) {
  ^bb0(%narrow: bf16, %out: bf16):
    %in = arith.extf %narrow : bf16 to f32
    %0 = arith.mulf %in, %in fastmath<contract> : f32
    %1 = arith.mulf %0, %cubic fastmath<contract> : f32
    %2 = arith.addf %1, %inner fastmath<contract> : f32
    %3 = arith.mulf %in, %2 fastmath<contract> : f32
    %4 = math.tanh %3 : f32
    %5 = arith.addf %4, %one fastmath<contract> : f32
    %6 = arith.mulf %in, %half fastmath<contract> : f32
    %7 = arith.mulf %6, %5 fastmath<contract> : f32
    %8 = arith.truncf %7 : f32 to bf16
    linalg.yield %8 : bf16
  }
  return
}

// RUN: FileCheck %s --check-prefix=WIDE < %t/wide_kernels.sm_90.ptx

// Numbers of 64 bits are loaded and stored at once.

// WIDE: ld.global.b64
// WIDE-NOT: ld.global
// WIDE: st.global.b64
func.func @wide(%x: memref<3xi64>, %y: memref<3xi64>) {
  memref.copy %x, %y : memref<3xi64> to memref<3xi64>
  return
}
