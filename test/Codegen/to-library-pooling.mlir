// RUN: pp-opt %s --nn-lower-functions --nn-to-library=target=cuda | FileCheck %s
// RUN: pp-opt %s --nn-lower-functions --nn-to-library='target=cuda convolutions=false' | FileCheck %s --check-prefix=NONE
// RUN: pp-opt %s --nn-lower-functions --nn-to-library | FileCheck %s --check-prefix=NONE

// NONE-NOT: call

// The call reads the image without padding. Numbers: batch, channels, and for
// two axes each the sizes of image, kernel and output, then padding and strides.

// CHECK-LABEL: func.func @layer.max(
// CHECK-SAME:    %[[X:[^:]*]]: memref<2x4x9x8xf32> {{[^%]*}}%[[Y:[^:]*]]: memref<2x4x5x4xf32>
// CHECK-NOT: nn.pad
// CHECK: %[[IMAGE:.*]] = memref.reinterpret_cast %{{.*}} : memref<2x4x9x8xf32> to memref<1xf32>
// CHECK: %[[TARGET:.*]] = memref.reinterpret_cast %[[Y]]
// CHECK: %[[BATCH:.*]] = arith.constant 2
// CHECK-NEXT: %[[CHANNELS:.*]] = arith.constant 4
// CHECK-NEXT: arith.constant 9
// CHECK-NEXT: arith.constant 8
// CHECK-NEXT: arith.constant 3
// CHECK-NEXT: arith.constant 2
// CHECK-NEXT: arith.constant 5
// CHECK-NEXT: arith.constant 4
// CHECK-NEXT: arith.constant 1
// CHECK-NEXT: arith.constant 0
// CHECK-NEXT: arith.constant 2
// CHECK-NEXT: %[[LAST:.*]] = arith.constant 2
// CHECK-NEXT: call @pprtCudaPoolingMaxF32(%[[IMAGE]], %[[TARGET]], %[[BATCH]], %[[CHANNELS]], {{.*}}, %[[LAST]])
// CHECK-NOT: nn.reduce
// CHECK: return
nn.function @max(%x: tensor<2x4x9x8xf32>) -> tensor<2x4x5x4xf32> {
  %0 = nn.pad %x low [0, 0, 1, 0] high [0, 0, 1, 0] interior [0, 0, 0, 0] {value = 0xFFF0000000000000 : f64} : tensor<2x4x9x8xf32> -> tensor<2x4x11x8xf32>
  %1 = nn.im2col %0 strides [2, 2] dilations [1, 1] : tensor<2x4x11x8xf32> -> tensor<2x4x3x2x5x4xf32>
  %2 = nn.reduce max %1 axes [2, 3] : tensor<2x4x3x2x5x4xf32> -> tensor<2x4x5x4xf32>
  nn.return %2 : tensor<2x4x5x4xf32>
}

// Over one axis; the largest of narrow numbers is one of them.

// CHECK-LABEL: func.func @layer.max_of_narrow(
// CHECK: %[[NARROW:.*]] = memref.alloc() : memref<2x4x8xbf16>
// CHECK: call @pprtCudaPoolingMaxBF16(
// CHECK: %[[RESULT:.*]] = bufferization.to_tensor %[[NARROW]]
// CHECK: nn.cast %[[RESULT]] : tensor<2x4x8xbf16> -> tensor<2x4x8xf32>
// CHECK-NOT: nn.reduce
// CHECK: return
nn.function @max_of_narrow(%x: tensor<2x4x9xbf16>) -> tensor<2x4x8xf32> {
  %0 = nn.im2col %x strides [1] dilations [1] : tensor<2x4x9xbf16> -> tensor<2x4x2x8xbf16>
  %1 = nn.cast %0 : tensor<2x4x2x8xbf16> -> tensor<2x4x2x8xf32>
  %2 = nn.reduce max %1 axes [2] : tensor<2x4x2x8xf32> -> tensor<2x4x8xf32>
  nn.return %2 : tensor<2x4x8xf32>
}

// A sum that is divided by the number of elements is an average.

