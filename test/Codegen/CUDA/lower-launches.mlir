// RUN: pp-opt %s --pp-lower-launches | mlir-opt --finalize-memref-to-llvm --convert-func-to-llvm=use-bare-ptr-memref-call-conv --convert-arith-to-llvm --reconcile-unrealized-casts --canonicalize | FileCheck %s

// A module of kernels is constants: its code, where PTX ends in a zero that its
// size does not count, the kernels' names in the order of their launches, and
// room for the runtime's handles.

// CHECK-NOT: gpu.
// CHECK-DAG: llvm.mlir.global internal constant @kernels.image0("\7FELF{{.*}}alignment = 128
// CHECK-DAG: llvm.mlir.global internal constant @kernels.image1(".version 7.8\00")
// CHECK-DAG: llvm.mlir.global internal constant @kernels.name("kernels\00")

// CHECK-LABEL: llvm.mlir.global internal constant @kernels.images()
// CHECK-SAME:      !llvm.array<2 x struct<(i32, i32, ptr, i64)>>
// CHECK-DAG:     %[[CHIP:.*]] = llvm.mlir.constant(90 : i32)
// CHECK-DAG:     %[[NO:.*]] = llvm.mlir.constant(0 : i32)
// CHECK-DAG:     %[[YES:.*]] = llvm.mlir.constant(1 : i32)
// CHECK-DAG:     %[[CODE:.*]] = llvm.mlir.addressof @kernels.image0
// CHECK-DAG:     %[[PTX:.*]] = llvm.mlir.addressof @kernels.image1
// CHECK-DAG:     %[[CODE_BYTES:.*]] = llvm.mlir.constant(4 : i64)
// CHECK-DAG:     %[[PTX_BYTES:.*]] = llvm.mlir.constant(12 : i64)
// CHECK-DAG:     llvm.insertvalue %[[CHIP]], %{{.*}}[0]
// CHECK-DAG:     llvm.insertvalue %[[NO]], %{{.*}}[1]
// CHECK-DAG:     llvm.insertvalue %[[CODE]], %{{.*}}[2]
// CHECK-DAG:     llvm.insertvalue %[[CODE_BYTES]], %{{.*}}[3]
// CHECK-DAG:     llvm.insertvalue %[[YES]], %{{.*}}[1]
// CHECK-DAG:     llvm.insertvalue %[[PTX]], %{{.*}}[2]
// CHECK-DAG:     llvm.insertvalue %[[PTX_BYTES]], %{{.*}}[3]
// CHECK-DAG:   llvm.mlir.global internal constant @kernels.kernel0("second\00")
// CHECK-DAG:   llvm.mlir.global internal constant @kernels.kernel1("first\00")
// CHECK-DAG:   llvm.mlir.global internal @kernels.handles() {{.*}} : !llvm.array<2 x ptr>

