// RUN: pp-opt %s --nn-raise-patterns --split-input-file --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// What TorchScript emits for nn.LayerNorm before opset 17.

// CHECK-LABEL: nn.function @layer_norm(
// CHECK-SAME: %[[X:.*]]: tensor<2x4x8xf32> loc({{.*}}), %[[SCALE:.*]]: tensor<8xf32> loc({{.*}}), %[[BIAS:.*]]: tensor<8xf32>
nn.function @layer_norm(%x: tensor<2x4x8xf32>, %scale: tensor<8xf32>, %bias: tensor<8xf32>) -> tensor<2x4x8xf32> {
  // CHECK-NEXT: %[[Y:.*]], %{{.*}}, %{{.*}} = nn.layer_norm %[[X]], %[[SCALE]], %[[BIAS]] axis 2 epsilon 1.250000e-01 : {{.*}} loc("/norm/Add_1")
  // CHECK-NEXT: nn.return %[[Y]]
  %two = nn.constant dense<2.0> : tensor<2x4x8xf32>
  %epsilon = nn.constant dense<0.125> : tensor<2x4x1xf32>
  %0 = nn.reduce mean %x axes [2] : tensor<2x4x8xf32> -> tensor<2x4xf32>
  %1 = nn.reshape %0 : tensor<2x4xf32> -> tensor<2x4x1xf32>
  %2 = nn.broadcast %1 : tensor<2x4x1xf32> -> tensor<2x4x8xf32>
  %3 = nn.sub %x, %2 : tensor<2x4x8xf32>
  %4 = nn.pow %3, %two : tensor<2x4x8xf32>
  %5 = nn.reduce mean %4 axes [2] : tensor<2x4x8xf32> -> tensor<2x4xf32>
  %6 = nn.reshape %5 : tensor<2x4xf32> -> tensor<2x4x1xf32>
  %7 = nn.add %6, %epsilon : tensor<2x4x1xf32>
  %8 = nn.sqrt %7 : tensor<2x4x1xf32>
  %9 = nn.broadcast %8 : tensor<2x4x1xf32> -> tensor<2x4x8xf32>
  %10 = nn.div %3, %9 : tensor<2x4x8xf32>
  %11 = nn.broadcast %scale : tensor<8xf32> -> tensor<2x4x8xf32>
  %12 = nn.mul %10, %11 : tensor<2x4x8xf32>
  %13 = nn.broadcast %bias : tensor<8xf32> -> tensor<2x4x8xf32>
  %14 = nn.add %12, %13 : tensor<2x4x8xf32> loc("/norm/Add_1")
  nn.return %14 : tensor<2x4x8xf32>
}

// -----

// Two subtractions, a product with the reciprocal, neither scale nor bias.

// CHECK-LABEL: nn.function @layer_norm_of_two_differences(
// CHECK-SAME: %[[X:.*]]: tensor<2x8xf32>
nn.function @layer_norm_of_two_differences(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  // CHECK-NEXT: %[[ONES:.*]] = nn.constant dense<1.000000e+00> : tensor<8xf32>
  // CHECK-NEXT: nn.layer_norm %[[X]], %[[ONES]] axis 1 epsilon 1.250000e-01
  // CHECK-NEXT: nn.return
  %epsilon = nn.constant dense<0.125> : tensor<2xf32>
  %0 = nn.reduce mean %x axes [1] : tensor<2x8xf32> -> tensor<2xf32>
  %1 = nn.reshape %0 : tensor<2xf32> -> tensor<2x1xf32>
  %2 = nn.broadcast %1 : tensor<2x1xf32> -> tensor<2x8xf32>
  %3 = nn.sub %x, %2 : tensor<2x8xf32>
  %4 = nn.sub %x, %2 : tensor<2x8xf32>
  %5 = nn.mul %4, %4 : tensor<2x8xf32>
  %6 = nn.reduce mean %5 axes [1] : tensor<2x8xf32> -> tensor<2xf32>
  %7 = nn.add %epsilon, %6 : tensor<2xf32>
  %8 = nn.sqrt %7 : tensor<2xf32>
  %9 = nn.reciprocal %8 : tensor<2xf32>
  %10 = nn.reshape %9 : tensor<2xf32> -> tensor<2x1xf32>
  %11 = nn.broadcast %10 : tensor<2x1xf32> -> tensor<2x8xf32>
  %12 = nn.mul %11, %3 : tensor<2x8xf32>
  nn.return %12 : tensor<2x8xf32>
}

// -----

// A layer norm takes rows of the last axes only.

