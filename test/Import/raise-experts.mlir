// RUN: pp-opt %s --nn-raise-patterns --split-input-file --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// What transformers exports with experts_implementation="batched_mm": a matrix
// for each row, times the row as a column.

// CHECK-LABEL: nn.function @batched_mm(
// CHECK-SAME: %[[X:.*]]: tensor<6x8xf32> loc({{.*}}), %[[W:.*]]: tensor<4x16x8xf32> loc({{.*}}), %[[E:.*]]: tensor<6xi64>
nn.function @batched_mm(%x: tensor<6x8xf32>, %w: tensor<4x16x8xf32>, %e: tensor<6xi64>) -> tensor<6x16xf32> {
  // CHECK-NEXT: %[[Y:.*]] = nn.expert_matmul %[[X]], %[[W]], %[[E]] transpose_weights : {{.*}} loc("/experts/MatMul")
  // CHECK-NEXT: nn.return %[[Y]]
  %0 = nn.gather %w, %e axis 0 : tensor<4x16x8xf32>, tensor<6xi64> -> tensor<6x16x8xf32>
  %1 = nn.reshape %x : tensor<6x8xf32> -> tensor<6x8x1xf32>
  %2 = nn.matmul %0, %1 : tensor<6x16x8xf32>, tensor<6x8x1xf32> -> tensor<6x16x1xf32> loc("/experts/MatMul")
  %3 = nn.reshape %2 : tensor<6x16x1xf32> -> tensor<6x16xf32>
  nn.return %3 : tensor<6x16xf32>
}

// -----

// The same for weights that are stored the other way round: a row times a
// matrix.

// CHECK-LABEL: nn.function @row_times_matrix(
// CHECK-SAME: %[[X:.*]]: tensor<6x8xf32> loc({{.*}}), %[[W:.*]]: tensor<4x8x16xf32> loc({{.*}}), %[[E:.*]]: tensor<6xi64>
nn.function @row_times_matrix(%x: tensor<6x8xf32>, %w: tensor<4x8x16xf32>, %e: tensor<6xi64>) -> tensor<6x16xf32> {
  // CHECK-NEXT: %[[Y:.*]] = nn.expert_matmul %[[X]], %[[W]], %[[E]] :
  // CHECK-NEXT: nn.return %[[Y]]
  %0 = nn.gather %w, %e axis 0 : tensor<4x8x16xf32>, tensor<6xi64> -> tensor<6x8x16xf32>
  %1 = nn.reshape %x : tensor<6x8xf32> -> tensor<6x1x8xf32>
  %2 = nn.matmul %1, %0 : tensor<6x1x8xf32>, tensor<6x8x16xf32> -> tensor<6x1x16xf32>
  %3 = nn.reshape %2 : tensor<6x1x16xf32> -> tensor<6x16xf32>
  nn.return %3 : tensor<6x16xf32>
}

// -----

// Transposed copies are of matrices that are stored so.

// CHECK-LABEL: nn.function @transposed(
// CHECK-SAME: %[[X:.*]]: tensor<6x1x8xf32> loc({{.*}}), %[[W:.*]]: tensor<4x16x8xf32> loc({{.*}}), %[[E:.*]]: tensor<6xi64>
nn.function @transposed(%x: tensor<6x1x8xf32>, %w: tensor<4x16x8xf32>, %e: tensor<6xi64>) -> tensor<6x1x16xf32> {
  // CHECK: %[[ROWS:.*]] = nn.reshape %[[X]] : tensor<6x1x8xf32> -> tensor<6x8xf32>
  // CHECK: nn.expert_matmul %[[ROWS]], %[[W]], %[[E]] transpose_weights
  %0 = nn.gather %w, %e axis 0 : tensor<4x16x8xf32>, tensor<6xi64> -> tensor<6x16x8xf32>
  %1 = nn.transpose %0 [0, 2, 1] : tensor<6x16x8xf32> -> tensor<6x8x16xf32>
  %2 = nn.matmul %x, %1 : tensor<6x1x8xf32>, tensor<6x8x16xf32> -> tensor<6x1x16xf32>
  nn.return %2 : tensor<6x1x16xf32>
}

// -----

// Sequences that have a matrix each, by numbers of 32 bits: all rows of a
// sequence have its number.

