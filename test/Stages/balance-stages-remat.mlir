// RUN: pp-opt %s --pp-choose-remat="layers=none,selective,full,full" --pp-balance-stages="ranks=1" | FileCheck %s
// RUN: pp-opt %s --pp-choose-remat="layers=full,full,none,none" --pp-balance-stages="ranks=3" | FileCheck %s --check-prefix=FIRST
// RUN: pp-opt %s --pp-choose-remat="layers=none,none,full,full" --pp-balance-stages="ranks=3" | FileCheck %s --check-prefix=LAST

// What a stage recomputes is the selective layer's R and the full layers' F,
// and it keeps what each policy keeps: nothing of the second of two full layers.

// CHECK: pp.stage @s0 {{.*}} cost <flops_f = 4, flops_b = 4, flops_w = 4, picoseconds_f = 400, picoseconds_b = 400, picoseconds_w = 400, activation_bytes = 64, residual_bytes = 146, picoseconds_r = 230, source = formula>

// Recomputation is time too: the two layers of one stage are those without.

// FIRST: pp.stage @s0 {{.*}} layers ["a"]
// FIRST: pp.stage @s1 {{.*}} layers ["b"]
// FIRST: pp.stage @s2 {{.*}} layers ["c", "d"]
// LAST: pp.stage @s0 {{.*}} layers ["a", "b"]
// LAST: pp.stage @s1 {{.*}} layers ["c"]
// LAST: pp.stage @s2 {{.*}} layers ["d"]

pp.parameter @w : tensor<4xf32> = dense<0.0> : tensor<4xf32>
pp.model @four(%x: tensor<4xf32> = #pp.input_spec<"x", axis = 0>) {
  %a = pp.layer "a" @f(%x) parameters [@w]
    cost <flops_f = 1, flops_b = 1, flops_w = 1, picoseconds_f = 100, picoseconds_b = 100, picoseconds_w = 100, activation_bytes = 16, residual_bytes = 100, picoseconds_r = 30, selective_bytes = 30, source = formula>
    : (tensor<4xf32>) -> tensor<4xf32>
  %b = pp.layer "b" @f(%a) parameters [@w]
    cost <flops_f = 1, flops_b = 1, flops_w = 1, picoseconds_f = 100, picoseconds_b = 100, picoseconds_w = 100, activation_bytes = 16, residual_bytes = 100, picoseconds_r = 30, selective_bytes = 30, input_bytes = 16, source = formula>
    : (tensor<4xf32>) -> tensor<4xf32>
  %c = pp.layer "c" @f(%b) parameters [@w]
    cost <flops_f = 1, flops_b = 1, flops_w = 1, picoseconds_f = 100, picoseconds_b = 100, picoseconds_w = 100, activation_bytes = 16, residual_bytes = 100, picoseconds_r = 30, selective_bytes = 30, input_bytes = 16, source = formula>
    : (tensor<4xf32>) -> tensor<4xf32>
  %d = pp.layer "d" @f(%c) parameters [@w]
    cost <flops_f = 1, flops_b = 1, flops_w = 1, picoseconds_f = 100, picoseconds_b = 100, picoseconds_w = 100, activation_bytes = 16, residual_bytes = 100, picoseconds_r = 30, selective_bytes = 30, input_bytes = 16, source = formula>
    : (tensor<4xf32>) -> tensor<4xf32>
  pp.return outputs ["d"] %d : tensor<4xf32>
}
nn.function @f(%x: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32> {
  %y = nn.mul %x, %w : tensor<4xf32>
  nn.return %y : tensor<4xf32>
}
