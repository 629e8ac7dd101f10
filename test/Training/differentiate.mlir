// RUN: pp-opt %s --split-input-file --nn-differentiate | FileCheck %s

// A fully connected layer and its loss: B reads the weight, W the activation;
// what relu needs is the layer's result, so nothing is saved. The first layer
// reads the input only: it has no B, and W takes the cotangent.

// CHECK-LABEL: pp.model @mlp
pp.parameter @"fc1.weight" trainable : tensor<16x8xf32> = dense<0.0> : tensor<16x8xf32>
pp.parameter @"fc2.weight" trainable : tensor<4x16xf32> = dense<0.0> : tensor<4x16xf32>
pp.parameter @"fc2.bias" trainable : tensor<4xf32> = dense<0.0> : tensor<4xf32>
pp.model @mlp(%x: tensor<2x8xf32> = #pp.input_spec<"x", axis = 0>,
              %labels: tensor<2xi64> = #pp.input_spec<"labels", axis = 0>) {
  %h = pp.layer "fc1" @fc1(%x) parameters [@"fc1.weight"] : (tensor<2x8xf32>) -> tensor<2x16xf32>
  %y = pp.layer "fc2" @fc2(%h) parameters [@"fc2.weight", @"fc2.bias"] : (tensor<2x16xf32>) -> tensor<2x4xf32>
  %sum, %weight = pp.layer "loss" @loss(%y, %labels) parameters [] : (tensor<2x4xf32>, tensor<2xi64>) -> (tensor<f32>, tensor<f32>)
  pp.return outputs ["y"] %y : tensor<2x4xf32> loss %sum, %weight : tensor<f32>, tensor<f32>
}

// CHECK: nn.function @fc1(
// CHECK: nn.function @fc1.f(%[[X:.*]]: tensor<2x8xf32>, %[[W:.*]]: tensor<16x8xf32>) -> tensor<2x16xf32>
// CHECK-NOT: @fc1.b
// CHECK: nn.function @fc1.w(%[[X:.*]]: tensor<2x8xf32>, %[[DY:.*]]: tensor<2x16xf32>, %[[ACC:.*]]: tensor<16x8xf32>) -> tensor<16x8xf32>
// CHECK-NEXT: %[[DW:.*]] = nn.matmul %[[DY]], %[[X]] transpose_lhs
// CHECK-NEXT: %[[SUM:.*]] = nn.accumulate %[[ACC]], %[[DW]]
// CHECK-NEXT: nn.return %[[SUM]]
// CHECK: nn.derivative @fc1 forward @fc1.f operands [] gradients []
// CHECK-SAME: weight @fc1.w operands [#nn.operand<argument 0>, #nn.operand<cotangent 0>, #nn.operand<accumulator 1>] gradients [1]
nn.function @fc1(%x: tensor<2x8xf32>, %w: tensor<16x8xf32>) -> tensor<2x16xf32> {
  %0 = nn.matmul %x, %w transpose_rhs : tensor<2x8xf32>, tensor<16x8xf32> -> tensor<2x16xf32>
  nn.return %0 : tensor<2x16xf32>
}

// CHECK: nn.function @fc2(
// CHECK: nn.function @fc2.f({{.*}}) -> tensor<2x4xf32>
// CHECK: nn.function @fc2.b(%[[W:.*]]: tensor<4x16xf32>, %[[Y:.*]]: tensor<2x4xf32>, %[[DY:.*]]: tensor<2x4xf32>) -> (tensor<2x16xf32>, tensor<2x4xf32>)
// CHECK: %[[PASSED:.*]] = nn.compare gt %[[Y]], %[[ZERO:.*]] :
// CHECK: %[[DZ:.*]] = nn.select %[[PASSED]], %[[DY]], %[[ZERO]]
// CHECK: %[[DX:.*]] = nn.matmul %[[DZ]], %[[W]] :
// CHECK: nn.return %[[DX]], %[[DZ]]
// CHECK: nn.function @fc2.w(%[[X:.*]]: tensor<2x16xf32>, %[[DZ:.*]]: tensor<2x4xf32>, %[[ACC1:.*]]: tensor<4x16xf32>, %[[ACC2:.*]]: tensor<4xf32>)
// CHECK: %[[DB:.*]] = nn.reduce {{ ?}}sum %[[DZ]] axes [0]
// CHECK: %[[SUM2:.*]] = nn.accumulate %[[ACC2]], %[[DB]]
// CHECK: %[[DW:.*]] = nn.matmul %[[DZ]], %[[X]] transpose_lhs
// CHECK: %[[SUM1:.*]] = nn.accumulate %[[ACC1]], %[[DW]]
// CHECK: nn.return %[[SUM1]], %[[SUM2]]
// CHECK: nn.derivative @fc2 forward @fc2.f
// CHECK-SAME: backward @fc2.b operands [#nn.operand<argument 1>, #nn.operand<result 0>, #nn.operand<cotangent 0>] gradients [0]
// CHECK-SAME: weight @fc2.w operands [#nn.operand<argument 0>, #nn.operand<pending 0>, #nn.operand<accumulator 1>, #nn.operand<accumulator 2>] gradients [1, 2]
nn.function @fc2(%x: tensor<2x16xf32>, %w: tensor<4x16xf32>, %b: tensor<4xf32>) -> tensor<2x4xf32> {
  %0 = nn.matmul %x, %w transpose_rhs : tensor<2x16xf32>, tensor<4x16xf32> -> tensor<2x4xf32>
  %1 = nn.broadcast %b : tensor<4xf32> -> tensor<2x4xf32>
  %2 = nn.add %0, %1 : tensor<2x4xf32>
  %3 = nn.relu %2 : tensor<2x4xf32>
  nn.return %3 : tensor<2x4xf32>
}

// Only the sum has a cotangent.

// CHECK: nn.function @loss.b(%[[X:.*]]: tensor<2x4xf32>, %[[LABELS:.*]]: tensor<2xi64>, %[[DS:.*]]: tensor<f32>) -> tensor<2x4xf32>
// CHECK: nn.cross_entropy_grad %[[DS]], %[[X]], %[[LABELS]] ignore -100
// CHECK: nn.derivative @loss forward @loss.f
// CHECK-SAME: backward @loss.b operands [#nn.operand<argument 0>, #nn.operand<argument 1>, #nn.operand<cotangent 0>] gradients [0]
// CHECK-SAME: operands [] gradients []
nn.function @loss(%x: tensor<2x4xf32>, %labels: tensor<2xi64>) -> (tensor<f32>, tensor<f32>) {
  %sum, %weight = nn.cross_entropy %x, %labels ignore -100 : (tensor<2x4xf32>, tensor<2xi64>) -> (tensor<f32>, tensor<f32>)
  nn.return %sum, %weight : tensor<f32>, tensor<f32>
}
