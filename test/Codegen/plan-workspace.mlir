// RUN: pp-opt %s --pass-pipeline='builtin.module(func.func(pp-plan-workspace))' | FileCheck %s

func.func private @use(memref<16xf32>, memref<16xf32>)

// Buffers that are not alive together share memory.

// CHECK-LABEL: func.func @chain(
// CHECK-SAME:    %[[WORKSPACE:[a-z0-9]+]]: memref<128xi8> {llvm.align = 64 : i64, llvm.noalias})
func.func @chain(%x: memref<16xf32>, %y: memref<16xf32>) {
  // CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : index
  // CHECK-DAG: %[[A:.*]] = memref.view %[[WORKSPACE]][%[[ZERO]]][] : memref<128xi8> to memref<16xf32>
  // CHECK-DAG: %[[NEXT:.*]] = arith.constant 64 : index
  // CHECK-DAG: %[[B:.*]] = memref.view %[[WORKSPACE]][%[[NEXT]]][] : memref<128xi8> to memref<16xf32>
  // CHECK-DAG: %[[C:.*]] = memref.view %[[WORKSPACE]]{{.*}} to memref<16xf32>
  // CHECK-NOT: memref.alloc
  // CHECK: call @use(%{{.*}}, %[[A]])
  // CHECK: call @use(%[[A]], %[[B]])
  %a = memref.alloc() : memref<16xf32>
  call @use(%x, %a) : (memref<16xf32>, memref<16xf32>) -> ()
  %b = memref.alloc() : memref<16xf32>
  call @use(%a, %b) : (memref<16xf32>, memref<16xf32>) -> ()
  %c = memref.alloc() : memref<16xf32>
  call @use(%b, %c) : (memref<16xf32>, memref<16xf32>) -> ()
  call @use(%c, %y) : (memref<16xf32>, memref<16xf32>) -> ()
  return
}

// A use through another name of a buffer is a use of it.

// CHECK-LABEL: func.func @alias(
// CHECK-SAME:    memref<128xi8>
func.func @alias(%x: memref<16xf32>) {
  %a = memref.alloc() : memref<4x4xf32>
  %flat = memref.collapse_shape %a [[0, 1]] : memref<4x4xf32> into memref<16xf32>
  %b = memref.alloc() : memref<16xf32>
  call @use(%x, %b) : (memref<16xf32>, memref<16xf32>) -> ()
  call @use(%b, %flat) : (memref<16xf32>, memref<16xf32>) -> ()
  return
}

// A buffer of a loop is needed during all of the loop.

// CHECK-LABEL: func.func @loop(
// CHECK-SAME:    memref<128xi8>
func.func @loop(%x: memref<16xf32>) {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %4 = arith.constant 4 : index
  scf.for %i = %0 to %4 step %1 {
    %a = memref.alloc() : memref<16xf32>
    func.call @use(%x, %a) : (memref<16xf32>, memref<16xf32>) -> ()
    %b = memref.alloc() : memref<16xf32>
    func.call @use(%x, %b) : (memref<16xf32>, memref<16xf32>) -> ()
  }
  return
}

// The argument is there even if nothing needs it.

// CHECK-LABEL: func.func @nothing(
// CHECK-SAME:    memref<0xi8>
func.func @nothing() {
  return
}
