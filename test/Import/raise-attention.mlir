// RUN: pp-opt %s --nn-raise-patterns --canonicalize --split-input-file | FileCheck %s
// RUN: pp-opt %s --nn-raise-patterns --split-input-file --remarks-filter=raise -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// GPT-2 as TorchScript writes it: the quotient, then a choice by a triangle,
// then a mask of the batch.

// CHECK-LABEL: nn.function @gpt2(
// CHECK-SAME: %[[Q:.*]]: tensor<2x3x4x16xf32>, %[[K:.*]]: tensor<2x4x3x16xf32>, %[[V:.*]]: tensor<2x3x4x16xf32>, %[[M:.*]]: tensor<2x1x1x4xf32>)
nn.function @gpt2(%q: tensor<2x3x4x16xf32>, %k: tensor<2x4x3x16xf32>, %v: tensor<2x3x4x16xf32>, %m: tensor<2x1x1x4xf32>) -> tensor<2x3x4x16xf32> {
  // CHECK-NEXT: %[[T:.*]] = nn.transpose %[[K]] [0, 2, 1, 3]
  // CHECK-NEXT: %[[Y:.*]] = nn.attention %[[Q]], %[[T]], %[[V]] mask %[[M]] causal scale 2.500000e-01
  // CHECK-NEXT: nn.return %[[Y]]
  // REMARK: remark: [Passed] attention | Category:raise
  %root = nn.constant dense<4.0> : tensor<2x3x4x4xf32>
  %low = nn.constant dense<-3.4028235e38> : tensor<2x3x4x4xf32>
  %seen = nn.constant dense<[[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]]> : tensor<4x4xi1>
  %0 = nn.transpose %k [0, 2, 3, 1] : tensor<2x4x3x16xf32> -> tensor<2x3x16x4xf32>
  %1 = nn.matmul %q, %0 : tensor<2x3x4x16xf32>, tensor<2x3x16x4xf32> -> tensor<2x3x4x4xf32>
  %2 = nn.div %1, %root : tensor<2x3x4x4xf32>
  %3 = nn.broadcast %seen : tensor<4x4xi1> -> tensor<2x3x4x4xi1>
  %4 = nn.select %3, %2, %low : tensor<2x3x4x4xi1>, tensor<2x3x4x4xf32>
  %5 = nn.broadcast %m : tensor<2x1x1x4xf32> -> tensor<2x3x4x4xf32>
  %6 = nn.add %4, %5 : tensor<2x3x4x4xf32>
  %7 = nn.softmax %6 axis 3 : tensor<2x3x4x4xf32>
  %8 = nn.matmul %7, %v : tensor<2x3x4x4xf32>, tensor<2x3x4x16xf32> -> tensor<2x3x4x16xf32>
  nn.return %8 : tensor<2x3x4x16xf32>
}

// -----

// Products without an axis for heads, a mask with one: OPT, BLOOM.

// CHECK-LABEL: nn.function @joined_heads(
// CHECK-SAME: %[[Q:.*]]: tensor<6x4x8xf32>, %[[K:.*]]: tensor<6x5x8xf32>, %[[V:.*]]: tensor<6x5x7xf32>, %[[M:.*]]: tensor<2x1x4x5xf32>)
nn.function @joined_heads(%q: tensor<6x4x8xf32>, %k: tensor<6x5x8xf32>, %v: tensor<6x5x7xf32>, %m: tensor<2x1x4x5xf32>) -> tensor<6x4x7xf32> {
  // CHECK-DAG: %[[Q4:.*]] = nn.reshape %[[Q]] : tensor<6x4x8xf32> -> tensor<2x3x4x8xf32>
  // CHECK-DAG: %[[K4:.*]] = nn.reshape %[[K]] : tensor<6x5x8xf32> -> tensor<2x3x5x8xf32>
  // CHECK-DAG: %[[V4:.*]] = nn.reshape %[[V]] : tensor<6x5x7xf32> -> tensor<2x3x5x7xf32>
  // CHECK: %[[Y:.*]] = nn.attention %[[Q4]], %[[K4]], %[[V4]] mask %[[M]] scale 1.000000e+00
  // CHECK: nn.reshape %[[Y]] : tensor<2x3x4x7xf32> -> tensor<6x4x7xf32>
  %0 = nn.matmul %q, %k transpose_rhs : tensor<6x4x8xf32>, tensor<6x5x8xf32> -> tensor<6x4x5xf32>
  %1 = nn.reshape %0 : tensor<6x4x5xf32> -> tensor<2x3x4x5xf32>
  %2 = nn.broadcast %m : tensor<2x1x4x5xf32> -> tensor<2x3x4x5xf32>
  %3 = nn.add %2, %1 : tensor<2x3x4x5xf32>
  %4 = nn.softmax %3 axis 3 : tensor<2x3x4x5xf32>
  %5 = nn.reshape %4 : tensor<2x3x4x5xf32> -> tensor<6x4x5xf32>
  %6 = nn.matmul %5, %v : tensor<6x4x5xf32>, tensor<6x5x7xf32> -> tensor<6x4x7xf32>
  nn.return %6 : tensor<6x4x7xf32>
}

