// RUN: pp-opt %s | pp-opt | FileCheck %s
// RUN: pp-opt %s --mlir-print-op-generic | pp-opt | FileCheck %s

// A layer with its three roles: F keeps nothing beside arguments and result.

// CHECK-LABEL: nn.function @fc(
// CHECK-SAME: %{{.*}}: tensor<2x8xf32>, %{{.*}}: tensor<16x8xf32>) -> tensor<2x16xf32>
nn.function @fc(%x: tensor<2x8xf32>, %w: tensor<16x8xf32>) -> tensor<2x16xf32> {
  %0 = nn.matmul %x, %w transpose_rhs : tensor<2x8xf32>, tensor<16x8xf32> -> tensor<2x16xf32>
  nn.return %0 : tensor<2x16xf32>
}

// CHECK-LABEL: nn.function @fc.f(
nn.function @fc.f(%x: tensor<2x8xf32>, %w: tensor<16x8xf32>) -> (tensor<2x16xf32>, tensor<16x8xf32>) {
  // CHECK: %[[Y:.*]] = nn.call @fc(%{{.*}}, %{{.*}}) : (tensor<2x8xf32>, tensor<16x8xf32>) -> tensor<2x16xf32>
  %y = nn.call @fc(%x, %w) : (tensor<2x8xf32>, tensor<16x8xf32>) -> tensor<2x16xf32>
  nn.return %y, %w : tensor<2x16xf32>, tensor<16x8xf32>
}

nn.function @fc.b(%dy: tensor<2x16xf32>, %w: tensor<16x8xf32>) -> (tensor<2x8xf32>, tensor<2x16xf32>) {
  %dx = nn.matmul %dy, %w : tensor<2x16xf32>, tensor<16x8xf32> -> tensor<2x8xf32>
  nn.return %dx, %dy : tensor<2x8xf32>, tensor<2x16xf32>
}

nn.function @fc.w(%dy: tensor<2x16xf32>, %x: tensor<2x8xf32>, %sum: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %dw = nn.matmul %dy, %x transpose_lhs : tensor<2x16xf32>, tensor<2x8xf32> -> tensor<16x8xf32>
  %0 = nn.accumulate %sum, %dw : tensor<16x8xf32>
  nn.return %0 : tensor<16x8xf32>
}

// CHECK: nn.derivative @fc forward @fc.f backward @fc.b operands [#nn.operand<cotangent 0>, #nn.operand<saved 0>] gradients [0] weight @fc.w operands [#nn.operand<pending 0>, #nn.operand<argument 0>, #nn.operand<accumulator 1>] gradients [1]
nn.derivative @fc forward @fc.f
  backward @fc.b operands [#nn.operand<cotangent 0>, #nn.operand<saved 0>] gradients [0]
  weight @fc.w operands [#nn.operand<pending 0>, #nn.operand<argument 0>, #nn.operand<accumulator 1>] gradients [1]

// A layer without parameters whose input needs no gradient.
// CHECK: nn.derivative @fc forward @fc operands [] gradients [] operands [] gradients []
nn.derivative @fc forward @fc operands [] gradients [] operands [] gradients []

nn.function @act(%x: tensor<2xf32>, %m: tensor<2xf32>) -> tensor<2xf32>
nn.function @act.f(%x: tensor<2xf32>, %m: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<4xf32>)
nn.function @act.r(%x: tensor<2xf32>, %s: tensor<2xf32>) -> tensor<4xf32>
// CHECK: nn.derivative @act forward @act.f operands [] gradients [] operands [] gradients [] recompute @act.r operands [#nn.operand<argument 0>, #nn.operand<saved 0>]
nn.derivative @act forward @act.f operands [] gradients [] operands [] gradients []
  recompute @act.r operands [#nn.operand<argument 0>, #nn.operand<saved 0>]
