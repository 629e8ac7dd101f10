// RUN: split-file %s %t
// RUN: pp-opt %t/model.mlir --pp-balance-stages="ranks=3 sizes=1,2,1" | FileCheck %s
// RUN: not pp-opt %t/model.mlir --pp-balance-stages="ranks=3 sizes=1,2,2" 2>&1 | FileCheck %s --check-prefix=SUM
// RUN: not pp-opt %t/model.mlir --pp-balance-stages="ranks=3 sizes=1,3" 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: not pp-opt %t/model.mlir --pp-balance-stages="ranks=3 sizes=1,3,0" 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: not pp-opt %t/model.mlir --pp-balance-stages="ranks=3 sizes=1,2,1 split-at=b" 2>&1 | FileCheck %s --check-prefix=BOTH

// The loss has no parameters: it stays with the layer before it and does not
// count.

// CHECK: pp.stage @s0 {{.*}} layers ["a"]
// CHECK: pp.stage @s1 {{.*}} layers ["b", "c"]
// CHECK: pp.stage @s2 {{.*}} layers ["d", "loss"]

// SUM: error: the model has 4 layers, but the stages hold 5; the layers are 'a', 'b', 'c', 'd'
// COUNT: error: cannot be cut into 3 stages by the sizes of 2
// EMPTY: error: has no layer for stage 2
// BOTH: error: cannot be cut both by sizes and at nodes

//--- model.mlir
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
