// RUN: pp-opt %s --pass-pipeline='builtin.module(nn-lower-functions,func.func(nn-to-linalg))' | FileCheck %s

// Without a kernel of the library: loops, the contracted axis innermost.

// CHECK-DAG: #[[$LHS:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d3, d1)>
// CHECK-DAG: #[[$RHS:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>
// CHECK-DAG: #[[$OUT:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
// CHECK-LABEL: func.func @layer.doubles
nn.function @doubles(%a: tensor<2x5x3xf64>, %b: tensor<2x5x4xf64>) -> tensor<2x3x4xf64> {
  // CHECK: linalg.generic {indexing_maps = [#[[$LHS]], #[[$RHS]], #[[$OUT]]],
  // CHECK-SAME: iterator_types = ["parallel", "parallel", "parallel", "reduction"]
  %0 = nn.matmul %a, %b transpose_lhs : tensor<2x5x3xf64>, tensor<2x5x4xf64> -> tensor<2x3x4xf64>
  nn.return %0 : tensor<2x3x4xf64>
}