// CHECK-LABEL: nn.function @sequences(
// CHECK-SAME: %[[X:.*]]: tensor<2x3x8xf32> loc({{.*}}), %[[W:.*]]: tensor<4x8x16xf32> loc({{.*}}), %[[E:.*]]: tensor<2xi32>
nn.function @sequences(%x: tensor<2x3x8xf32>, %w: tensor<4x8x16xf32>, %e: tensor<2xi32>) -> tensor<2x3x16xf32> {
  // CHECK: %[[ROWS:.*]] = nn.reshape %[[X]] : tensor<2x3x8xf32> -> tensor<6x8xf32>
  // CHECK: %[[LONG:.*]] = nn.cast %[[E]] : tensor<2xi32> -> tensor<2xi64>
  // CHECK: nn.broadcast %{{.*}} : tensor<2x1xi64> -> tensor<2x3xi64>
  // CHECK: %[[NUMBERS:.*]] = nn.reshape %{{.*}} : tensor<2x3xi64> -> tensor<6xi64>
  // CHECK: %[[Y:.*]] = nn.expert_matmul %[[ROWS]], %[[W]], %[[NUMBERS]] :
  // CHECK: nn.reshape %[[Y]] : tensor<6x16xf32> -> tensor<2x3x16xf32>
  %0 = nn.gather %w, %e axis 0 : tensor<4x8x16xf32>, tensor<2xi32> -> tensor<2x8x16xf32>
  %1 = nn.matmul %x, %0 : tensor<2x3x8xf32>, tensor<2x8x16xf32> -> tensor<2x3x16xf32>
  nn.return %1 : tensor<2x3x16xf32>
}

// -----

// Weights that were turned before they were looked up in are stored so.

// CHECK-LABEL: nn.function @turned_weights(
// CHECK-SAME: %[[X:.*]]: tensor<6x1x8xf32> loc({{.*}}), %[[W:.*]]: tensor<4x16x8xf32> loc({{.*}}), %[[E:.*]]: tensor<6xi64>
nn.function @turned_weights(%x: tensor<6x1x8xf32>, %w: tensor<4x16x8xf32>, %e: tensor<6xi64>) -> tensor<6x1x16xf32> {
  // CHECK: nn.expert_matmul %{{.*}}, %[[W]], %[[E]] transpose_weights
  %0 = nn.transpose %w [0, 2, 1] : tensor<4x16x8xf32> -> tensor<4x8x16xf32>
  %1 = nn.gather %0, %e axis 0 : tensor<4x8x16xf32>, tensor<6xi64> -> tensor<6x8x16xf32>
  %2 = nn.matmul %x, %1 : tensor<6x1x8xf32>, tensor<6x8x16xf32> -> tensor<6x1x16xf32>
  nn.return %2 : tensor<6x1x16xf32>
}

// -----

// Several columns for a matrix are no rows as they are stored.

// CHECK-LABEL: nn.function @columns(
// CHECK: nn.matmul
nn.function @columns(%x: tensor<6x8x3xf32>, %w: tensor<4x16x8xf32>, %e: tensor<6xi64>) -> (tensor<6x16x3xf32>, tensor<6x3x16xf32>) {
  // CHECK-NOT: nn.expert_matmul
  %0 = nn.gather %w, %e axis 0 : tensor<4x16x8xf32>, tensor<6xi64> -> tensor<6x16x8xf32>
  %1 = nn.matmul %0, %x : tensor<6x16x8xf32>, tensor<6x8x3xf32> -> tensor<6x16x3xf32>
  %2 = nn.matmul %x, %0 transpose_lhs transpose_rhs : tensor<6x8x3xf32>, tensor<6x16x8xf32> -> tensor<6x3x16xf32>
  nn.return %1, %2 : tensor<6x16x3xf32>, tensor<6x3x16xf32>
}

// -----

// Numbers that say which rows of all matrices are meant.

// CHECK-LABEL: nn.function @rows_of_matrices(
// CHECK: nn.matmul
nn.function @rows_of_matrices(%x: tensor<4x8x1xf32>, %w: tensor<4x16x8xf32>, %v: tensor<16x8xf32>, %e: tensor<6xi64>, %f: tensor<4x6xi64>) -> (tensor<4x6x1xf32>, tensor<4x6x1xf32>) {
  // CHECK-NOT: nn.expert_matmul
  %0 = nn.gather %w, %e axis 1 : tensor<4x16x8xf32>, tensor<6xi64> -> tensor<4x6x8xf32>
  %1 = nn.matmul %0, %x : tensor<4x6x8xf32>, tensor<4x8x1xf32> -> tensor<4x6x1xf32>
  %2 = nn.gather %v, %f axis 0 : tensor<16x8xf32>, tensor<4x6xi64> -> tensor<4x6x8xf32>
  %3 = nn.matmul %2, %x : tensor<4x6x8xf32>, tensor<4x8x1xf32> -> tensor<4x6x1xf32>
  nn.return %1, %3 : tensor<4x6x1xf32>, tensor<4x6x1xf32>
}
