// RUN: pp-opt %s --canonicalize --split-input-file | FileCheck %s

// CHECK-LABEL: nn.function @double_negation(
// CHECK-SAME: %[[X:.*]]: tensor
nn.function @double_negation(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.neg %x : tensor<4xf32>
  %1 = nn.neg %0 : tensor<4xf32>
  // CHECK-NEXT: nn.return %[[X]]
  nn.return %1 : tensor<4xf32>
}

// -----

// CHECK-LABEL: nn.function @cast_to_own_type(
// CHECK-SAME: %[[X:.*]]: tensor
nn.function @cast_to_own_type(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.cast %x : tensor<4xf32> -> tensor<4xf32>
  // CHECK-NEXT: nn.return %[[X]]
  nn.return %0 : tensor<4xf32>
}

// -----

// CHECK-LABEL: nn.function @multiply_and_divide_by_one(
// CHECK-SAME: %[[X:.*]]: tensor
nn.function @multiply_and_divide_by_one(%x: tensor<4xf32>) -> tensor<4xf32> {
  %one = nn.constant dense<1.0> : tensor<4xf32>
  %0 = nn.mul %one, %x : tensor<4xf32>
  %1 = nn.div %0, %one : tensor<4xf32>
  // CHECK-NEXT: nn.return %[[X]]
  nn.return %1 : tensor<4xf32>
}

// -----

// -0 + 0 is 0, so the sum is not the operand.

// CHECK-LABEL: nn.function @add_zero
nn.function @add_zero(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = nn.constant dense<0.0> : tensor<4xf32>
  // CHECK: nn.add
  %0 = nn.add %x, %zero : tensor<4xf32>
  nn.return %0 : tensor<4xf32>
}

// -----

// CHECK-LABEL: nn.function @select_by_constant(
// CHECK-SAME: %[[A:.*]]: tensor<4xf32>, %[[B:.*]]: tensor<4xf32>
nn.function @select_by_constant(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %true = nn.constant dense<true> : tensor<4xi1>
  %false = nn.constant dense<false> : tensor<4xi1>
  %0 = nn.select %true, %a, %b : tensor<4xi1>, tensor<4xf32>
  %1 = nn.select %false, %a, %b : tensor<4xi1>, tensor<4xf32>
  // CHECK-NEXT: nn.return %[[A]], %[[B]]
  nn.return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// CHECK-LABEL: nn.function @select_between_equals(
// CHECK-SAME: %{{.*}}: tensor<4xi1>, %[[A:.*]]: tensor<4xf32>
nn.function @select_between_equals(%c: tensor<4xi1>, %a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.select %c, %a, %a : tensor<4xi1>, tensor<4xf32>
  // CHECK-NEXT: nn.return %[[A]]
  nn.return %0 : tensor<4xf32>
}

// -----

// CHECK-LABEL: nn.function @small_powers(
// CHECK-SAME: %[[X:.*]]: tensor
nn.function @small_powers(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %half = nn.constant dense<0.5> : tensor<4xf32>
  %one = nn.constant dense<1.0> : tensor<4xf32>
  %two = nn.constant dense<2.0> : tensor<4xf32>
  %three = nn.constant dense<3.0> : tensor<4xf32>
  // CHECK-NEXT: %[[ROOT:.*]] = nn.sqrt %[[X]]
  // CHECK-NEXT: %[[TWO:.*]] = nn.mul %[[X]], %[[X]]
  // CHECK-NEXT: %[[SQUARE:.*]] = nn.mul %[[X]], %[[X]]
  // CHECK-NEXT: %[[CUBE:.*]] = nn.mul %[[SQUARE]], %[[X]]
  %0 = nn.pow %x, %half : tensor<4xf32>
  %1 = nn.pow %x, %one : tensor<4xf32>
  %2 = nn.pow %x, %two : tensor<4xf32>
  %3 = nn.pow %x, %three : tensor<4xf32>
  // CHECK-NEXT: nn.return %[[ROOT]], %[[X]], %[[TWO]], %[[CUBE]]
  nn.return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// CHECK-LABEL: nn.function @other_power
nn.function @other_power(%x: tensor<4xf32>) -> tensor<4xf32> {
  %exponent = nn.constant dense<2.5> : tensor<4xf32>
  // CHECK: nn.pow
  %0 = nn.pow %x, %exponent : tensor<4xf32>
  nn.return %0 : tensor<4xf32>
}