// CHECK-LABEL: llvm.mlir.global internal constant @kernels.module()
// CHECK-SAME:      !llvm.struct<(ptr, i32, i32, ptr, ptr, ptr)>
// CHECK-DAG:     %[[NAME:.*]] = llvm.mlir.addressof @kernels.name
// CHECK-DAG:     %[[TWO:.*]] = llvm.mlir.constant(2 : i32)
// CHECK-DAG:     %[[IMAGES:.*]] = llvm.mlir.addressof @kernels.images
// CHECK-DAG:     %[[NAMES:.*]] = llvm.mlir.addressof @kernels.kernels
// CHECK-DAG:     %[[HANDLES:.*]] = llvm.mlir.addressof @kernels.handles
// CHECK:         llvm.insertvalue %[[NAME]], %{{.*}}[0]
// CHECK-NEXT:    llvm.insertvalue %[[TWO]], %{{.*}}[1]
// CHECK-NEXT:    llvm.insertvalue %[[TWO]], %{{.*}}[2]
// CHECK-NEXT:    llvm.insertvalue %[[IMAGES]], %{{.*}}[3]
// CHECK-NEXT:    llvm.insertvalue %[[NAMES]], %{{.*}}[4]
// CHECK-NEXT:    llvm.insertvalue %[[HANDLES]], %{{.*}}[5]
module attributes {gpu.container_module} {

gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_90">, bin = "\7FELF">, #gpu.object<#nvvm.target<chip = "sm_90">, assembly = ".version 7.8\00">]

// A launch gets the addresses of its arguments, which are on the stack. That of
// a view is its own, and that of a part of a buffer is the whole buffer's: the
// kernel, which knows the part's type, adds the rest.

// CHECK-LABEL: llvm.func @launches(
// CHECK-SAME:      %[[X:.*]]: !llvm.ptr, %[[WORKSPACE:.*]]: !llvm.ptr, %[[SCALE:.*]]: f32)
func.func @launches(%x: memref<64xf32>, %workspace: memref<1024xi8>, %scale: f32) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  %c256 = arith.constant 256 : index
  // CHECK-DAG: %[[MODULE:.*]] = llvm.mlir.addressof @kernels.module
  // CHECK-DAG: %[[W0:.*]] = llvm.mlir.constant(0 : i32)
  // CHECK-DAG: %[[W1:.*]] = llvm.mlir.constant(1 : i32)
  // CHECK-DAG: %[[W2:.*]] = llvm.mlir.constant(2 : i32)
  // CHECK-DAG: %[[W4:.*]] = llvm.mlir.constant(4 : i32)
  // CHECK-DAG: %[[W32:.*]] = llvm.mlir.constant(32 : i32)
  // CHECK: %[[VIEW:.*]] = llvm.getelementptr %[[WORKSPACE]][256]
  %view = memref.view %workspace[%c256][] : memref<1024xi8> to memref<64xf32>
  %part = memref.reinterpret_cast %x to offset: [16], sizes: [8], strides: [2] : memref<64xf32> to memref<8xf32, strided<[2], offset: 16>>
  // CHECK: llvm.store %[[VIEW]], %[[VIEW_AT:.*]] : !llvm.ptr, !llvm.ptr
  // CHECK: llvm.store %[[VIEW_AT]], %[[ARGUMENTS:.*]] : !llvm.ptr, !llvm.ptr
  // CHECK: llvm.store %[[X]], %[[PART_AT:.*]] : !llvm.ptr, !llvm.ptr
  // CHECK: %[[SECOND:.*]] = llvm.getelementptr %[[ARGUMENTS]][1]
  // CHECK: llvm.store %[[PART_AT]], %[[SECOND]] : !llvm.ptr, !llvm.ptr
  // CHECK: llvm.store %[[SCALE]], %[[SCALE_AT:.*]] : f32, !llvm.ptr
  // CHECK: %[[THIRD:.*]] = llvm.getelementptr %[[ARGUMENTS]][2]
  // CHECK: llvm.store %[[SCALE_AT]], %[[THIRD]] : !llvm.ptr, !llvm.ptr
  // CHECK: llvm.call @pprtCudaLaunch(%[[MODULE]], %[[W0]], %[[W4]], %[[W2]], %[[W1]], %[[W32]], %[[W2]], %[[W1]], %[[ARGUMENTS]])
  gpu.launch_func @kernels::@second blocks in (%c4, %c2, %c1) threads in (%c32, %c2, %c1)
      args(%view : memref<64xf32>, %part : memref<8xf32, strided<[2], offset: 16>>, %scale : f32)
  // CHECK: llvm.call @pprtCudaLaunch(%[[MODULE]], %[[W1]], %[[W1]], %[[W1]], %[[W1]], %[[W32]], %[[W1]], %[[W1]],
  gpu.launch_func @kernels::@first blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%x : memref<64xf32>)
  // CHECK: llvm.call @pprtCudaLaunch(%[[MODULE]], %[[W0]],
  gpu.launch_func @kernels::@second blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1)
      args(%view : memref<64xf32>, %part : memref<8xf32, strided<[2], offset: 16>>, %scale : f32)
  return
}

}