// -----

// BLOOM: what depends on the head is added without an axis for it.

// CHECK-LABEL: nn.function @bloom(
// CHECK-SAME: %[[Q:.*]]: tensor<6x4x8xf32>, %[[A:.*]]: tensor<6x1x4xf32>, %[[M:.*]]: tensor<2x1x4x4xf32>)
nn.function @bloom(%q: tensor<6x4x8xf32>, %a: tensor<6x1x4xf32>, %m: tensor<2x1x4x4xf32>) -> tensor<6x4x8xf32> {
  // CHECK-DAG: %[[A4:.*]] = nn.reshape %[[A]] : tensor<6x1x4xf32> -> tensor<2x3x1x4xf32>
  // CHECK-DAG: %[[MW:.*]] = nn.broadcast %[[M]] : tensor<2x1x4x4xf32> -> tensor<2x3x4x4xf32>
  // CHECK-DAG: %[[AW:.*]] = nn.broadcast %[[A4]] : tensor<2x3x1x4xf32> -> tensor<2x3x4x4xf32>
  // CHECK: %[[S:.*]] = nn.add %[[MW]], %[[AW]]
  // CHECK: nn.attention %{{.*}}, %{{.*}}, %{{.*}} mask %[[S]] scale 5.000000e-01
  %half = nn.constant dense<0.5> : tensor<6x4x4xf32>
  %0 = nn.matmul %q, %q transpose_rhs : tensor<6x4x8xf32>, tensor<6x4x8xf32> -> tensor<6x4x4xf32>
  %1 = nn.mul %0, %half : tensor<6x4x4xf32>
  %2 = nn.broadcast %a : tensor<6x1x4xf32> -> tensor<6x4x4xf32>
  %3 = nn.add %2, %1 : tensor<6x4x4xf32>
  %4 = nn.reshape %3 : tensor<6x4x4xf32> -> tensor<2x3x4x4xf32>
  %5 = nn.broadcast %m : tensor<2x1x4x4xf32> -> tensor<2x3x4x4xf32>
  %6 = nn.add %4, %5 : tensor<2x3x4x4xf32>
  %7 = nn.softmax %6 axis 3 : tensor<2x3x4x4xf32>
  %8 = nn.reshape %7 : tensor<2x3x4x4xf32> -> tensor<6x4x4xf32>
  %9 = nn.matmul %8, %q : tensor<6x4x4xf32>, tensor<6x4x8xf32> -> tensor<6x4x8xf32>
  nn.return %9 : tensor<6x4x8xf32>
}

// -----

// Keys and values that are repeated for the heads of a group (Llama), and the
// scale on both factors, as PyTorch 2 splits it.

