// RUN: pp-opt %s | pp-opt | FileCheck %s
// RUN: pp-opt %s --mlir-print-op-generic | pp-opt | FileCheck %s

// CHECK-LABEL: nn.function @token_loss
nn.function @token_loss(%logits: tensor<2x8x256xf32>, %labels: tensor<2x8xi64>) -> tensor<2x8x256xf32> {
  // CHECK: %[[SUM:.*]], %{{.*}} = nn.cross_entropy %{{.*}}, %{{.*}} ignore -100 : (tensor<2x8x256xf32>, tensor<2x8xi64>) -> (tensor<f32>, tensor<f32>)
  %sum, %weight = nn.cross_entropy %logits, %labels ignore -100 : (tensor<2x8x256xf32>, tensor<2x8xi64>) -> (tensor<f32>, tensor<f32>)
  // CHECK: nn.cross_entropy_grad %[[SUM]], %{{.*}}, %{{.*}} ignore -100 : (tensor<f32>, tensor<2x8x256xf32>, tensor<2x8xi64>) -> tensor<2x8x256xf32>
  %0 = nn.cross_entropy_grad %sum, %logits, %labels ignore -100 : (tensor<f32>, tensor<2x8x256xf32>, tensor<2x8xi64>) -> tensor<2x8x256xf32>
  nn.return %0 : tensor<2x8x256xf32>
}
