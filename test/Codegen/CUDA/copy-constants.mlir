// RUN: pp-opt %s --pass-pipeline='builtin.module(func.func(pp-copy-constants))' | FileCheck %s
// RUN: pp-opt %s --pass-pipeline='builtin.module(func.func(pp-copy-constants,pp-lower-to-kernels,pp-plan-workspace))' | FileCheck %s --check-prefix=KERNEL

memref.global "private" constant @weights : memref<4x4xf32> = dense<2.0>
func.func private @library(memref<1xf32>, memref<1xf32>)

// A constant that a call reads, in whatever shape, is copied to a buffer once.

// CHECK-LABEL: func.func @product
// CHECK:         %[[CONSTANT:.*]] = memref.get_global @weights
// CHECK-NEXT:    %[[COPY:.*]] = memref.alloc() : memref<4x4xf32>
// CHECK-NEXT:    memref.copy %[[CONSTANT]], %[[COPY]]
// CHECK-NEXT:    %[[CAST:.*]] = memref.reinterpret_cast %[[COPY]]
// CHECK-NEXT:    %[[ARGUMENT:.*]] = memref.cast %[[CAST]]
// CHECK-NEXT:    call @library(%[[ARGUMENT]], %{{.*}})
// CHECK-NEXT:    call @library(%[[ARGUMENT]], %{{.*}})

// The copy is made by a kernel, in the workspace.

// KERNEL-LABEL: func.func @product
// KERNEL-SAME:      %[[WORKSPACE:[a-z0-9]*]]: memref<64xi8>
// KERNEL:         %[[COPY:.*]] = memref.view %[[WORKSPACE]]
// KERNEL:         %[[FLAT:.*]] = memref.collapse_shape %[[COPY]]
// KERNEL:         gpu.launch
// KERNEL:           memref.get_global @weights
// KERNEL:           vector.store %{{.*}}, %[[FLAT]]
// KERNEL:         memref.reinterpret_cast %[[COPY]]
// KERNEL:         call @library
func.func @product(%y: memref<1xf32>) {
  %0 = memref.get_global @weights : memref<4x4xf32>
  %1 = memref.reinterpret_cast %0 to offset: [0], sizes: [1], strides: [1] : memref<4x4xf32> to memref<1xf32, strided<[1]>>
  %2 = memref.cast %1 : memref<1xf32, strided<[1]>> to memref<1xf32>
  call @library(%2, %y) : (memref<1xf32>, memref<1xf32>) -> ()
  call @library(%2, %y) : (memref<1xf32>, memref<1xf32>) -> ()
  return
}

// One that only kernels read is left to them.

// CHECK-LABEL: func.func @elements
// CHECK-NOT:     memref.alloc
func.func @elements(%y: memref<4x4xf32>) {
  %0 = memref.get_global @weights : memref<4x4xf32>
  memref.copy %0, %y : memref<4x4xf32> to memref<4x4xf32>
  return
}