// CHECK-LABEL: nn.function @norm_of_columns
nn.function @norm_of_columns(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK-NOT: nn.layer_norm
  // CHECK: nn.div
  %epsilon = nn.constant dense<1.0e-5> : tensor<1x8xf32>
  %0 = nn.reduce mean %x axes [0] : tensor<4x8xf32> -> tensor<8xf32>
  %1 = nn.reshape %0 : tensor<8xf32> -> tensor<1x8xf32>
  %2 = nn.broadcast %1 : tensor<1x8xf32> -> tensor<4x8xf32>
  %3 = nn.sub %x, %2 : tensor<4x8xf32>
  %4 = nn.mul %3, %3 : tensor<4x8xf32>
  %5 = nn.reduce mean %4 axes [0] : tensor<4x8xf32> -> tensor<8xf32>
  %6 = nn.reshape %5 : tensor<8xf32> -> tensor<1x8xf32>
  %7 = nn.add %6, %epsilon : tensor<1x8xf32>
  %8 = nn.sqrt %7 : tensor<1x8xf32>
  %9 = nn.broadcast %8 : tensor<1x8xf32> -> tensor<4x8xf32>
  %10 = nn.div %3, %9 : tensor<4x8xf32>
  nn.return %10 : tensor<4x8xf32>
}

// -----

// Statistics of a square matrix along its rows, repeated along its columns.

// CHECK-LABEL: nn.function @mean_repeated_along_another_axis
nn.function @mean_repeated_along_another_axis(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK-NOT: nn.rms_norm
  // CHECK: nn.div
  %epsilon = nn.constant dense<1.0e-5> : tensor<4xf32>
  %0 = nn.mul %x, %x : tensor<4x4xf32>
  %1 = nn.reduce mean %0 axes [1] : tensor<4x4xf32> -> tensor<4xf32>
  %2 = nn.add %1, %epsilon : tensor<4xf32>
  %3 = nn.sqrt %2 : tensor<4xf32>
  %4 = nn.broadcast %3 : tensor<4xf32> -> tensor<4x4xf32>
  %5 = nn.div %x, %4 : tensor<4x4xf32>
  nn.return %5 : tensor<4x4xf32>
}

// -----

// What exporters emit for the norm of Llama: the scale is on the left.

// CHECK-LABEL: nn.function @rms_norm(
// CHECK-SAME: %[[X:.*]]: tensor<2x4x8xf32> loc({{.*}}), %[[SCALE:.*]]: tensor<8xf32>
nn.function @rms_norm(%x: tensor<2x4x8xf32>, %scale: tensor<8xf32>) -> tensor<2x4x8xf32> {
  // CHECK-NEXT: %[[Y:.*]], %{{.*}} = nn.rms_norm %[[X]], %[[SCALE]] axis 2 epsilon 1.250000e-01 : {{.*}} loc("/norm/Mul_1")
  // CHECK-NEXT: nn.return %[[Y]]
  %two = nn.constant dense<2.0> : tensor<2x4x8xf32>
  %one = nn.constant dense<1.0> : tensor<2x4x1xf32>
  %epsilon = nn.constant dense<0.125> : tensor<2x4x1xf32>
  %0 = nn.pow %x, %two : tensor<2x4x8xf32>
  %1 = nn.reduce mean %0 axes [2] : tensor<2x4x8xf32> -> tensor<2x4xf32>
  %2 = nn.reshape %1 : tensor<2x4xf32> -> tensor<2x4x1xf32>
  %3 = nn.add %2, %epsilon : tensor<2x4x1xf32>
  %4 = nn.sqrt %3 : tensor<2x4x1xf32>
  %5 = nn.div %one, %4 : tensor<2x4x1xf32>
  %6 = nn.broadcast %5 : tensor<2x4x1xf32> -> tensor<2x4x8xf32>
  %7 = nn.mul %x, %6 : tensor<2x4x8xf32>
  %8 = nn.broadcast %scale : tensor<8xf32> -> tensor<2x4x8xf32>
  %9 = nn.mul %8, %7 : tensor<2x4x8xf32> loc("/norm/Mul_1")
  nn.return %9 : tensor<2x4x8xf32>
}

// -----

// What TorchScript emits for nn.GELU.

// CHECK-LABEL: nn.function @gelu_erf(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
nn.function @gelu_erf(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[Y:.*]] = nn.gelu erf %[[X]] : tensor<4xf32> loc("/gelu/Mul_1")
  // CHECK-NEXT: nn.return %[[Y]]
  %sqrt2 = nn.constant dense<1.41421354> : tensor<4xf32>
  %one = nn.constant dense<1.0> : tensor<4xf32>
  %half = nn.constant dense<0.5> : tensor<4xf32>
  %0 = nn.div %x, %sqrt2 : tensor<4xf32>
  %1 = nn.erf %0 : tensor<4xf32>
  %2 = nn.add %1, %one : tensor<4xf32>
  %3 = nn.mul %x, %2 : tensor<4xf32>
  %4 = nn.mul %3, %half : tensor<4xf32> loc("/gelu/Mul_1")
  nn.return %4 : tensor<4xf32>
}

// -----

// The half first, and an operand that is a product itself.