// CHECK-LABEL: func.func @layer.average(
// CHECK: call @pprtCudaPoolingAverageF32(
// CHECK-NOT: nn.mul
// CHECK: return
nn.function @average(%x: tensor<2x4x9x8xf32>) -> tensor<2x4x4x6xf32> {
  %half = nn.constant dense<5.000000e-01> : tensor<2x4x4x6xf32>
  %third = nn.constant dense<0.333333343> : tensor<2x4x4x6xf32>
  %0 = nn.im2col %x strides [2, 1] dilations [1, 1] : tensor<2x4x9x8xf32> -> tensor<2x4x2x3x4x6xf32>
  %1 = nn.reduce sum %0 axes [2, 3] : tensor<2x4x2x3x4x6xf32> -> tensor<2x4x4x6xf32>
  %2 = nn.mul %1, %half : tensor<2x4x4x6xf32>
  %3 = nn.mul %2, %third : tensor<2x4x4x6xf32>
  nn.return %3 : tensor<2x4x4x6xf32>
}

// Other scaling is not the library's.

// CHECK-LABEL: func.func @layer.sum(
// CHECK: call @pprtCudaPoolingSumF32(
// CHECK: nn.mul
// CHECK: return
nn.function @sum(%x: tensor<2x4x9xf32>) -> tensor<2x4x7xf32> {
  %half = nn.constant dense<5.000000e-01> : tensor<2x4x7xf32>
  %0 = nn.im2col %x strides [1] dilations [1] : tensor<2x4x9xf32> -> tensor<2x4x3x7xf32>
  %1 = nn.reduce sum %0 axes [2] : tensor<2x4x3x7xf32> -> tensor<2x4x7xf32>
  %2 = nn.mul %1, %half : tensor<2x4x7xf32>
  nn.return %2 : tensor<2x4x7xf32>
}

// The library has no windows with holes, ...

// CHECK-LABEL: func.func @layer.dilated(
// CHECK-NOT: call
// CHECK: nn.reduce max
nn.function @dilated(%x: tensor<2x4x9xf32>) -> tensor<2x4x7xf32> {
  %0 = nn.im2col %x strides [1] dilations [2] : tensor<2x4x9xf32> -> tensor<2x4x2x7xf32>
  %1 = nn.reduce max %0 axes [2] : tensor<2x4x2x7xf32> -> tensor<2x4x7xf32>
  nn.return %1 : tensor<2x4x7xf32>
}

// ... other padding than at both ends ...

// CHECK-LABEL: func.func @layer.padded_after(
// CHECK-NOT: call
// CHECK: nn.reduce max
nn.function @padded_after(%x: tensor<2x4x9xf32>) -> tensor<2x4x5xf32> {
  %0 = nn.pad %x low [0, 0, 0] high [0, 0, 1] interior [0, 0, 0] {value = 0xFFF0000000000000 : f64} : tensor<2x4x9xf32> -> tensor<2x4x10xf32>
  %1 = nn.im2col %0 strides [2] dilations [1] : tensor<2x4x10xf32> -> tensor<2x4x2x5xf32>
  %2 = nn.reduce max %1 axes [2] : tensor<2x4x2x5xf32> -> tensor<2x4x5xf32>
  nn.return %2 : tensor<2x4x5xf32>
}

// ... or by zeros that may be the largest. And a whole image is a row like any
// other, and the smallest element is not the largest.

// CHECK-LABEL: func.func @layer.padded_by_zero(
// CHECK-NOT: call
// CHECK: nn.reduce max
nn.function @padded_by_zero(%x: tensor<2x4x9xf32>) -> tensor<2x4x10xf32> {
  %0 = nn.pad %x low [0, 0, 1] high [0, 0, 1] interior [0, 0, 0] : tensor<2x4x9xf32> -> tensor<2x4x11xf32>
  %1 = nn.im2col %0 strides [1] dilations [1] : tensor<2x4x11xf32> -> tensor<2x4x2x10xf32>
  %2 = nn.reduce max %1 axes [2] : tensor<2x4x2x10xf32> -> tensor<2x4x10xf32>
  nn.return %2 : tensor<2x4x10xf32>
}

// CHECK-LABEL: func.func @layer.global(
// CHECK-NOT: call
// CHECK: nn.reduce max
nn.function @global(%x: tensor<2x4x9xf32>) -> tensor<2x4x1xf32> {
  %0 = nn.im2col %x strides [1] dilations [1] : tensor<2x4x9xf32> -> tensor<2x4x9x1xf32>
  %1 = nn.reduce max %0 axes [2] : tensor<2x4x9x1xf32> -> tensor<2x4x1xf32>
  nn.return %1 : tensor<2x4x1xf32>
}

