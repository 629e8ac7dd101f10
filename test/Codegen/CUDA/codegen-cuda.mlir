// REQUIRES: ptxas
// RUN: pp-opt %s --pp-codegen-cuda=processor=sm_90 | mlir-translate --mlir-to-llvmir | FileCheck %s

// The host's code of a layer function: it has the signature that it has on
// every target, and calls the library and the kernels one after the other.

// CHECK-DAG: @layer_f_kernels.image0 = internal constant [{{.*}} x i8] c"\7FELF
// CHECK-DAG: @layer_f_kernels.image1 = internal constant [{{.*}} x i8] c"//{{.*}}.target sm_90{{.*}}\00"
// CHECK-DAG: @layer_f_kernels.handles = internal global [1 x ptr] zeroinitializer
// CHECK-DAG: @layer_f_kernels.module = internal constant { ptr, i32, i32, ptr, ptr, ptr } { ptr @layer_f_kernels.name, i32 2, i32 1, ptr @layer_f_kernels.images, ptr @layer_f_kernels.kernels, ptr @layer_f_kernels.handles }

// CHECK-LABEL: define void @layer.f(
// CHECK-SAME:      ptr noalias align 64 %[[X:[0-9]+]], ptr noalias align 64 %[[Y:[0-9]+]], ptr {{[^%]*}}%[[WORKSPACE:[0-9]+]])
nn.function @f(%x: tensor<16x32xf32>) -> tensor<16x16xf32> {
  // CHECK: store ptr %[[X]], ptr
  // CHECK: store ptr %[[WORKSPACE]], ptr
  // CHECK: call void @pprtCudaLaunch(ptr @layer_f_kernels.module, i32 0, i32 1, i32 1, i32 1, i32 {{[0-9]+}}, i32 1, i32 1, ptr %{{.*}})
  %0 = nn.exp %x : tensor<16x32xf32>
  // CHECK: call void @pprtCudaMatmulF32(ptr %[[WORKSPACE]], ptr %[[X]], ptr %[[Y]], i64 1, i64 16, i64 16, i64 32, i64 512, i64 512, i64 256, i32 0, i32 1, i32 0)
  %1 = nn.matmul %0, %x transpose_rhs : tensor<16x32xf32>, tensor<16x32xf32> -> tensor<16x16xf32>
  // CHECK: ret void
  nn.return %1 : tensor<16x16xf32>
}
