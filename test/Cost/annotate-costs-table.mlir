// RUN: split-file %s %t
// RUN: pp-opt %t/model.mlir --pp-annotate-costs="device=%inputs/even-device.toml layer-times=%t/times.toml" | FileCheck %t/model.mlir
// RUN: not pp-opt %t/model.mlir --pp-annotate-costs="layer-times=%t/other.toml" 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: error: '{{.*}}other.toml' has times for 'f?', which matches no layer of the model
// RUN: not pp-opt %t/model.mlir --pp-annotate-costs="layer-times=%t/size.toml" 2>&1 | FileCheck %s --check-prefix=SIZE
// SIZE: error: '{{.*}}size.toml' has times of micro-batches of 4, not of 2
// RUN: not pp-opt %t/model.mlir --pp-annotate-costs="layer-times=%t/broken.toml" 2>&1 | FileCheck %s --check-prefix=BROKEN
// BROKEN: error: is not a pattern of names at {{.*}}broken.toml.layers[0].layer
// RUN: not pp-opt %t/model.mlir --pp-annotate-costs="layer-times=%t/negative.toml" 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// NEGATIVE: error: {{.*}}negative.toml.layers[0].forward

//--- model.mlir
// The first row that matches counts; what it leaves out is by formula, and so
// is a layer without one.

// CHECK-LABEL: pp.model @given
pp.parameter @w : tensor<4x4xf32> = dense<0.0> : tensor<4x4xf32>
pp.model @given(%x: tensor<2x4xf32> = #pp.input_spec<"x", axis = 0>) {
  // CHECK: pp.layer "fc/1" {{.*}}picoseconds_f = 1000000000, picoseconds_b = 2000000000, picoseconds_w = 3000000000, {{.*}}source = table>
  %0 = pp.layer "fc/1" @fc(%x) parameters [@w] : (tensor<2x4xf32>) -> tensor<2x4xf32>
  // CHECK: pp.layer "fc/2" {{.*}}picoseconds_f = 5000000000, picoseconds_b = [[B:[0-9]+]], {{.*}}source = table>
  %1 = pp.layer "fc/2" @fc(%0) parameters [@w] : (tensor<2x4xf32>) -> tensor<2x4xf32>
  // CHECK: pp.layer "last" {{.*}}picoseconds_b = [[B]], {{.*}}source = formula>
  %2 = pp.layer "last" @fc(%1) parameters [@w] : (tensor<2x4xf32>) -> tensor<2x4xf32>
  pp.return outputs ["y"] %2 : tensor<2x4xf32>
}
nn.function @fc(%x: tensor<2x4xf32>, %w: tensor<4x4xf32>) -> tensor<2x4xf32> {
  %0 = nn.matmul %x, %w : tensor<2x4xf32>, tensor<4x4xf32> -> tensor<2x4xf32>
  nn.return %0 : tensor<2x4xf32>
}

//--- times.toml
microbatch_size = 2
layers = [{layer = "fc/1", forward = 1e-3, backward_input = 2e-3, backward_weight = 3e-3},
          {layer = "fc/*", forward = 5e-3}]
//--- other.toml
microbatch_size = 2
layers = [{layer = "f?", forward = 1e-3}]
//--- size.toml
microbatch_size = 4
layers = [{layer = "*", forward = 1e-3}]
//--- broken.toml
microbatch_size = 2
layers = [{layer = "fc[", forward = 1e-3}]
//--- negative.toml
microbatch_size = 2
layers = [{layer = "*", forward = -1e-3}]
