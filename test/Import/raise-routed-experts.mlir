// RUN: pp-opt %s --nn-raise-patterns --split-input-file | FileCheck %s

// What optimum exports of GPT-OSS, in small: four experts work on all of six
// tokens, of which each chose two. Biases, halves of a product and all that is
// elementwise follow the rows.

// CHECK-LABEL: nn.function @dense_experts(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<6x8xf32>, %[[CHOSEN:[a-z0-9]+]]: tensor<6x2xi64>, %[[SHARES:[a-z0-9]+]]: tensor<6x2xf32>, %[[W1:[a-z0-9]+]]: tensor<4x8x6xf32>, %[[B1:[a-z0-9]+]]: tensor<4x6xf32>, %[[W2:[a-z0-9]+]]: tensor<4x8x3xf32>
nn.function @dense_experts(%x: tensor<6x8xf32>, %chosen: tensor<6x2xi64>, %shares: tensor<6x2xf32>, %w1: tensor<4x8x6xf32>, %b1: tensor<4x6xf32>, %w2: tensor<4x8x3xf32>) -> tensor<2x3x8xf32> {
  // CHECK: %[[ONE:.*]] = nn.constant dense<1.000000e+00> : tensor<12x3xf32>
  // CHECK: %[[NUMBERS:.*]] = nn.mod %[[CHOSEN]],
  // CHECK: %[[TWICE:.*]] = nn.broadcast %{{.*}} : tensor<6x1x8xf32> -> tensor<6x2x8xf32>
  // CHECK: %[[ROWS:.*]] = nn.reshape %[[TWICE]] : tensor<6x2x8xf32> -> tensor<12x8xf32>
  // CHECK: %[[EXPERTS:.*]] = nn.reshape %[[NUMBERS]] : tensor<6x2xi64> -> tensor<12xi64>
  // CHECK: %[[PRODUCT:.*]] = nn.expert_matmul %[[ROWS]], %[[W1]], %[[EXPERTS]] : {{.*}} -> tensor<12x6xf32>
  // CHECK: %[[BIAS:.*]] = nn.gather %[[B1]], %{{.*}} axis 0 : tensor<4x6xf32>, tensor<12xi64> -> tensor<12x6xf32>
  // CHECK: %[[SHIFTED:.*]] = nn.add %[[PRODUCT]], %[[BIAS]] : tensor<12x6xf32>
  // CHECK: %[[UP:.*]] = nn.slice %[[SHIFTED]] offsets [0, 1] strides [1, 2] : tensor<12x6xf32> -> tensor<12x3xf32>
  // CHECK: nn.add %[[UP]], %[[ONE]]
  // CHECK: %[[GATE:.*]] = nn.slice %[[SHIFTED]] offsets [0, 0] strides [1, 2] : tensor<12x6xf32> -> tensor<12x3xf32>
  // CHECK: nn.silu %[[GATE]] : tensor<12x3xf32>
  // CHECK: %[[SECOND:.*]] = nn.expert_matmul %{{.*}}, %[[W2]], %{{.*}} transpose_weights : {{.*}} -> tensor<12x8xf32>
  // CHECK: %[[EACH:.*]] = nn.reshape %[[SECOND]] : tensor<12x8xf32> -> tensor<6x2x8xf32>
  // CHECK: %[[SHARE:.*]] = nn.reshape %[[SHARES]] : tensor<6x2xf32> -> tensor<6x2x1xf32>
  // CHECK: nn.reduce sum %{{.*}} axes [1] : tensor<6x2x8xf32> -> tensor<6x8xf32>
  // CHECK-NOT: nn.matmul
  // CHECK-NOT: nn.scatter_add
  %four = nn.constant dense<4> : tensor<6x2xi64>
  %start = nn.constant dense<[[0, 0], [4, 4], [8, 8], [12, 12], [16, 16], [20, 20]]> : tensor<6x2xi64>
  %number = nn.mod %chosen, %four : tensor<6x2xi64>
  %position = nn.add %start, %number : tensor<6x2xi64>
  %scattered = nn.scatter_add %shares, %position axis 0 : tensor<6x2xf32>, tensor<6x2xi64> -> tensor<24xf32>
  %table = nn.reshape %scattered : tensor<24xf32> -> tensor<6x4xf32>
  %turned = nn.transpose %table [1, 0] : tensor<6x4xf32> -> tensor<4x6xf32>
  %factor = nn.reshape %turned : tensor<4x6xf32> -> tensor<4x2x3x1xf32>
  %all = nn.broadcast %x : tensor<6x8xf32> -> tensor<4x6x8xf32>
  %0 = nn.matmul %all, %w1 : tensor<4x6x8xf32>, tensor<4x8x6xf32> -> tensor<4x6x6xf32>
  %row = nn.reshape %b1 : tensor<4x6xf32> -> tensor<4x1x6xf32>
  %bias = nn.broadcast %row : tensor<4x1x6xf32> -> tensor<4x6x6xf32>
  %1 = nn.add %0, %bias : tensor<4x6x6xf32>
  %gate = nn.slice %1 offsets [0, 0, 0] strides [1, 1, 2] : tensor<4x6x6xf32> -> tensor<4x6x3xf32>
  %up = nn.slice %1 offsets [0, 0, 1] strides [1, 1, 2] : tensor<4x6x6xf32> -> tensor<4x6x3xf32>
  %2 = nn.sigmoid %gate : tensor<4x6x3xf32>
  %3 = nn.mul %gate, %2 : tensor<4x6x3xf32>
  %one = nn.constant dense<1.0> : tensor<4x6x3xf32>
  %4 = nn.add %up, %one : tensor<4x6x3xf32>
  %5 = nn.mul %4, %3 : tensor<4x6x3xf32>
  %6 = nn.matmul %5, %w2 transpose_rhs : tensor<4x6x3xf32>, tensor<4x8x3xf32> -> tensor<4x6x8xf32>
  %7 = nn.reshape %6 : tensor<4x6x8xf32> -> tensor<4x2x3x8xf32>
  %8 = nn.broadcast %factor : tensor<4x2x3x1xf32> -> tensor<4x2x3x8xf32>
  %9 = nn.mul %7, %8 : tensor<4x2x3x8xf32>
  %10 = nn.reduce sum %9 axes [0] : tensor<4x2x3x8xf32> -> tensor<2x3x8xf32>
  nn.return %10 : tensor<2x3x8xf32>
}

