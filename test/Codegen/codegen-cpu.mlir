// RUN: pp-opt %s --pp-codegen-cpu | mlir-translate --mlir-to-llvmir \
// RUN:   | opt -O3 -mtriple=x86_64-pc-linux-gnu -mcpu=x86-64-v3 -S | FileCheck %s

// The loops of a row kernel come out as vector code: eight floats at a time,
// sums and maxima in registers, no call of the mathematical library, and no
// allocation.

// CHECK-LABEL: define void @layer.softmax(
// CHECK-NOT: call {{.*}}@exp
// CHECK-NOT: malloc
// CHECK-DAG: call <8 x float> @llvm.maximum.v8f32
// CHECK-DAG: call <8 x float> @llvm.fma.v8f32
// CHECK-DAG: call {{.*}}float @llvm.vector.reduce.fadd.v8f32
// CHECK: ret void
nn.function @softmax(%x: tensor<4x512xf32>) -> tensor<4x512xf32> {
  %0 = nn.softmax %x axis 1 : tensor<4x512xf32>
  nn.return %0 : tensor<4x512xf32>
}
