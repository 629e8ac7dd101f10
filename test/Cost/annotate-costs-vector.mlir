// RUN: pp-opt %s --pp-annotate-costs="device=%inputs/vector-device.toml" | FileCheck %s

// What is no product of matrices has a peak of its own: 5e8 in place of 1e9
// FLOP/s. Bytes move at 1e9 a second.

pp.model @vector(%a: tensor<5x10xf32> = #pp.input_spec<"a", axis = 0>,
                 %q: tensor<1x2x4x8xf32> = #pp.input_spec<"q", axis = 0>,
                 %w: tensor<10x10xf32> = #pp.input_spec<"w", axis = -1>) {
  // 2*5*10*10 FLOPs.
  // CHECK: pp.layer "product" {{.*}}picoseconds_f = 1000000,
  %0 = pp.layer "product" @product(%a, %w) parameters [] : (tensor<5x10xf32>, tensor<10x10xf32>) -> tensor<5x10xf32>
  // 10 for each of 50 elements.
  // CHECK: pp.layer "exponential" {{.*}}picoseconds_f = 1000000,
  %1 = pp.layer "exponential" @exponential(%0) parameters [] : (tensor<5x10xf32>) -> tensor<5x10xf32>
  // 2*4*4 pairs of a query and a key: products of 2*(8+8) FLOPs, and 16 others.
  // CHECK: pp.layer "attention" {{.*}}picoseconds_f = 2048000,
  %2 = pp.layer "attention" @attention(%q) parameters [] : (tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32>
  // The same, and its gradient of 6*8 + 4*8 and 16.
  // CHECK: pp.layer "statistics" {{.*}}picoseconds_f = 5632000,
  %4 = pp.layer "statistics" @statistics(%q) parameters [] : (tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32>
  // Moves 400 bytes: a constant that is the same everywhere is not read.
  // CHECK: pp.layer "scale" {{.*}}picoseconds_f = 400000,
  %3 = pp.layer "scale" @scale(%1) parameters [] : (tensor<5x10xf32>) -> tensor<5x10xf32>
  pp.return outputs ["o", "p", "r"] %3, %2, %4 : tensor<5x10xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>
}
nn.function @product(%a: tensor<5x10xf32>, %w: tensor<10x10xf32>) -> tensor<5x10xf32> {
  %0 = nn.matmul %a, %w : tensor<5x10xf32>, tensor<10x10xf32> -> tensor<5x10xf32>
  nn.return %0 : tensor<5x10xf32>
}
nn.function @exponential(%a: tensor<5x10xf32>) -> tensor<5x10xf32> {
  %0 = nn.exp %a : tensor<5x10xf32>
  nn.return %0 : tensor<5x10xf32>
}
nn.function @attention(%q: tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32> {
  %0 = nn.attention %q, %q, %q scale 1.0 : (tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32>
  nn.return %0 : tensor<1x2x4x8xf32>
}
nn.function @statistics(%q: tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32> {
  %0, %1 = nn.attention_with_statistics %q, %q, %q scale 1.0 : (tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>) -> (tensor<1x2x4x8xf32>, tensor<1x2x4xf32>)
  %2, %3, %4 = nn.attention_grad %0, %q, %q, %q, %0, %1 scale 1.0 : (tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4xf32>) -> (tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>)
  nn.return %2 : tensor<1x2x4x8xf32>
}
nn.function @scale(%a: tensor<5x10xf32>) -> tensor<5x10xf32> {
  %0 = nn.constant dense<2.0> : tensor<5x10xf32>
  %1 = nn.mul %a, %0 : tensor<5x10xf32>
  nn.return %1 : tensor<5x10xf32>
}
