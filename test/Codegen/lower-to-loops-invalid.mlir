// RUN: pp-opt %s --pass-pipeline='builtin.module(func.func(pp-lower-to-loops))' --verify-diagnostics

func.func @tensors(%x: tensor<8xf32>, %value: f32) -> tensor<8xf32> {
  // expected-error @below {{'linalg.fill' op works on tensors; run '--one-shot-bufferize' first}}
  %0 = linalg.fill ins(%value : f32) outs(%x : tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