// -----

// Weights that nothing says are zero for other experts.

// CHECK-LABEL: nn.function @all_count(
// CHECK: nn.matmul
nn.function @all_count(%x: tensor<6x8xf32>, %table: tensor<6x4xf32>, %w: tensor<4x8x3xf32>) -> tensor<6x3xf32> {
  // CHECK-NOT: nn.expert_matmul
  %turned = nn.transpose %table [1, 0] : tensor<6x4xf32> -> tensor<4x6xf32>
  %factor = nn.reshape %turned : tensor<4x6xf32> -> tensor<4x6x1xf32>
  %all = nn.broadcast %x : tensor<6x8xf32> -> tensor<4x6x8xf32>
  %0 = nn.matmul %all, %w : tensor<4x6x8xf32>, tensor<4x8x3xf32> -> tensor<4x6x3xf32>
  %1 = nn.broadcast %factor : tensor<4x6x1xf32> -> tensor<4x6x3xf32>
  %2 = nn.mul %0, %1 : tensor<4x6x3xf32>
  %3 = nn.reduce sum %2 axes [0] : tensor<4x6x3xf32> -> tensor<6x3xf32>
  nn.return %3 : tensor<6x3xf32>
}

// -----

// A table in which a token's weights may be in rows of others: the starts of
// the rows are wrong.

// CHECK-LABEL: nn.function @mixed_rows(
// CHECK: nn.matmul
nn.function @mixed_rows(%x: tensor<6x8xf32>, %chosen: tensor<6x2xi64>, %shares: tensor<6x2xf32>, %w: tensor<4x8x3xf32>) -> tensor<6x3xf32> {
  // CHECK-NOT: nn.expert_matmul
  %four = nn.constant dense<4> : tensor<6x2xi64>
  %start = nn.constant dense<[[4, 4], [0, 0], [8, 8], [12, 12], [16, 16], [20, 20]]> : tensor<6x2xi64>
  %number = nn.mod %chosen, %four : tensor<6x2xi64>
  %position = nn.add %start, %number : tensor<6x2xi64>
  %scattered = nn.scatter_add %shares, %position axis 0 : tensor<6x2xf32>, tensor<6x2xi64> -> tensor<24xf32>
  %table = nn.reshape %scattered : tensor<24xf32> -> tensor<6x4xf32>
  %turned = nn.transpose %table [1, 0] : tensor<6x4xf32> -> tensor<4x6xf32>
  %factor = nn.reshape %turned : tensor<4x6xf32> -> tensor<4x6x1xf32>
  %all = nn.broadcast %x : tensor<6x8xf32> -> tensor<4x6x8xf32>
  %0 = nn.matmul %all, %w : tensor<4x6x8xf32>, tensor<4x8x3xf32> -> tensor<4x6x3xf32>
  %1 = nn.broadcast %factor : tensor<4x6x1xf32> -> tensor<4x6x3xf32>
  %2 = nn.mul %0, %1 : tensor<4x6x3xf32>
  %3 = nn.reduce sum %2 axes [0] : tensor<4x6x3xf32> -> tensor<6x3xf32>
  nn.return %3 : tensor<6x3xf32>
}

