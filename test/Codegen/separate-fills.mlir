// RUN: pp-opt %s --pass-pipeline='builtin.module(func.func(pp-separate-fills))' | FileCheck %s

#all = affine_map<(i, j) -> (i, j)>
#rows = affine_map<(i, j) -> (i)>

// CHECK-LABEL: func.func @two_sums
func.func @two_sums(%x: tensor<8x2xf32>, %y: tensor<8x2xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK-COUNT-2: linalg.fill
  // CHECK-NOT: linalg.fill
  // CHECK: linalg.generic {{.*}} outs(%[[ONE:.*]] : tensor<8xf32>)
  // CHECK-NOT: linalg.generic {{.*}} outs(%[[ONE]] :
  // CHECK: return
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<8xf32>) -> tensor<8xf32>
  %0 = linalg.generic {indexing_maps = [#all, #rows], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x2xf32>) outs(%zeros : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %1 = linalg.generic {indexing_maps = [#all, #rows], iterator_types = ["parallel", "reduction"]} ins(%y : tensor<8x2xf32>) outs(%zeros : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}
