// RUN: pp-opt %s --nn-differentiate | FileCheck %s

// Only what is dear is saved: the exponential is, the dropout mask and the
// scaled value that the sine needs are computed again, and contributions to
// one gradient are added from the last use to the first.

// CHECK-LABEL: pp.model @m
// CHECK: nn.function @f.f(%[[X:.*]]: tensor<4xf32>, %{{.*}}: tensor<2xi64>, %[[W:.*]]: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
// CHECK: %[[EXP:.*]] = nn.exp
// CHECK: nn.return %{{.*}}, %[[EXP]]
// CHECK: nn.function @f.w(%{{.*}}: tensor<4xf32>, %[[KEY:.*]]: tensor<2xi64>, %{{.*}}: tensor<4xf32>, %[[EXP:.*]]: tensor<4xf32>, %[[DY:.*]]: tensor<4xf32>, %[[ACC:.*]]: tensor<4xf32>)
// CHECK: %[[LAST:.*]] = nn.accumulate %[[ACC]], %[[DY]]
// CHECK: %[[MASK:.*]] = nn.dropout_mask %[[KEY]]
// CHECK: %[[DEXP:.*]] = nn.mul %[[DY]], %[[MASK]]
// CHECK: nn.mul %[[DEXP]], %[[EXP]]
// CHECK: nn.cos
// CHECK: nn.accumulate %[[LAST]],
// CHECK: nn.derivative @f forward @f.f operands [] gradients []
// CHECK-SAME: weight @f.w operands [#nn.operand<argument 0>, #nn.operand<argument 1>, #nn.operand<argument 2>, #nn.operand<saved 0>, #nn.operand<cotangent 0>, #nn.operand<accumulator 2>] gradients [2]
pp.parameter @w trainable : tensor<4xf32> = dense<0.0> : tensor<4xf32>
pp.model @m(%x: tensor<4xf32> = #pp.input_spec<"x", axis = 0>) {
  %key = pp.random_key layer 0 : tensor<2xi64>
  %0 = pp.layer "f" @f(%x, %key) parameters [@w] : (tensor<4xf32>, tensor<2xi64>) -> tensor<4xf32>
  %1 = pp.layer "loss" @sum(%0) parameters [] : (tensor<4xf32>) -> tensor<f32>
  pp.return outputs [] loss %1, %1 : tensor<f32>, tensor<f32>
}
nn.function @f(%x: tensor<4xf32>, %key: tensor<2xi64>, %w: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.mul %x, %w : tensor<4xf32>
  %1 = nn.sin %0 : tensor<4xf32>
  %2 = nn.exp %1 : tensor<4xf32>
  %mask = nn.dropout_mask %key ratio 0.5 stream 3 : tensor<2xi64> -> tensor<4xf32>
  %3 = nn.mul %2, %mask : tensor<4xf32>
  %4 = nn.add %3, %w : tensor<4xf32>
  nn.return %4 : tensor<4xf32>
}
nn.function @sum(%x: tensor<4xf32>) -> tensor<f32> {
  %0 = nn.reduce sum %x axes [0] : tensor<4xf32> -> tensor<f32>
  nn.return %0 : tensor<f32>
}