// CHECK-LABEL: nn.function @repeated_heads(
// CHECK-SAME: %[[Q:.*]]: tensor<2x6x4x8xf32>, %[[K:.*]]: tensor<2x2x4x8xf32>, %[[V:.*]]: tensor<2x2x4x8xf32>)
nn.function @repeated_heads(%q: tensor<2x6x4x8xf32>, %k: tensor<2x2x4x8xf32>, %v: tensor<2x2x4x8xf32>) -> tensor<2x6x4x8xf32> {
  // CHECK-NEXT: %[[Y:.*]] = nn.attention %[[Q]], %[[K]], %[[V]] causal scale 2.500000e-01 : (tensor<2x6x4x8xf32>, tensor<2x2x4x8xf32>, tensor<2x2x4x8xf32>)
  // CHECK-NEXT: nn.return %[[Y]]
  %half = nn.constant dense<0.5> : tensor<2x6x4x8xf32>
  %halfT = nn.constant dense<0.5> : tensor<2x6x8x4xf32>
  %mask = nn.constant dense<[[0.0, 0xFF800000, 0xFF800000, 0xFF800000], [0.0, 0.0, 0xFF800000, 0xFF800000], [0.0, 0.0, 0.0, 0xFF800000], [0.0, 0.0, 0.0, 0.0]]> : tensor<4x4xf32>
  %k0 = nn.reshape %k : tensor<2x2x4x8xf32> -> tensor<2x2x1x4x8xf32>
  %k1 = nn.broadcast %k0 : tensor<2x2x1x4x8xf32> -> tensor<2x2x3x4x8xf32>
  %k2 = nn.reshape %k1 : tensor<2x2x3x4x8xf32> -> tensor<2x6x4x8xf32>
  %v0 = nn.reshape %v : tensor<2x2x4x8xf32> -> tensor<2x2x1x4x8xf32>
  %v1 = nn.broadcast %v0 : tensor<2x2x1x4x8xf32> -> tensor<2x2x3x4x8xf32>
  %v2 = nn.reshape %v1 : tensor<2x2x3x4x8xf32> -> tensor<2x6x4x8xf32>
  %k3 = nn.transpose %k2 [0, 1, 3, 2] : tensor<2x6x4x8xf32> -> tensor<2x6x8x4xf32>
  %0 = nn.mul %q, %half : tensor<2x6x4x8xf32>
  %1 = nn.mul %k3, %halfT : tensor<2x6x8x4xf32>
  %2 = nn.matmul %0, %1 : tensor<2x6x4x8xf32>, tensor<2x6x8x4xf32> -> tensor<2x6x4x4xf32>
  %3 = nn.broadcast %mask : tensor<4x4xf32> -> tensor<2x6x4x4xf32>
  %4 = nn.add %2, %3 : tensor<2x6x4x4xf32>
  %5 = nn.softmax %4 axis 3 : tensor<2x6x4x4xf32>
  %6 = nn.matmul %5, %v2 : tensor<2x6x4x4xf32>, tensor<2x6x4x8xf32> -> tensor<2x6x4x8xf32>
  nn.return %6 : tensor<2x6x4x8xf32>
}

// -----

// Heads of a group as rows of one product, in 16 bits with a softmax in f32.

// CHECK-LABEL: nn.function @rows_of_groups(
// CHECK-SAME: %[[Q:.*]]: tensor<2x2x12x8xbf16>, %[[K:.*]]: tensor<2x2x5x8xbf16>)
nn.function @rows_of_groups(%q: tensor<2x2x12x8xbf16>, %k: tensor<2x2x5x8xbf16>) -> tensor<2x2x12x8xbf16> {
  // CHECK: %[[Q4:.*]] = nn.reshape %[[Q]] : tensor<2x2x12x8xbf16> -> tensor<2x6x4x8xbf16>
  // CHECK: nn.attention %[[Q4]], %[[K]], %[[K]] mask %{{.*}} scale 1.000000e+00 : (tensor<2x6x4x8xbf16>, tensor<2x2x5x8xbf16>, tensor<2x2x5x8xbf16>, tensor<1x1x4x5xf32>) -> tensor<2x6x4x8xbf16>
  %mask = nn.constant dense<1.5> : tensor<4x5xf32>
  %0 = nn.matmul %q, %k transpose_rhs : tensor<2x2x12x8xbf16>, tensor<2x2x5x8xbf16> -> tensor<2x2x12x5xbf16>
  %1 = nn.reshape %0 : tensor<2x2x12x5xbf16> -> tensor<2x6x4x5xbf16>
  %2 = nn.cast %1 : tensor<2x6x4x5xbf16> -> tensor<2x6x4x5xf32>
  %3 = nn.broadcast %mask : tensor<4x5xf32> -> tensor<2x6x4x5xf32>
  %4 = nn.add %2, %3 : tensor<2x6x4x5xf32>
  %5 = nn.softmax %4 axis 3 : tensor<2x6x4x5xf32>
  %6 = nn.cast %5 : tensor<2x6x4x5xf32> -> tensor<2x6x4x5xbf16>
  %7 = nn.reshape %6 : tensor<2x6x4x5xbf16> -> tensor<2x2x12x5xbf16>
  %8 = nn.matmul %7, %k : tensor<2x2x12x5xbf16>, tensor<2x2x5x8xbf16> -> tensor<2x2x12x8xbf16>
  nn.return %8 : tensor<2x2x12x8xbf16>
}

// -----

// A condition hides keys; a row with none left has even weights.

