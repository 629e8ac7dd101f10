// RUN: pp-opt %s --pp-annotate-costs="device=%inputs/typed-device.json" | FileCheck %s

// Products of 2*5*10*10 = 1000 FLOPs, for which the device reaches half of its
// peak, in the type of their operands, whatever the type of the result.

pp.model @types(%a: tensor<5x10xf64> = #pp.input_spec<"a", axis = 0>,
                %b: tensor<5x10xf32> = #pp.input_spec<"b", axis = 0>,
                %c: tensor<5x10xbf16> = #pp.input_spec<"c", axis = 0>,
                %d: tensor<5x10xf16> = #pp.input_spec<"d", axis = 0>,
                %v: tensor<10x10xf64> = #pp.input_spec<"v", axis = -1>,
                %w: tensor<10x10xf32> = #pp.input_spec<"w", axis = -1>,
                %x: tensor<10x10xbf16> = #pp.input_spec<"x", axis = -1>,
                %y: tensor<10x10xf16> = #pp.input_spec<"y", axis = -1>) {
  // CHECK: pp.layer "f64" {{.*}}picoseconds_f = 3000000,
  %0 = pp.layer "f64" @f64(%a, %v) parameters [] : (tensor<5x10xf64>, tensor<10x10xf64>) -> tensor<5x10xf64>
  // CHECK: pp.layer "f32" {{.*}}picoseconds_f = 2000000,
  %1 = pp.layer "f32" @f32(%b, %w) parameters [] : (tensor<5x10xf32>, tensor<10x10xf32>) -> tensor<5x10xf32>
  // CHECK: pp.layer "bf16" {{.*}}picoseconds_f = 1500000,
  %2 = pp.layer "bf16" @bf16(%c, %x) parameters [] : (tensor<5x10xbf16>, tensor<10x10xbf16>) -> tensor<5x10xf32>
  // CHECK: pp.layer "f16" {{.*}}picoseconds_f = 1250000,
  %3 = pp.layer "f16" @f16(%d, %y) parameters [] : (tensor<5x10xf16>, tensor<10x10xf16>) -> tensor<5x10xf16>
  pp.return outputs ["o"] %0 : tensor<5x10xf64>
}
nn.function @f64(%a: tensor<5x10xf64>, %b: tensor<10x10xf64>) -> tensor<5x10xf64> {
  %0 = nn.matmul %a, %b : tensor<5x10xf64>, tensor<10x10xf64> -> tensor<5x10xf64>
  nn.return %0 : tensor<5x10xf64>
}
nn.function @f32(%a: tensor<5x10xf32>, %b: tensor<10x10xf32>) -> tensor<5x10xf32> {
  %0 = nn.matmul %a, %b : tensor<5x10xf32>, tensor<10x10xf32> -> tensor<5x10xf32>
  nn.return %0 : tensor<5x10xf32>
}
nn.function @bf16(%a: tensor<5x10xbf16>, %b: tensor<10x10xbf16>) -> tensor<5x10xf32> {
  %0 = nn.matmul %a, %b : tensor<5x10xbf16>, tensor<10x10xbf16> -> tensor<5x10xf32>
  nn.return %0 : tensor<5x10xf32>
}
nn.function @f16(%a: tensor<5x10xf16>, %b: tensor<10x10xf16>) -> tensor<5x10xf16> {
  %0 = nn.matmul %a, %b : tensor<5x10xf16>, tensor<10x10xf16> -> tensor<5x10xf16>
  nn.return %0 : tensor<5x10xf16>
}
