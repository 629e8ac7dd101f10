// RUN: pp-opt %s --pp-reuse-operands | FileCheck %s

#id = affine_map<(i) -> (i)>
#all = affine_map<(i) -> ()>
#id2 = affine_map<(i, j) -> (i, j)>

// The first exp reads the function's argument and needs memory; the second one
// is computed over the first.

// CHECK-LABEL: func.func @chain
func.func @chain(%x: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: %[[EMPTY:.*]] = tensor.empty
  // CHECK: %[[FIRST:.*]] = linalg.generic {{.*}} outs(%[[EMPTY]]
  // CHECK: linalg.generic {{.*}} ins(%[[FIRST]] {{.*}} outs(%[[FIRST]]
  %empty = tensor.empty() : tensor<8xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %e = math.exp %a : f32
    linalg.yield %e : f32
  } -> tensor<8xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%0 : tensor<8xf32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %e = math.exp %a : f32
    linalg.yield %e : f32
  } -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// What is read again stays.

// CHECK-LABEL: func.func @read_again
func.func @read_again(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK: %[[EMPTY:.*]] = tensor.empty
  // CHECK: linalg.generic {{.*}} outs(%[[EMPTY]]
  // CHECK: linalg.generic {{.*}} outs(%[[EMPTY]]
  %empty = tensor.empty() : tensor<8xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %e = math.exp %a : f32
    linalg.yield %e : f32
  } -> tensor<8xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%0 : tensor<8xf32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %e = math.exp %a : f32
    linalg.yield %e : f32
  } -> tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// A reduction reads elements that it has not written yet.

// CHECK-LABEL: func.func @reduction
func.func @reduction(%x: tensor<f32>) -> tensor<f32> {
  // CHECK: %[[SUM:.*]] = linalg.fill
  // CHECK: linalg.generic {{.*}} outs(%[[SUM]]
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<f32>
  %wide = tensor.empty() : tensor<8xf32>
  %0 = linalg.generic {indexing_maps = [#all, #id], iterator_types = ["parallel"]} ins(%x : tensor<f32>) outs(%wide : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<8xf32>
  %sum = linalg.fill ins(%zero : f32) outs(%empty : tensor<f32>) -> tensor<f32>
  %1 = linalg.generic {indexing_maps = [#id, #all], iterator_types = ["reduction"]} ins(%0 : tensor<8xf32>) outs(%sum : tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %1 : tensor<f32>
}

// A matrix that is read across cannot be overwritten along.

// CHECK-LABEL: func.func @transposed
func.func @transposed(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // CHECK: %[[EMPTY:.*]] = tensor.empty
  // CHECK: linalg.generic {{.*}} outs(%[[EMPTY]]
  // CHECK: linalg.generic {{.*}} outs(%[[EMPTY]]
  %empty = tensor.empty() : tensor<8x8xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x8xf32>) outs(%empty : tensor<8x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %e = math.exp %a : f32
    linalg.yield %e : f32
  } -> tensor<8x8xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<8x8xf32>) outs(%empty : tensor<8x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %e = math.exp %a : f32
    linalg.yield %e : f32
  } -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// What the library computed is in the buffer of the result already, in whatever
// shape, when it is written over.

// CHECK-LABEL: func.func @result
// CHECK-SAME: %[[RESULT:[^:]*]]: memref<2x4xf32>
func.func private @product(memref<1xf32>)
func.func @result(%result: memref<2x4xf32>) {
  // CHECK: %[[CAST:.*]] = memref.reinterpret_cast %[[RESULT]]
  // CHECK: call @product(%[[CAST]])
  // CHECK: %[[TENSOR:.*]] = bufferization.to_tensor %[[RESULT]] restrict writable
  // CHECK: %[[EXP:.*]] = linalg.generic {{.*}} ins(%[[TENSOR]] {{.*}} outs(%[[TENSOR]]
  // CHECK: materialize_in_destination %[[EXP]] in restrict writable %[[RESULT]]
  %init = bufferization.to_tensor %result restrict writable : memref<2x4xf32> to tensor<2x4xf32>
  %alloc = memref.alloc() : memref<8xf32>
  %pointer = memref.reinterpret_cast %alloc to offset: [0], sizes: [1], strides: [1] : memref<8xf32> to memref<1xf32>
  func.call @product(%pointer) : (memref<1xf32>) -> ()
  %0 = bufferization.to_tensor %alloc restrict writable : memref<8xf32> to tensor<8xf32>
  %1 = tensor.expand_shape %0 [[0, 1]] output_shape [2, 4] : tensor<8xf32> into tensor<2x4xf32>
  %2 = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]} ins(%1 : tensor<2x4xf32>) outs(%init : tensor<2x4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %e = math.exp %a : f32
    linalg.yield %e : f32
  } -> tensor<2x4xf32>
  bufferization.materialize_in_destination %2 in restrict writable %result : (tensor<2x4xf32>, memref<2x4xf32>) -> ()
  return
}

// Not if what was there before is read too.

// CHECK-LABEL: func.func @accumulated
// CHECK-SAME: %[[RESULT:[^:]*]]: memref<8xf32>
func.func @accumulated(%result: memref<8xf32>) {
  // CHECK: %[[ALLOC:.*]] = memref.alloc
  // CHECK: memref.reinterpret_cast %[[ALLOC]]
  %before = bufferization.to_tensor %result restrict writable : memref<8xf32> to tensor<8xf32>
  %alloc = memref.alloc() : memref<8xf32>
  %pointer = memref.reinterpret_cast %alloc to offset: [0], sizes: [1], strides: [1] : memref<8xf32> to memref<1xf32>
  func.call @product(%pointer) : (memref<1xf32>) -> ()
  %0 = bufferization.to_tensor %alloc restrict writable : memref<8xf32> to tensor<8xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%0, %before : tensor<8xf32>, tensor<8xf32>) outs(%before : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %e = arith.addf %a, %b : f32
    linalg.yield %e : f32
  } -> tensor<8xf32>
  bufferization.materialize_in_destination %1 in restrict writable %result : (tensor<8xf32>, memref<8xf32>) -> ()
  return
}