// CHECK-LABEL: nn.function @condition(
// CHECK-SAME: %[[Q:.*]]: tensor<2x4x8xf32>, %[[C:.*]]: tensor<2x1x4xi1>)
nn.function @condition(%q: tensor<2x4x8xf32>, %c: tensor<2x1x4xi1>) -> tensor<2x4x8xf32> {
  // CHECK-DAG: %[[LOW:.*]] = nn.constant dense<-3.40282347E+38> : tensor<2x1x4xf32>
  // CHECK-DAG: %[[ZERO:.*]] = nn.constant dense<0.000000e+00> : tensor<2x1x4xf32>
  // CHECK: %[[M:.*]] = nn.select %[[C]], %[[LOW]], %[[ZERO]]
  // CHECK: nn.attention %[[Q]], %[[Q]], %[[Q]] mask %[[M]] scale
  %low = nn.constant dense<-3.4028235e38> : tensor<2x4x4xf32>
  %0 = nn.matmul %q, %q transpose_rhs : tensor<2x4x8xf32>, tensor<2x4x8xf32> -> tensor<2x4x4xf32>
  %1 = nn.broadcast %c : tensor<2x1x4xi1> -> tensor<2x4x4xi1>
  %2 = nn.select %1, %low, %0 : tensor<2x4x4xi1>, tensor<2x4x4xf32>
  %3 = nn.softmax %2 axis 2 : tensor<2x4x4xf32>
  %4 = nn.matmul %3, %q : tensor<2x4x4xf32>, tensor<2x4x8xf32> -> tensor<2x4x8xf32>
  nn.return %4 : tensor<2x4x8xf32>
}

// -----

// A number that does not hide.

// CHECK-LABEL: nn.function @replaced(
nn.function @replaced(%q: tensor<2x4x8xf32>, %c: tensor<2x4x4xi1>) -> tensor<2x4x8xf32> {
  // CHECK-NOT: nn.attention
  // REMARK: remark: [Missed] softmax | Category:raise | Remark="its scores are replaced by others, not hidden"
  %low = nn.constant dense<-3.0> : tensor<2x4x4xf32>
  %0 = nn.matmul %q, %q transpose_rhs : tensor<2x4x8xf32>, tensor<2x4x8xf32> -> tensor<2x4x4xf32>
  %1 = nn.select %c, %low, %0 : tensor<2x4x4xi1>, tensor<2x4x4xf32>
  %2 = nn.softmax %1 axis 2 : tensor<2x4x4xf32>
  %3 = nn.matmul %2, %q : tensor<2x4x4xf32>, tensor<2x4x8xf32> -> tensor<2x4x8xf32>
  nn.return %3 : tensor<2x4x8xf32>
}

// -----

// The model passes the weights on.

// CHECK-LABEL: nn.function @weights_wanted(
nn.function @weights_wanted(%q: tensor<2x4x8xf32>) -> (tensor<2x4x8xf32>, tensor<2x4x4xf32>) {
  // CHECK-NOT: nn.attention
  // REMARK: remark: [Missed] softmax | Category:raise | Remark="its weights are changed or read elsewhere"
  %0 = nn.matmul %q, %q transpose_rhs : tensor<2x4x8xf32>, tensor<2x4x8xf32> -> tensor<2x4x4xf32>
  %1 = nn.softmax %0 axis 2 : tensor<2x4x4xf32>
  %2 = nn.matmul %1, %q : tensor<2x4x4xf32>, tensor<2x4x8xf32> -> tensor<2x4x8xf32>
  nn.return %2, %1 : tensor<2x4x8xf32>, tensor<2x4x4xf32>
}

// -----

// The scale is of the sum, so the mask is scaled too.

// CHECK-LABEL: nn.function @scaled_mask(
nn.function @scaled_mask(%q: tensor<2x4x8xf32>, %m: tensor<2x4x4xf32>) -> tensor<2x4x8xf32> {
  // CHECK-NOT: nn.attention
  // REMARK: remark: [Missed] softmax | Category:raise | Remark="a mask is added before the scale or the soft cap, or to other matrices"
  %half = nn.constant dense<0.5> : tensor<2x4x4xf32>
  %0 = nn.matmul %q, %q transpose_rhs : tensor<2x4x8xf32>, tensor<2x4x8xf32> -> tensor<2x4x4xf32>
  %1 = nn.add %0, %m : tensor<2x4x4xf32>
  %2 = nn.mul %1, %half : tensor<2x4x4xf32>
  %3 = nn.softmax %2 axis 2 : tensor<2x4x4xf32>
  %4 = nn.matmul %3, %q : tensor<2x4x4xf32>, tensor<2x4x8xf32> -> tensor<2x4x8xf32>
  nn.return %4 : tensor<2x4x8xf32>
}

// -----

// Scores under a soft cap (Gemma 2); a mask comes after it, as scores that it
// hides must stay hidden.

