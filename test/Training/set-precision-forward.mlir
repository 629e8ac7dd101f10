// RUN: pp-opt %s --pp-set-precision | FileCheck %s

// Without a loss nothing is trained.

// CHECK: pp.parameter @w trainable : tensor<8x8xbf16>
// CHECK-LABEL: nn.function @evaluated
// CHECK-SAME: %{{.*}}: tensor<8x8xbf16>)
pp.parameter @w trainable : tensor<8x8xbf16> = dense<1.5> : tensor<8x8xbf16>
pp.model @forward(%x: tensor<4x8xbf16> = #pp.input_spec<"x", axis = 0>) {
  %y = pp.layer "all" @evaluated(%x) parameters [@w] : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  pp.return outputs ["y"] %y : tensor<4x8xbf16>
}
nn.function @evaluated(%x: tensor<4x8xbf16>, %w: tensor<8x8xbf16>) -> tensor<4x8xbf16> {
  %0 = nn.matmul %x, %w : tensor<4x8xbf16>, tensor<8x8xbf16> -> tensor<4x8xbf16>
  nn.return %0 : tensor<4x8xbf16>
}
