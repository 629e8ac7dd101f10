// RUN: pp-opt %s --pp-lower-launches --split-input-file --verify-diagnostics

module attributes {gpu.container_module} {
gpu.module @kernels {
  gpu.func @kernel() kernel {
    gpu.return
  }
}
func.func @not_compiled() {
  %c1 = arith.constant 1 : index
  // expected-error @below {{'gpu.launch_func' op is of kernels that are not a 'gpu.binary'}}
  gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
  return
}
}

// -----

module attributes {gpu.container_module} {
// expected-error @below {{'gpu.binary' op has code that is neither PTX nor of one chip}}
gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_90">, "fat">]
func.func @fat() {
  %c1 = arith.constant 1 : index
  gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
  return
}
}

// -----

module attributes {gpu.container_module} {
gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_90">, bin = "code">]
func.func @unknown_size(%blocks: index) {
  %c1 = arith.constant 1 : index
  // expected-error @below {{'gpu.launch_func' op has sizes that are not constants from 1 to 2147483647}}
  gpu.launch_func @kernels::@kernel blocks in (%blocks, %c1, %c1) threads in (%c1, %c1, %c1)
  return
}
}

// -----

module attributes {gpu.container_module} {
gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_90">, bin = "code">]
func.func @no_blocks() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @below {{'gpu.launch_func' op has sizes that are not constants from 1 to 2147483647}}
  gpu.launch_func @kernels::@kernel blocks in (%c0, %c1, %c1) threads in (%c1, %c1, %c1)
  return
}
}

// -----

module attributes {gpu.container_module} {
gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_90">, bin = "code">]
func.func @shared_memory() {
  %c1 = arith.constant 1 : index
  %bytes = arith.constant 1024 : i32
  // expected-error @below {{'gpu.launch_func' op asks for shared memory or clusters, which the runtime does not give}}
  gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) dynamic_shared_memory_size %bytes
  return
}
}

// -----

module attributes {gpu.container_module} {
gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_90">, bin = "code">]
func.func @waits() {
  %c1 = arith.constant 1 : index
  // expected-error @below {{'gpu.launch_func' op waits for others, which the runtime does not}}
  %token = gpu.launch_func async @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
  return
}
}

// -----

module attributes {gpu.container_module} {
gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_90">, bin = "code">]
func.func @unknown_shape(%x: memref<?xf32>) {
  %c1 = arith.constant 1 : index
  // expected-error @below {{'gpu.launch_func' op has an argument of 'memref<?xf32>', of which a pointer says too little}}
  gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<?xf32>)
  return
}
}