// -----

// Experts that see what others computed: a softmax over them.

// CHECK-LABEL: nn.function @mixed_experts(
// CHECK: nn.matmul
nn.function @mixed_experts(%x: tensor<6x8xf32>, %chosen: tensor<6x2xi64>, %shares: tensor<6x2xf32>, %w: tensor<4x8x3xf32>) -> tensor<6x3xf32> {
  // CHECK-NOT: nn.expert_matmul
  %four = nn.constant dense<4> : tensor<6x2xi64>
  %start = nn.constant dense<[[0, 0], [4, 4], [8, 8], [12, 12], [16, 16], [20, 20]]> : tensor<6x2xi64>
  %number = nn.mod %chosen, %four : tensor<6x2xi64>
  %position = nn.add %start, %number : tensor<6x2xi64>
  %scattered = nn.scatter_add %shares, %position axis 0 : tensor<6x2xf32>, tensor<6x2xi64> -> tensor<24xf32>
  %table = nn.reshape %scattered : tensor<24xf32> -> tensor<6x4xf32>
  %turned = nn.transpose %table [1, 0] : tensor<6x4xf32> -> tensor<4x6xf32>
  %factor = nn.reshape %turned : tensor<4x6xf32> -> tensor<4x6x1xf32>
  %all = nn.broadcast %x : tensor<6x8xf32> -> tensor<4x6x8xf32>
  %0 = nn.matmul %all, %w : tensor<4x6x8xf32>, tensor<4x8x3xf32> -> tensor<4x6x3xf32>
  %soft = nn.softmax %0 axis 0 : tensor<4x6x3xf32>
  %1 = nn.broadcast %factor : tensor<4x6x1xf32> -> tensor<4x6x3xf32>
  %2 = nn.mul %soft, %1 : tensor<4x6x3xf32>
  %3 = nn.reduce sum %2 axes [0] : tensor<4x6x3xf32> -> tensor<6x3xf32>
  nn.return %3 : tensor<6x3xf32>
}

// -----

// Where every token chose all experts, one product of each is as good.

// CHECK-LABEL: nn.function @all_chosen(
// CHECK: nn.matmul
nn.function @all_chosen(%x: tensor<6x8xf32>, %chosen: tensor<6x2xi64>, %shares: tensor<6x2xf32>, %w: tensor<2x8x3xf32>) -> tensor<6x3xf32> {
  // CHECK-NOT: nn.expert_matmul
  %two = nn.constant dense<2> : tensor<6x2xi64>
  %start = nn.constant dense<[[0, 0], [2, 2], [4, 4], [6, 6], [8, 8], [10, 10]]> : tensor<6x2xi64>
  %number = nn.mod %chosen, %two : tensor<6x2xi64>
  %position = nn.add %start, %number : tensor<6x2xi64>
  %scattered = nn.scatter_add %shares, %position axis 0 : tensor<6x2xf32>, tensor<6x2xi64> -> tensor<12xf32>
  %table = nn.reshape %scattered : tensor<12xf32> -> tensor<6x2xf32>
  %turned = nn.transpose %table [1, 0] : tensor<6x2xf32> -> tensor<2x6xf32>
  %factor = nn.reshape %turned : tensor<2x6xf32> -> tensor<2x6x1xf32>
  %all = nn.broadcast %x : tensor<6x8xf32> -> tensor<2x6x8xf32>
  %0 = nn.matmul %all, %w : tensor<2x6x8xf32>, tensor<2x8x3xf32> -> tensor<2x6x3xf32>
  %1 = nn.broadcast %factor : tensor<2x6x1xf32> -> tensor<2x6x3xf32>
  %2 = nn.mul %0, %1 : tensor<2x6x3xf32>
  %3 = nn.reduce sum %2 axes [0] : tensor<2x6x3xf32> -> tensor<6x3xf32>
  nn.return %3 : tensor<6x3xf32>
}
