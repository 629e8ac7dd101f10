// RUN: pp-opt %s --nn-fold --split-input-file | FileCheck %s
// RUN: pp-opt %s --nn-fold=max-bytes=4 --split-input-file | FileCheck %s --check-prefix=SMALL

// A chain of shape arithmetic becomes one constant.

// CHECK-LABEL: nn.function @element_count
nn.function @element_count() -> tensor<i64> {
  // CHECK-NEXT: %[[COUNT:.*]] = nn.constant dense<24> : tensor<i64>
  // CHECK-NEXT: nn.return %[[COUNT]]
  %shape = nn.constant dense<[2, 3, 4]> : tensor<3xi64>
  %tail = nn.slice %shape offsets [1] strides [1] : tensor<3xi64> -> tensor<2xi64>
  %head = nn.slice %shape offsets [0] strides [1] : tensor<3xi64> -> tensor<1xi64>
  %joined = nn.concat %tail, %head axis 0 : tensor<2xi64>, tensor<1xi64> -> tensor<3xi64>
  %count = nn.reduce prod %joined axes [0] : tensor<3xi64> -> tensor<i64>
  nn.return %count : tensor<i64>
}

// -----

// CHECK-LABEL: nn.function @size_limit
// SMALL-LABEL: nn.function @size_limit
nn.function @size_limit() -> (tensor<f32>, tensor<2xf32>) {
  // CHECK-DAG: nn.constant dense<5.000000e-01> : tensor<f32>
  // CHECK-DAG: nn.constant dense<[1.000000e+00, 5.000000e-01]> : tensor<2xf32>
  // SMALL: nn.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
  // SMALL: nn.constant dense<5.000000e-01> : tensor<f32>
  // SMALL: nn.reciprocal %{{.*}} : tensor<2xf32>
  %0 = nn.constant dense<2.0> : tensor<f32>
  %1 = nn.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %2 = nn.reciprocal %0 : tensor<f32>
  %3 = nn.reciprocal %1 : tensor<2xf32>
  nn.return %2, %3 : tensor<f32>, tensor<2xf32>
}

// -----

// CHECK-LABEL: nn.function @not_constant
nn.function @not_constant(%x: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK: nn.add
  %0 = nn.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %1 = nn.add %x, %0 : tensor<2xf32>
  nn.return %1 : tensor<2xf32>
}

// -----

// Weights are parameters, so what is computed of them stays.

// CHECK: pp.parameter
pp.parameter @w : tensor<2x3xf32> = #pp.external<"m.onnx", offset = 0, length = 24>
pp.model @m(%x: tensor<2x3xf32> = #pp.input_spec<"x", axis = 0>) {
  // CHECK: %[[W:.*]] = pp.get_parameter @w
  // CHECK: nn.neg %[[W]]
  %w = pp.get_parameter @w : tensor<2x3xf32>
  %0 = nn.neg %w : tensor<2x3xf32>
  %1 = nn.add %x, %0 : tensor<2x3xf32>
  pp.return outputs ["y"] %1 : tensor<2x3xf32>
}
