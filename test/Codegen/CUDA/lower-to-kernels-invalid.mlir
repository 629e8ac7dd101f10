// RUN: pp-opt %s --pass-pipeline='builtin.module(func.func(pp-lower-to-kernels))' --split-input-file --verify-diagnostics

func.func @loop_with_a_result(%x: memref<8xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  // expected-error @below {{'scf.for' op has no kernel: the host needs its results}}
  %sum = scf.for %i = %c0 to %c8 step %c1 iter_args(%before = %zero) -> f32 {
    %0 = memref.load %x[%i] : memref<8xf32>
    %next = arith.addf %before, %0 : f32
    scf.yield %next : f32
  }
  return %sum : f32
}

// -----

func.func @copy_in_a_loop(%x: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    // expected-error @below {{'memref.copy' op in a loop has no kernel}}
    memref.copy %x, %x : memref<8xf32> to memref<8xf32>
  }
  return
}

// -----

func.func @read_by_the_host(%x: memref<8xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  // expected-error @below {{'memref.load' op has no kernel: the host needs it}}
  %0 = memref.load %x[%c0] : memref<8xf32>
  return %0 : f32
}

// -----

func.func @overwritten(%x: memref<8xf32>, %y: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  // expected-error @below {{'memref.load' op has no kernel: what it reads may be overwritten before a kernel needs it}}
  %0 = memref.load %x[%c0] : memref<8xf32>
  linalg.fill ins(%zero : f32) outs(%x : memref<8xf32>)
  memref.store %0, %y[%c0] : memref<8xf32>
  return
}

// -----

func.func @tensors(%x: tensor<8xf32>, %value: f32) -> tensor<8xf32> {
  // expected-error @below {{'linalg.fill' op works on tensors; run '--one-shot-bufferize' first}}
  %0 = linalg.fill ins(%value : f32) outs(%x : tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @unknown_iterations(%x: memref<8xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  // expected-error @below {{'scf.parallel' op has no kernel: it is not known how often it runs, or it has results}}
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    memref.store %zero, %x[%i] : memref<8xf32>
  }
  return
}
