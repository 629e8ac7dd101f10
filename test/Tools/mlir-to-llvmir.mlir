// RUN: pp-opt %s --pp-codegen-cpu | pp-translate --mlir-to-llvmir | FileCheck %s
// RUN: not pp-translate --mlir-to-llvmir %s 2>&1 | FileCheck %s --check-prefix=TOO-EARLY

// A layer function as LLVM IR, down to the call of the library.

// CHECK: declare void @pprtCpuMatmulF32
// CHECK-LABEL: define void @{{.*}}head
// CHECK: call void @pprtCpuMatmulF32
// TOO-EARLY: error: cannot be converted to LLVM IR
nn.function @head(%x: tensor<2x8xf32>, %w: tensor<16x8xf32>) -> tensor<2x16xf32> {
  %0 = nn.matmul %x, %w transpose_rhs : tensor<2x8xf32>, tensor<16x8xf32> -> tensor<2x16xf32>
  nn.return %0 : tensor<2x16xf32>
}
