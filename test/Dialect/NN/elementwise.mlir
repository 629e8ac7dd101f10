// RUN: pp-opt %s | pp-opt | FileCheck %s
// RUN: pp-opt %s --mlir-print-op-generic | pp-opt | FileCheck %s

// Every elementwise op prints as it is written, also after the generic form.

// CHECK-LABEL: nn.function @float_functions
nn.function @float_functions(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: nn.exp %{{.*}} : tensor<4xf32>
  %0 = nn.exp %x : tensor<4xf32>
  // CHECK: nn.log
  %1 = nn.log %0 : tensor<4xf32>
  // CHECK: nn.sqrt
  %2 = nn.sqrt %1 : tensor<4xf32>
  // CHECK: nn.rsqrt
  %3 = nn.rsqrt %2 : tensor<4xf32>
  // CHECK: nn.reciprocal
  %4 = nn.reciprocal %3 : tensor<4xf32>
  // CHECK: nn.tanh
  %5 = nn.tanh %4 : tensor<4xf32>
  // CHECK: nn.erf
  %6 = nn.erf %5 : tensor<4xf32>
  // CHECK: nn.sin
  %7 = nn.sin %6 : tensor<4xf32>
  // CHECK: nn.cos
  %8 = nn.cos %7 : tensor<4xf32>
  // CHECK: nn.sigmoid
  %9 = nn.sigmoid %8 : tensor<4xf32>
  // CHECK: nn.relu
  %10 = nn.relu %9 : tensor<4xf32>
  // CHECK: nn.floor
  %11 = nn.floor %10 : tensor<4xf32>
  // CHECK: nn.ceil
  %12 = nn.ceil %11 : tensor<4xf32>
  // CHECK: nn.gelu erf %{{.*}} : tensor<4xf32>
  %13 = nn.gelu erf %12 : tensor<4xf32>
  // CHECK: nn.gelu tanh %{{.*}} : tensor<4xf32>
  %14 = nn.gelu tanh %13 : tensor<4xf32>
  // CHECK: nn.pow %{{.*}}, %{{.*}} : tensor<4xf32>
  %15 = nn.pow %14, %x : tensor<4xf32>
  // CHECK: nn.accumulate %{{.*}}, %{{.*}} : tensor<4xf32>
  %16 = nn.accumulate %15, %x : tensor<4xf32>
  nn.return %16 : tensor<4xf32>
}

// CHECK-LABEL: nn.function @numbers
nn.function @numbers(%a: tensor<2x3xi32>, %b: tensor<2x3xi32>) -> tensor<2x3xi32> {
  // CHECK: nn.neg %{{.*}} : tensor<2x3xi32>
  %0 = nn.neg %a : tensor<2x3xi32>
  // CHECK: nn.abs
  %1 = nn.abs %0 : tensor<2x3xi32>
  // CHECK: nn.sign
  %2 = nn.sign %1 : tensor<2x3xi32>
  // CHECK: nn.add %{{.*}}, %{{.*}} : tensor<2x3xi32>
  %3 = nn.add %2, %b : tensor<2x3xi32>
  // CHECK: nn.sub
  %4 = nn.sub %3, %b : tensor<2x3xi32>
  // CHECK: nn.mul
  %5 = nn.mul %4, %b : tensor<2x3xi32>
  // CHECK: nn.div
  %6 = nn.div %5, %b : tensor<2x3xi32>
  // CHECK: nn.mod
  %7 = nn.mod %6, %b : tensor<2x3xi32>
  // CHECK: nn.max
  %8 = nn.max %7, %b : tensor<2x3xi32>
  // CHECK: nn.min
  %9 = nn.min %8, %b : tensor<2x3xi32>
  nn.return %9 : tensor<2x3xi32>
}

// CHECK-LABEL: nn.function @choices
nn.function @choices(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf16> {
  // CHECK: %[[LESS:.*]] = nn.compare lt %{{.*}}, %{{.*}} : tensor<4xf32> -> tensor<4xi1>
  %0 = nn.compare lt %a, %b : tensor<4xf32> -> tensor<4xi1>
  // CHECK: %[[EQUAL:.*]] = nn.compare eq
  %1 = nn.compare eq %a, %b : tensor<4xf32> -> tensor<4xi1>
  // CHECK: nn.and %[[LESS]], %[[EQUAL]] : tensor<4xi1>
  %2 = nn.and %0, %1 : tensor<4xi1>
  // CHECK: nn.or
  %3 = nn.or %2, %1 : tensor<4xi1>
  // CHECK: nn.not
  %4 = nn.not %3 : tensor<4xi1>
  // CHECK: nn.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<4xi1>, tensor<4xf32>
  %5 = nn.select %4, %a, %b : tensor<4xi1>, tensor<4xf32>
  // CHECK: nn.cast %{{.*}} : tensor<4xf32> -> tensor<4xf16>
  %6 = nn.cast %5 : tensor<4xf32> -> tensor<4xf16>
  nn.return %6 : tensor<4xf16>
}