// CHECK-LABEL: nn.function @softcap(
// CHECK-SAME: %[[Q:.*]]: tensor<2x4x8xf32>, %[[M:.*]]: tensor<2x4x4xf32>)
nn.function @softcap(%q: tensor<2x4x8xf32>, %m: tensor<2x4x4xf32>) -> tensor<2x4x8xf32> {
  // CHECK-NEXT: nn.attention %[[Q]], %[[Q]], %[[Q]] mask %[[M]] scale 5.000000e-01 softcap 1.600000e+01
  // REMARK: remark: [Passed] attention | Category:raise
  %part = nn.constant dense<0.03125> : tensor<2x4x4xf32>
  %cap = nn.constant dense<16.0> : tensor<2x4x4xf32>
  %0 = nn.matmul %q, %q transpose_rhs : tensor<2x4x8xf32>, tensor<2x4x8xf32> -> tensor<2x4x4xf32>
  %1 = nn.mul %0, %part : tensor<2x4x4xf32>
  %2 = nn.tanh %1 : tensor<2x4x4xf32>
  %3 = nn.mul %cap, %2 : tensor<2x4x4xf32>
  %4 = nn.add %3, %m : tensor<2x4x4xf32>
  %5 = nn.softmax %4 axis 2 : tensor<2x4x4xf32>
  %6 = nn.matmul %5, %q : tensor<2x4x4xf32>, tensor<2x4x8xf32> -> tensor<2x4x8xf32>
  nn.return %6 : tensor<2x4x8xf32>
}

// -----

// CHECK-LABEL: nn.function @capped_mask(
nn.function @capped_mask(%q: tensor<2x4x8xf32>, %m: tensor<2x4x4xf32>) -> tensor<2x4x8xf32> {
  // CHECK-NOT: nn.attention
  // REMARK: remark: [Missed] softmax | Category:raise | Remark="a mask is added before the scale or the soft cap, or to other matrices"
  %0 = nn.matmul %q, %q transpose_rhs : tensor<2x4x8xf32>, tensor<2x4x8xf32> -> tensor<2x4x4xf32>
  %1 = nn.add %0, %m : tensor<2x4x4xf32>
  %2 = nn.tanh %1 : tensor<2x4x4xf32>
  %3 = nn.softmax %2 axis 2 : tensor<2x4x4xf32>
  %4 = nn.matmul %3, %q : tensor<2x4x4xf32>, tensor<2x4x8xf32> -> tensor<2x4x8xf32>
  nn.return %4 : tensor<2x4x8xf32>
}

// -----

// CHECK-LABEL: nn.function @capped_twice(
nn.function @capped_twice(%q: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  // CHECK-NOT: nn.attention
  // REMARK: remark: [Missed] softmax | Category:raise | Remark="its scores are bounded twice"
  %0 = nn.matmul %q, %q transpose_rhs : tensor<2x4x8xf32>, tensor<2x4x8xf32> -> tensor<2x4x4xf32>
  %1 = nn.tanh %0 : tensor<2x4x4xf32>
  %2 = nn.tanh %1 : tensor<2x4x4xf32>
  %3 = nn.softmax %2 axis 2 : tensor<2x4x4xf32>
  %4 = nn.matmul %3, %q : tensor<2x4x4xf32>, tensor<2x4x8xf32> -> tensor<2x4x8xf32>
  nn.return %4 : tensor<2x4x8xf32>
}

// -----

// No attention: the softmax of a classifier, and a scale that is a tensor.

// CHECK-LABEL: nn.function @others(
nn.function @others(%q: tensor<2x4x8xf32>, %s: tensor<2x4x4xf32>) -> (tensor<2x4x8xf32>, tensor<2x4x8xf32>) {
  // CHECK-NOT: nn.attention
  // REMARK: remark: [Missed] softmax | Category:raise | Remark="its scores are scaled by more than one number"
  // REMARK-NOT: remark
  %0 = nn.softmax %q axis 2 : tensor<2x4x8xf32>
  %1 = nn.matmul %q, %q transpose_rhs : tensor<2x4x8xf32>, tensor<2x4x8xf32> -> tensor<2x4x4xf32>
  %2 = nn.mul %1, %s : tensor<2x4x4xf32>
  %3 = nn.softmax %2 axis 2 : tensor<2x4x4xf32>
  %4 = nn.matmul %3, %q : tensor<2x4x4xf32>, tensor<2x4x8xf32> -> tensor<2x4x8xf32>
  nn.return %0, %4 : tensor<2x4x8xf32>, tensor<2x4x8xf32>
}
