// RUN: pp-opt %s --pp-annotate-costs --pp-balance-stages="ranks=2" | FileCheck %s --check-prefix=TIME
// RUN: pp-opt %s --pp-balance-stages="ranks=2 balance=params" | FileCheck %s --check-prefix=PARAMS
// RUN: pp-opt %s --pp-balance-stages="ranks=2 balance=uniform" | FileCheck %s --check-prefix=UNIFORM
// RUN: pp-opt %s --pp-balance-stages="ranks=2 chunks=2 balance=uniform" | FileCheck %s --check-prefix=CHUNKS
// RUN: pp-opt %s --pp-balance-stages="ranks=3 balance=uniform split-at=Gemm_7,b" | FileCheck %s --check-prefix=SPLIT
// RUN: pp-opt %s --pp-balance-stages="ranks=2 chunks=2 placement=0,1,1,0 balance=uniform" | FileCheck %s --check-prefix=PLACED

// Four layers and a loss, which is none of its own where layers are counted.
// The last layer does eight times the work of the others; the first has the
// most parameters. Node Gemm_7 lies in layer d.

// TIME: pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a", "b", "c"] parameters [@table, @w] cost <
// TIME: pp.stage @s1 index 1 rank 1 chunk 0 first_layer 3 layers ["d", "loss"] parameters [@w] cost <

// PARAMS: pp.stage @s0 {{.*}} layers ["a"] parameters [@table]
// PARAMS: pp.stage @s1 {{.*}} first_layer 1 layers ["b", "c", "d", "loss"] parameters [@w]

// UNIFORM: pp.stage @s0 {{.*}} layers ["a", "b"]
// UNIFORM: pp.stage @s1 {{.*}} first_layer 2 layers ["c", "d", "loss"]

// CHUNKS: pp.stage @s0 index 0 rank 0 chunk 0
// CHUNKS: pp.stage @s1 index 1 rank 1 chunk 0
// CHUNKS: pp.stage @s2 index 2 rank 0 chunk 1
// CHUNKS: pp.stage @s3 index 3 rank 1 chunk 1 first_layer 3 layers ["d", "loss"]

// PLACED: pp.stage @s0 index 0 rank 0 chunk 0
// PLACED: pp.stage @s1 index 1 rank 1 chunk 0
// PLACED: pp.stage @s2 index 2 rank 1 chunk 1
// PLACED: pp.stage @s3 index 3 rank 0 chunk 1 first_layer 3 layers ["d", "loss"]

// SPLIT: pp.stage @s0 {{.*}} layers ["a"]
// SPLIT: pp.stage @s1 {{.*}} layers ["b", "c"]
// SPLIT: pp.stage @s2 {{.*}} layers ["d", "loss"]

pp.parameter @table : tensor<999x64xf32> = dense<0.0> : tensor<999x64xf32>
pp.parameter @w : tensor<64x64xf32> = dense<0.0> : tensor<64x64xf32>
pp.model @model(%ids: tensor<32xi64> = #pp.input_spec<"ids", axis = 0>) {
  %a = pp.layer "a" @look_up(%ids) parameters [@table] : (tensor<32xi64>) -> tensor<32x64xf32>
  %b = pp.layer "b" @linear(%a) parameters [@w] : (tensor<32x64xf32>) -> tensor<32x64xf32>
  %c = pp.layer "c" @linear(%b) parameters [@w] : (tensor<32x64xf32>) -> tensor<32x64xf32>
  %d = pp.layer "d" @heavy(%c) parameters [@w] : (tensor<32x64xf32>) -> tensor<32x64xf32> loc(fused["MatMul_6", "Gemm_7"])
  %sum, %weight = pp.layer "loss" @loss(%d, %ids) parameters [] : (tensor<32x64xf32>, tensor<32xi64>) -> (tensor<f32>, tensor<f32>)
  pp.return outputs [] loss %sum, %weight : tensor<f32>, tensor<f32>
}
nn.function @look_up(%ids: tensor<32xi64>, %table: tensor<999x64xf32>) -> tensor<32x64xf32> {
  %0 = nn.gather %table, %ids axis 0 : tensor<999x64xf32>, tensor<32xi64> -> tensor<32x64xf32>
  nn.return %0 : tensor<32x64xf32>
}
nn.function @linear(%x: tensor<32x64xf32>, %w: tensor<64x64xf32>) -> tensor<32x64xf32> {
  %0 = nn.matmul %x, %w : tensor<32x64xf32>, tensor<64x64xf32> -> tensor<32x64xf32>
  nn.return %0 : tensor<32x64xf32>
}
nn.function @heavy(%x: tensor<32x64xf32>, %w: tensor<64x64xf32>) -> tensor<32x64xf32> {
  %0 = nn.matmul %x, %w : tensor<32x64xf32>, tensor<64x64xf32> -> tensor<32x64xf32>
  %1 = nn.matmul %0, %w : tensor<32x64xf32>, tensor<64x64xf32> -> tensor<32x64xf32>
  %2 = nn.matmul %1, %w : tensor<32x64xf32>, tensor<64x64xf32> -> tensor<32x64xf32>
  %3 = nn.matmul %2, %w : tensor<32x64xf32>, tensor<64x64xf32> -> tensor<32x64xf32>
  nn.return %3 : tensor<32x64xf32>
}
nn.function @loss(%x: tensor<32x64xf32>, %ids: tensor<32xi64>) -> (tensor<f32>, tensor<f32>) {
  %sum, %weight = nn.cross_entropy %x, %ids ignore -100 : (tensor<32x64xf32>, tensor<32xi64>) -> (tensor<f32>, tensor<f32>)
  nn.return %sum, %weight : tensor<f32>, tensor<f32>
}
