// RUN: pp-opt %s --split-input-file --pp-annotate-costs="device=%inputs/even-device.toml topology=%inputs/two-servers.toml" | FileCheck %s --check-prefixes=CHECK,BUS
// RUN: pp-opt %s --split-input-file --pp-annotate-costs="device=%inputs/even-device.toml topology=%inputs/two-servers.toml ranks=2" | FileCheck %s --check-prefixes=CHECK,ETHERNET
// RUN: pp-opt %s --split-input-file --pp-annotate-costs="device=%inputs/even-device.toml profile=%inputs/links-profile.json" 2>/dev/null | FileCheck %s --check-prefixes=CHECK,MEASURED
// RUN: pp-opt %s --split-input-file --pp-annotate-costs="device=%inputs/even-device.toml" | FileCheck %s --check-prefixes=CHECK,NONE
// RUN: pp-opt %s --split-input-file --pp-annotate-costs="device=%inputs/even-device.toml capacity=2" | FileCheck %s --check-prefixes=CHECK,CAPACITY

// The activation takes 160 ns. Before it there are two exchanges, of blocks of
// 32 and 16 bytes: over the bus, which moves a byte in a picosecond, in 1 s
// each; between pipelines of two ranks, which share an ethernet, in 10 s; by
// the profile, at 4 bytes a second, in 0.5 + 8 and 0.5 + 4 s. Only the first has
// a gradient to send back.

// CHECK-LABEL: pp.model @exchanged
pp.model @exchanged(%x: tensor<4x4xf32> = #pp.input_spec<"x", axis = 0>, %n: tensor<4xi64> = #pp.input_spec<"n", axis = 0>) {
  // CHECK: pp.layer "a" {{.*}} picoseconds_f = 160000, picoseconds_b = 0,
  // BUS: pp.exchanged {{.*}} peers 2 picoseconds 1000000000032 : tensor<4x4xf32>
  // BUS: pp.exchanged {{.*}} peers 2 picoseconds 1000000000016 : tensor<4xi64>
  // BUS: pp.layer "a/experts" {{.*}} picoseconds_f = 2000000160048, picoseconds_b = 1000000000032,
  // ETHERNET: pp.layer "a/experts" {{.*}} picoseconds_f = 20000000160096, picoseconds_b = 10000000000064,
  // MEASURED: pp.layer "a/experts" {{.*}} picoseconds_f = 13000000160000, picoseconds_b = 8500000000000,
  // NONE: pp.layer "a/experts" {{.*}} picoseconds_f = 160000, picoseconds_b = 0,
  %0 = pp.layer "a" @act(%x) parameters [] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = pp.exchanged %0 peers 2 : tensor<4x4xf32>
  %2 = pp.exchanged %n peers 2 : tensor<4xi64>
  %3 = pp.layer "a/experts" @experts(%1, %2) parameters [] : (tensor<4x4xf32>, tensor<4xi64>) -> tensor<4x4xf32>
  pp.return outputs ["y"] %3 : tensor<4x4xf32>
}
nn.function @act(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = nn.tanh %x : tensor<4x4xf32>
  nn.return %0 : tensor<4x4xf32>
}
nn.function @experts(%x: tensor<4x4xf32>, %n: tensor<4xi64>) -> tensor<4x4xf32> {
  %0 = nn.tanh %x : tensor<4x4xf32>
  nn.return %0 : tensor<4x4xf32>
}

// -----

// Four replicas: one on the bus, two over the ethernet, which both ranks of the
// node share. The latencies are at the same time. Nothing goes back where the
// derivative has no B.

// CHECK-LABEL: pp.model @without_backward
pp.model @without_backward(%x: tensor<4x4xf32> = #pp.input_spec<"x", axis = 0>) {
  // BUS: pp.layer "a" {{.*}} picoseconds_f = 10000000160080, picoseconds_b = 0,
  %0 = pp.exchanged %x peers 4 : tensor<4x4xf32>
  %1 = pp.layer "a" @act(%0) parameters [] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  pp.return outputs ["y"] %1 : tensor<4x4xf32>
}
nn.function @act(%x: tensor<4x4xf32>) -> tensor<4x4xf32>
nn.function @act.f(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = nn.tanh %x : tensor<4x4xf32>
  nn.return %0 : tensor<4x4xf32>
}
nn.derivative @act forward @act.f operands [] gradients [] operands [] gradients []

// -----

// Each of four peers has room for its eight rows at each of the others: of 32
// rows one in four has an expert, of twice an even share one in two. A product
// does 2*4*8 FLOPs for a row.

// CHECK-LABEL: pp.model @filled_rows
pp.parameter @w shards 4 : tensor<2x4x8xf32> = dense<0.0> : tensor<8x4x8xf32>
pp.model @filled_rows(%x: tensor<32x4xf32> = #pp.input_spec<"x", axis = 0>, %n: tensor<32xi64> = #pp.input_spec<"n", axis = 0>) {
  // NONE: pp.layer "experts" {{.*}} cost <flops_f = 512, flops_b = 512, flops_w = 512,
  // CAPACITY: pp.layer "experts" {{.*}} cost <flops_f = 1024, flops_b = 1024, flops_w = 1024,
  %0 = pp.exchanged %x peers 4 : tensor<32x4xf32>
  %1 = pp.exchanged %n peers 4 : tensor<32xi64>
  %2 = pp.layer "experts" @experts(%0, %1) parameters [@w] : (tensor<32x4xf32>, tensor<32xi64>) -> tensor<32x8xf32>
  pp.return outputs ["y"] %2 : tensor<32x8xf32>
}
nn.function @experts(%x: tensor<32x4xf32>, %n: tensor<32xi64>, %w: tensor<2x4x8xf32>) -> tensor<32x8xf32> {
  %0 = nn.expert_matmul %x, %w, %n : tensor<32x4xf32>, tensor<2x4x8xf32>, tensor<32xi64> -> tensor<32x8xf32>
  nn.return %0 : tensor<32x8xf32>
}