// CHECK-LABEL: func.func @layer.min(
// CHECK-NOT: call
// CHECK: nn.reduce min
nn.function @min(%x: tensor<2x4x9xf32>) -> tensor<2x4x8xf32> {
  %0 = nn.im2col %x strides [1] dilations [1] : tensor<2x4x9xf32> -> tensor<2x4x2x8xf32>
  %1 = nn.reduce min %0 axes [2] : tensor<2x4x2x8xf32> -> tensor<2x4x8xf32>
  nn.return %1 : tensor<2x4x8xf32>
}

// The gradient of the largest, as the training phase has it.

// CHECK-LABEL: func.func @layer.max_gradient(
// CHECK-SAME:    %[[DX:[^:]*]]: memref<2x4x9xf32> {{[^%]*}}%[[Y:[^:]*]]: memref<2x4x5xf32> {{[^%]*}}%[[DY:[^:]*]]: memref<2x4x5xf32>
// CHECK-NOT: nn.
// CHECK: call @pprtCudaPoolingMaxGradientF32(
// CHECK-NOT: nn.select
// CHECK: return
nn.function @max_gradient(%x: tensor<2x4x9xf32>, %y: tensor<2x4x5xf32>, %dy: tensor<2x4x5xf32>) -> tensor<2x4x9xf32> {
  %zero = nn.constant dense<0.0> : tensor<2x4x3x5xf32>
  %nowhere = nn.constant dense<2147483647> : tensor<2x4x3x5xi32>
  %line = nn.constant dense<[[[[0], [1], [2]]]]> : tensor<1x1x3x1xi32>
  %number = nn.broadcast %line : tensor<1x1x3x1xi32> -> tensor<2x4x3x5xi32>
  %0 = nn.pad %x low [0, 0, 1] high [0, 0, 1] interior [0, 0, 0] {value = 0xFFF0000000000000 : f64} : tensor<2x4x9xf32> -> tensor<2x4x11xf32>
  %1 = nn.im2col %0 strides [2] dilations [1] : tensor<2x4x11xf32> -> tensor<2x4x3x5xf32>
  %2 = nn.reshape %y : tensor<2x4x5xf32> -> tensor<2x4x1x5xf32>
  %3 = nn.broadcast %2 : tensor<2x4x1x5xf32> -> tensor<2x4x3x5xf32>
  %4 = nn.compare eq %1, %3 : tensor<2x4x3x5xf32> -> tensor<2x4x3x5xi1>
  %5 = nn.compare ne %1, %1 : tensor<2x4x3x5xf32> -> tensor<2x4x3x5xi1>
  %6 = nn.or %4, %5 : tensor<2x4x3x5xi1>
  %7 = nn.select %6, %number, %nowhere : tensor<2x4x3x5xi1>, tensor<2x4x3x5xi32>
  %8 = nn.reduce min %7 axes [2] : tensor<2x4x3x5xi32> -> tensor<2x4x5xi32>
  %9 = nn.reshape %8 : tensor<2x4x5xi32> -> tensor<2x4x1x5xi32>
  %10 = nn.broadcast %9 : tensor<2x4x1x5xi32> -> tensor<2x4x3x5xi32>
  %11 = nn.compare eq %number, %10 : tensor<2x4x3x5xi32> -> tensor<2x4x3x5xi1>
  %12 = nn.reshape %dy : tensor<2x4x5xf32> -> tensor<2x4x1x5xf32>
  %13 = nn.broadcast %12 : tensor<2x4x1x5xf32> -> tensor<2x4x3x5xf32>
  %14 = nn.select %11, %13, %zero : tensor<2x4x3x5xi1>, tensor<2x4x3x5xf32>
  %15 = nn.col2im %14 strides [2] dilations [1] : tensor<2x4x3x5xf32> -> tensor<2x4x11xf32>
  %16 = nn.slice %15 offsets [0, 0, 1] strides [1, 1, 1] : tensor<2x4x11xf32> -> tensor<2x4x9xf32>
  nn.return %16 : tensor<2x4x9xf32>
}

// The last of the largest is another one.

