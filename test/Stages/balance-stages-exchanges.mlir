// RUN: pp-opt %s --pp-choose-remat="layers=full,full" --pp-balance-stages="ranks=1" | FileCheck %s

// Of 160 ps of F, replicas exchange rows for 60 ps: these are kept, so that only
// 100 are needed again; 16 + 32 bytes of rows and numbers, which other layers do
// not make again.

// CHECK: pp.stage @s0 {{.*}} cost <{{.*}} picoseconds_f = 260, {{.*}} residual_bytes = 64, picoseconds_r = 200, source = formula>

pp.model @exchanged(%x: tensor<4xf32> = #pp.input_spec<"x", axis = 0>, %n: tensor<4xi64> = #pp.input_spec<"n", axis = 0>) {
  %a = pp.layer "a" @f(%x) parameters []
    cost <flops_f = 1, flops_b = 1, flops_w = 0, picoseconds_f = 100, picoseconds_b = 100, picoseconds_w = 0, activation_bytes = 16, residual_bytes = 100, input_bytes = 16, source = formula>
    : (tensor<4xf32>) -> tensor<4xf32>
  %rows = pp.exchanged %a peers 2 picoseconds 40 : tensor<4xf32>
  %numbers = pp.exchanged %n peers 2 picoseconds 20 : tensor<4xi64>
  %b = pp.layer "a/experts" @g(%rows, %numbers) parameters []
    cost <flops_f = 1, flops_b = 1, flops_w = 0, picoseconds_f = 160, picoseconds_b = 140, picoseconds_w = 0, activation_bytes = 16, residual_bytes = 100, input_bytes = 48, source = formula>
    : (tensor<4xf32>, tensor<4xi64>) -> tensor<4xf32>
  pp.return outputs ["y"] %b : tensor<4xf32>
}
nn.function @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = nn.tanh %x : tensor<4xf32>
  nn.return %y : tensor<4xf32>
}
nn.function @g(%x: tensor<4xf32>, %n: tensor<4xi64>) -> tensor<4xf32> {
  %y = nn.tanh %x : tensor<4xf32>
  nn.return %y : tensor<4xf32>
}