// CHECK-LABEL: nn.function @gelu_of_product(
// CHECK-SAME: %[[A:.*]]: tensor<4xf32>
nn.function @gelu_of_product(%a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[X:.*]] = nn.mul %[[A]], %[[A]]
  // CHECK-NEXT: nn.gelu erf %[[X]]
  // CHECK-NEXT: nn.return
  %scale = nn.constant dense<0.707106769> : tensor<4xf32>
  %one = nn.constant dense<1.0> : tensor<4xf32>
  %half = nn.constant dense<0.5> : tensor<4xf32>
  %x = nn.mul %a, %a : tensor<4xf32>
  %0 = nn.mul %x, %half : tensor<4xf32>
  %1 = nn.mul %scale, %x : tensor<4xf32>
  %2 = nn.erf %1 : tensor<4xf32>
  %3 = nn.add %one, %2 : tensor<4xf32>
  %4 = nn.mul %3, %0 : tensor<4xf32>
  nn.return %4 : tensor<4xf32>
}

// -----

// gelu_new of GPT-2, its cube written as a power and as products.

// CHECK-LABEL: nn.function @gelu_tanh(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
nn.function @gelu_tanh(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[POWER:.*]] = nn.gelu tanh %[[X]] : tensor<4xf32> loc("/act/Mul_3")
  // CHECK-NEXT: %[[PRODUCTS:.*]] = nn.gelu tanh %[[X]]
  // CHECK-NEXT: nn.return %[[POWER]], %[[PRODUCTS]]
  %cubic = nn.constant dense<4.471500e-02> : tensor<4xf32>
  %root = nn.constant dense<0.797884583> : tensor<4xf32>
  %half = nn.constant dense<0.5> : tensor<4xf32>
  %one = nn.constant dense<1.0> : tensor<4xf32>
  %three = nn.constant dense<3.0> : tensor<4xf32>
  %0 = nn.mul %x, %half : tensor<4xf32>
  %1 = nn.pow %x, %three : tensor<4xf32>
  %2 = nn.mul %1, %cubic : tensor<4xf32>
  %3 = nn.add %x, %2 : tensor<4xf32>
  %4 = nn.mul %3, %root : tensor<4xf32>
  %5 = nn.tanh %4 : tensor<4xf32>
  %6 = nn.add %5, %one : tensor<4xf32>
  %7 = nn.mul %0, %6 : tensor<4xf32> loc("/act/Mul_3")

  %10 = nn.mul %x, %root : tensor<4xf32>
  %11 = nn.mul %x, %x : tensor<4xf32>
  %12 = nn.mul %11, %cubic : tensor<4xf32>
  %13 = nn.add %12, %one : tensor<4xf32>
  %14 = nn.mul %10, %13 : tensor<4xf32>
  %15 = nn.tanh %14 : tensor<4xf32>
  %16 = nn.add %15, %one : tensor<4xf32>
  %17 = nn.mul %x, %16 : tensor<4xf32>
  %18 = nn.mul %half, %17 : tensor<4xf32>
  nn.return %7, %18 : tensor<4xf32>, tensor<4xf32>
}

// -----

// Another factor is another function.

// CHECK-LABEL: nn.function @no_gelu
nn.function @no_gelu(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NOT: nn.gelu
  // CHECK: nn.erf
  %sqrt3 = nn.constant dense<1.7320508> : tensor<4xf32>
  %one = nn.constant dense<1.0> : tensor<4xf32>
  %half = nn.constant dense<0.5> : tensor<4xf32>
  %0 = nn.div %x, %sqrt3 : tensor<4xf32>
  %1 = nn.erf %0 : tensor<4xf32>
  %2 = nn.add %1, %one : tensor<4xf32>
  %3 = nn.mul %x, %2 : tensor<4xf32>
  %4 = nn.mul %3, %half : tensor<4xf32>
  nn.return %4 : tensor<4xf32>
}

// -----

// Along an inner axis.

// CHECK-LABEL: nn.function @softmax(
// CHECK-SAME: %[[X:.*]]: tensor<2x4x8xf32>
nn.function @softmax(%x: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  // CHECK-NEXT: nn.softmax %[[X]] axis 1 : tensor<2x4x8xf32> loc("/Div")
  // CHECK-NEXT: nn.return
  %0 = nn.reduce max %x axes [1] : tensor<2x4x8xf32> -> tensor<2x8xf32>
  %1 = nn.reshape %0 : tensor<2x8xf32> -> tensor<2x1x8xf32>
  %2 = nn.broadcast %1 : tensor<2x1x8xf32> -> tensor<2x4x8xf32>
  %3 = nn.sub %x, %2 : tensor<2x4x8xf32>
  %4 = nn.exp %3 : tensor<2x4x8xf32>
  %5 = nn.reduce sum %4 axes [1] : tensor<2x4x8xf32> -> tensor<2x8xf32>
  %6 = nn.reshape %5 : tensor<2x8xf32> -> tensor<2x1x8xf32>
  %7 = nn.broadcast %6 : tensor<2x1x8xf32> -> tensor<2x4x8xf32>
  %8 = nn.div %4, %7 : tensor<2x4x8xf32> loc("/Div")
  nn.return %8 : tensor<2x4x8xf32>
}