// CHECK-LABEL: func.func @layer.last(
// CHECK-NOT: call
// CHECK: nn.col2im
nn.function @last(%x: tensor<2x4x9xf32>, %y: tensor<2x4x7xf32>, %dy: tensor<2x4x7xf32>) -> tensor<2x4x9xf32> {
  %zero = nn.constant dense<0.0> : tensor<2x4x3x7xf32>
  %nowhere = nn.constant dense<2147483647> : tensor<2x4x3x7xi32>
  %line = nn.constant dense<[[[[2], [1], [0]]]]> : tensor<1x1x3x1xi32>
  %number = nn.broadcast %line : tensor<1x1x3x1xi32> -> tensor<2x4x3x7xi32>
  %1 = nn.im2col %x strides [1] dilations [1] : tensor<2x4x9xf32> -> tensor<2x4x3x7xf32>
  %2 = nn.reshape %y : tensor<2x4x7xf32> -> tensor<2x4x1x7xf32>
  %3 = nn.broadcast %2 : tensor<2x4x1x7xf32> -> tensor<2x4x3x7xf32>
  %4 = nn.compare eq %1, %3 : tensor<2x4x3x7xf32> -> tensor<2x4x3x7xi1>
  %5 = nn.compare ne %1, %1 : tensor<2x4x3x7xf32> -> tensor<2x4x3x7xi1>
  %6 = nn.or %4, %5 : tensor<2x4x3x7xi1>
  %7 = nn.select %6, %number, %nowhere : tensor<2x4x3x7xi1>, tensor<2x4x3x7xi32>
  %8 = nn.reduce min %7 axes [2] : tensor<2x4x3x7xi32> -> tensor<2x4x7xi32>
  %9 = nn.reshape %8 : tensor<2x4x7xi32> -> tensor<2x4x1x7xi32>
  %10 = nn.broadcast %9 : tensor<2x4x1x7xi32> -> tensor<2x4x3x7xi32>
  %11 = nn.compare eq %number, %10 : tensor<2x4x3x7xi32> -> tensor<2x4x3x7xi1>
  %12 = nn.reshape %dy : tensor<2x4x7xf32> -> tensor<2x4x1x7xf32>
  %13 = nn.broadcast %12 : tensor<2x4x1x7xf32> -> tensor<2x4x3x7xf32>
  %14 = nn.select %11, %13, %zero : tensor<2x4x3x7xi1>, tensor<2x4x3x7xf32>
  %15 = nn.col2im %14 strides [1] dilations [1] : tensor<2x4x3x7xf32> -> tensor<2x4x9xf32>
  nn.return %15 : tensor<2x4x9xf32>
}

// The gradient of an average in narrow numbers.

// CHECK-LABEL: func.func @layer.average_gradient(
// CHECK: %[[DY:.*]] = nn.cast %{{.*}} : tensor<2x4x5x6xf32> -> tensor<2x4x5x6xbf16>
// CHECK: bufferization.to_buffer %[[DY]]
// CHECK: call @pprtCudaPoolingAverageGradientBF16(
// CHECK-NOT: nn.mul
// CHECK-NOT: nn.col2im
// CHECK: return
nn.function @average_gradient(%dy: tensor<2x4x5x6xf32>) -> tensor<2x4x6x7xbf16> {
  %quarter = nn.constant dense<0.25> : tensor<2x4x5x6xf32>
  %0 = nn.mul %dy, %quarter : tensor<2x4x5x6xf32>
  %1 = nn.reshape %0 : tensor<2x4x5x6xf32> -> tensor<2x4x1x1x5x6xf32>
  %2 = nn.broadcast %1 : tensor<2x4x1x1x5x6xf32> -> tensor<2x4x2x2x5x6xf32>
  %3 = nn.cast %2 : tensor<2x4x2x2x5x6xf32> -> tensor<2x4x2x2x5x6xbf16>
  %4 = nn.col2im %3 strides [1, 1] dilations [1, 1] : tensor<2x4x2x2x5x6xbf16> -> tensor<2x4x6x7xbf16>
  nn.return %4 : tensor<2x4x6x7xbf16>
}

// CHECK-LABEL: func.func @layer.sum_gradient(
// CHECK-SAME:    %[[DX:[^:]*]]: memref<2x4x9xf32>
// CHECK: %[[TARGET:.*]] = memref.reinterpret_cast %[[DX]]
// CHECK: call @pprtCudaPoolingSumGradientF32(%{{.*}}, %[[TARGET]],
// CHECK: return
nn.function @sum_gradient(%dy: tensor<2x4x7xf32>) -> tensor<2x4x9xf32> {
  %0 = nn.reshape %dy : tensor<2x4x7xf32> -> tensor<2x4x1x7xf32>
  %1 = nn.broadcast %0 : tensor<2x4x1x7xf32> -> tensor<2x4x3x7xf32>
  %2 = nn.col2im %1 strides [1] dilations [1] : tensor<2x4x3x7xf32> -> tensor<2x4x9xf32>
  nn.return %2 : tensor<2x4x9xf32>
}
