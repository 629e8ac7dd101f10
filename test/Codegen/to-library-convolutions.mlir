// RUN: pp-opt %s --nn-lower-functions --nn-to-library=target=cuda | FileCheck %s
// RUN: pp-opt %s --nn-lower-functions --nn-to-library='target=cuda convolutions=false' | FileCheck %s --check-prefix=PRODUCTS
// RUN: pp-opt %s --nn-lower-functions --nn-to-library | FileCheck %s --check-prefix=PRODUCTS

// Without convolutions the library multiplies with the windows; the CPU's has
// none.

// PRODUCTS-NOT: Convolution
// PRODUCTS: nn.im2col
// PRODUCTS: call @pprt{{Cuda|Cpu}}MatmulF32(
// PRODUCTS-NOT: Convolution

// The call reads the image without padding, and writes the result with samples
// in front. Numbers: batch, groups, channels, and for two axes each the sizes
// of image, kernel and output, then padding, strides and dilations.

// CHECK-LABEL: func.func @layer.forward(
// CHECK-SAME:    %[[X:[^:]*]]: memref<2x4x9x8xf32> {{[^%]*}}%[[W:[^:]*]]: memref<6x2x3x2xf32> {{[^%]*}}%[[Y:[^:]*]]: memref<2x6x5x4xf32>
// CHECK-NOT: nn.pad
// CHECK-NOT: nn.im2col
// CHECK: %[[TARGET:.*]] = memref.reinterpret_cast %[[Y]]
// CHECK: %[[BATCH:.*]] = arith.constant 2
// CHECK-NEXT: %[[GROUPS:.*]] = arith.constant 2
// CHECK-NEXT: %[[IN:.*]] = arith.constant 4
// CHECK-NEXT: %[[OUT:.*]] = arith.constant 6
// CHECK-NEXT: arith.constant 9
// CHECK-NEXT: arith.constant 8
// CHECK-NEXT: arith.constant 3
// CHECK-NEXT: arith.constant 2
// CHECK-NEXT: arith.constant 5
// CHECK-NEXT: arith.constant 4
// CHECK-NEXT: arith.constant 1
// CHECK-NEXT: arith.constant 0
// CHECK-NEXT: arith.constant 2
// CHECK-NEXT: arith.constant 2
// CHECK-NEXT: arith.constant 1
// CHECK-NEXT: arith.constant 1
// CHECK-NEXT: %[[ADD:.*]] = arith.constant 0 : i32
// CHECK-NEXT: call @pprtCudaConvolutionF32(%{{.*}}, %{{.*}}, %[[TARGET]], %[[BATCH]], %[[GROUPS]], %[[IN]], %[[OUT]], {{.*}}, %[[ADD]])
// CHECK-NOT: nn.matmul
// CHECK: return
nn.function @forward(%x: tensor<2x4x9x8xf32>, %w: tensor<6x2x3x2xf32>) -> tensor<2x6x5x4xf32> {
  %0 = nn.pad %x low [0, 0, 1, 0] high [0, 0, 1, 0] interior [0, 0, 0, 0] : tensor<2x4x9x8xf32> -> tensor<2x4x11x8xf32>
  %1 = nn.im2col %0 strides [2, 2] dilations [1, 1] : tensor<2x4x11x8xf32> -> tensor<2x4x3x2x5x4xf32>
  %2 = nn.transpose %1 [1, 2, 3, 0, 4, 5] : tensor<2x4x3x2x5x4xf32> -> tensor<4x3x2x2x5x4xf32>
  %3 = nn.reshape %2 : tensor<4x3x2x2x5x4xf32> -> tensor<2x12x40xf32>
  %4 = nn.reshape %w : tensor<6x2x3x2xf32> -> tensor<2x3x12xf32>
  %5 = nn.matmul %4, %3 : tensor<2x3x12xf32>, tensor<2x12x40xf32> -> tensor<2x3x40xf32>
  %6 = nn.reshape %5 : tensor<2x3x40xf32> -> tensor<6x2x5x4xf32>
  %7 = nn.transpose %6 [1, 0, 2, 3] : tensor<6x2x5x4xf32> -> tensor<2x6x5x4xf32>
  nn.return %7 : tensor<2x6x5x4xf32>
}

// Windows that are added up without their padding: dilations of 2 and 1.

// CHECK-LABEL: func.func @layer.input_gradient(
// CHECK-SAME:    %[[DX:[^:]*]]: memref<2x4x7x5xf32>
// CHECK-NOT: nn.col2im
// CHECK: %[[TARGET:.*]] = memref.reinterpret_cast %[[DX]]
// CHECK: arith.constant 0 : i64
// CHECK-NEXT: arith.constant 1 : i64
// CHECK-NEXT: arith.constant 1 : i64
// CHECK-NEXT: arith.constant 2 : i64
// CHECK-NEXT: arith.constant 1 : i64
// CHECK-NEXT: arith.constant 0 : i32
// CHECK-NEXT: call @pprtCudaConvolutionInputGradientF32(%{{.*}}, %{{.*}}, %[[TARGET]],
// CHECK-NOT: nn.slice
// CHECK: return
nn.function @input_gradient(%dy: tensor<2x6x5x4xf32>, %w: tensor<6x4x3x2xf32>) -> tensor<2x4x7x5xf32> {
  %0 = nn.transpose %dy [1, 0, 2, 3] : tensor<2x6x5x4xf32> -> tensor<6x2x5x4xf32>
  %1 = nn.reshape %0 : tensor<6x2x5x4xf32> -> tensor<6x40xf32>
  %2 = nn.reshape %w : tensor<6x4x3x2xf32> -> tensor<6x24xf32>
  %3 = nn.matmul %2, %1 transpose_lhs : tensor<6x24xf32>, tensor<6x40xf32> -> tensor<24x40xf32>
  %4 = nn.reshape %3 : tensor<24x40xf32> -> tensor<4x3x2x2x5x4xf32>
  %5 = nn.transpose %4 [3, 0, 1, 2, 4, 5] : tensor<4x3x2x2x5x4xf32> -> tensor<2x4x3x2x5x4xf32>
  %6 = nn.col2im %5 strides [1, 1] dilations [2, 1] : tensor<2x4x3x2x5x4xf32> -> tensor<2x4x9x5xf32>
  %7 = nn.slice %6 offsets [0, 0, 1, 0] strides [1, 1, 1, 1] : tensor<2x4x9x5xf32> -> tensor<2x4x7x5xf32>
  nn.return %7 : tensor<2x4x7x5xf32>
}

// The gradient of the weights is added to the accumulator by the library. That
// of the output comes with channels in front, from another function.

// CHECK-LABEL: func.func @layer.weight_gradient(
// CHECK-SAME:    %[[ACC:[^:]*]]: memref<6x4x3xf32> {{[^%]*}}%[[X:[^:]*]]: memref<2x4x9xf32>
// CHECK: %[[APART:.*]] = nn.reshape %{{.*}} -> tensor<6x2x7xf32>
// CHECK-NEXT: %[[SAMPLES:.*]] = nn.transpose %[[APART]] [1, 0, 2]
// CHECK: bufferization.to_buffer %[[SAMPLES]]
// CHECK: %[[TARGET:.*]] = memref.reinterpret_cast %[[ACC]]
// CHECK: %[[ADD:.*]] = arith.constant 1 : i32
// CHECK-NEXT: call @pprtCudaConvolutionWeightGradientF32(%{{.*}}, %{{.*}}, %[[TARGET]], {{.*}}, %[[ADD]])
// CHECK-NOT: nn.accumulate
// CHECK: return
nn.function @weight_gradient(%acc: tensor<6x4x3xf32>, %x: tensor<2x4x9xf32>, %dy: tensor<6x2x7xf32>) -> tensor<6x4x3xf32> {
  %0 = nn.im2col %x strides [1] dilations [1] : tensor<2x4x9xf32> -> tensor<2x4x3x7xf32>
  %1 = nn.transpose %0 [1, 2, 0, 3] : tensor<2x4x3x7xf32> -> tensor<4x3x2x7xf32>
  %2 = nn.reshape %1 : tensor<4x3x2x7xf32> -> tensor<12x14xf32>
  %3 = nn.reshape %dy : tensor<6x2x7xf32> -> tensor<6x14xf32>
  %4 = nn.matmul %3, %2 transpose_rhs : tensor<6x14xf32>, tensor<12x14xf32> -> tensor<6x12xf32>
  %5 = nn.reshape %4 : tensor<6x12xf32> -> tensor<6x4x3xf32>
  %6 = nn.accumulate %acc, %5 : tensor<6x4x3xf32>
  nn.return %6 : tensor<6x4x3xf32>
}

// Windows of one element need no op; the image is rounded before it is moved.

// CHECK-LABEL: func.func @layer.narrow(
// CHECK: nn.cast %{{.*}} : tensor<2x4x5x5xf32> -> tensor<2x4x5x5xbf16>
// CHECK: call @pprtCudaConvolutionBF16(
// CHECK-NOT: nn.matmul
// CHECK: return
nn.function @narrow(%x: tensor<2x4x5x5xf32>, %w: tensor<6x4xbf16>) -> tensor<2x6x5x5xbf16> {
  %0 = nn.reshape %x : tensor<2x4x5x5xf32> -> tensor<2x4x1x1x5x5xf32>
  %1 = nn.transpose %0 [1, 2, 3, 0, 4, 5] : tensor<2x4x1x1x5x5xf32> -> tensor<4x1x1x2x5x5xf32>
  %2 = nn.reshape %1 : tensor<4x1x1x2x5x5xf32> -> tensor<4x50xf32>
  %3 = nn.cast %2 : tensor<4x50xf32> -> tensor<4x50xbf16>
  %4 = nn.matmul %w, %3 : tensor<6x4xbf16>, tensor<4x50xbf16> -> tensor<6x50xbf16>
  %5 = nn.reshape %4 : tensor<6x50xbf16> -> tensor<6x2x5x5xbf16>
  %6 = nn.transpose %5 [1, 0, 2, 3] : tensor<6x2x5x5xbf16> -> tensor<2x6x5x5xbf16>
  nn.return %6 : tensor<2x6x5x5xbf16>
}

// Zeros on one side only are put there by other code: the library has an image
// without padding.

// CHECK-LABEL: func.func @layer.one_side(
// CHECK: %[[PADDED:.*]] = nn.pad
// CHECK: bufferization.to_buffer %[[PADDED]]
// CHECK: call @pprtCudaConvolutionF32(
// CHECK: return
nn.function @one_side(%x: tensor<2x4x6xf32>, %w: tensor<6x12xf32>) -> tensor<2x6x6xf32> {
  %0 = nn.pad %x low [0, 0, 2] high [0, 0, 0] interior [0, 0, 0] : tensor<2x4x6xf32> -> tensor<2x4x8xf32>
  %1 = nn.im2col %0 strides [1] dilations [1] : tensor<2x4x8xf32> -> tensor<2x4x3x6xf32>
  %2 = nn.transpose %1 [1, 2, 0, 3] : tensor<2x4x3x6xf32> -> tensor<4x3x2x6xf32>
  %3 = nn.reshape %2 : tensor<4x3x2x6xf32> -> tensor<12x12xf32>
  %4 = nn.matmul %w, %3 : tensor<6x12xf32>, tensor<12x12xf32> -> tensor<6x12xf32>
  %5 = nn.reshape %4 : tensor<6x12xf32> -> tensor<6x2x6xf32>
  %6 = nn.transpose %5 [1, 0, 2] : tensor<6x2x6xf32> -> tensor<2x6x6xf32>
  nn.return %6 : tensor<2x6x6xf32>
}

// Nor does it have padding that is not zero.

// CHECK-LABEL: func.func @layer.padded_with_one(
// CHECK: nn.pad %{{.*}} {value = 1.0
// CHECK: call @pprtCudaConvolutionF32(
nn.function @padded_with_one(%x: tensor<2x4x6xf32>, %w: tensor<6x12xf32>) -> tensor<2x6x6xf32> {
  %0 = nn.pad %x low [0, 0, 1] high [0, 0, 1] interior [0, 0, 0] {value = 1.0} : tensor<2x4x6xf32> -> tensor<2x4x8xf32>
  %1 = nn.im2col %0 strides [1] dilations [1] : tensor<2x4x8xf32> -> tensor<2x4x3x6xf32>
  %2 = nn.transpose %1 [1, 2, 0, 3] : tensor<2x4x3x6xf32> -> tensor<4x3x2x6xf32>
  %3 = nn.reshape %2 : tensor<4x3x2x6xf32> -> tensor<12x12xf32>
  %4 = nn.matmul %w, %3 : tensor<6x12xf32>, tensor<12x12xf32> -> tensor<6x12xf32>
  %5 = nn.reshape %4 : tensor<6x12xf32> -> tensor<6x2x6xf32>
  %6 = nn.transpose %5 [1, 0, 2] : tensor<6x2x6xf32> -> tensor<2x6x6xf32>
  nn.return %6 : tensor<2x6x6xf32>
}

// The library rounds the gradient of narrow weights before it is added to the
// accumulator.

// CHECK-LABEL: func.func @layer.widened(
// CHECK-NOT: nn.im2col
// CHECK: %[[NARROW:.*]] = memref.alloc() : memref<6x12xbf16>
// CHECK: %[[TARGET:.*]] = memref.reinterpret_cast %[[NARROW]]
// CHECK: %[[ADD:.*]] = arith.constant 0 : i32
// CHECK-NEXT: call @pprtCudaConvolutionWeightGradientBF16(%{{.*}}, %{{.*}}, %[[TARGET]], {{.*}}, %[[ADD]])
// CHECK: %[[GRADIENT:.*]] = bufferization.to_tensor %[[NARROW]]
// CHECK: %[[WIDE:.*]] = nn.cast %[[GRADIENT]] : tensor<6x12xbf16> -> tensor<6x12xf32>
// CHECK: nn.accumulate %{{.*}}, %[[WIDE]]
// CHECK-NOT: nn.matmul
// CHECK: return
nn.function @widened(%acc: tensor<6x12xf32>, %x: tensor<2x4x9xbf16>, %dy: tensor<2x6x7xbf16>) -> tensor<6x12xf32> {
  %0 = nn.im2col %x strides [1] dilations [1] : tensor<2x4x9xbf16> -> tensor<2x4x3x7xbf16>
  %1 = nn.transpose %0 [1, 2, 0, 3] : tensor<2x4x3x7xbf16> -> tensor<4x3x2x7xbf16>
  %2 = nn.reshape %1 : tensor<4x3x2x7xbf16> -> tensor<12x14xbf16>
  %3 = nn.transpose %dy [1, 0, 2] : tensor<2x6x7xbf16> -> tensor<6x2x7xbf16>
  %4 = nn.reshape %3 : tensor<6x2x7xbf16> -> tensor<6x14xbf16>
  %5 = nn.matmul %4, %2 transpose_rhs : tensor<6x14xbf16>, tensor<12x14xbf16> -> tensor<6x12xf32>
  %6 = nn.accumulate %acc, %5 : tensor<6x12xf32>
  nn.return %6 : tensor<6x12xf32>
}

// So it does with that of a narrow input.

// CHECK-LABEL: func.func @layer.widened_input(
// CHECK: call @pprtCudaConvolutionInputGradientBF16(
// CHECK: nn.cast %{{.*}} : tensor<2x4x9xbf16> -> tensor<2x4x9xf32>
// CHECK-NOT: nn.matmul
// CHECK: return
nn.function @widened_input(%dy: tensor<2x6x7xbf16>, %w: tensor<6x12xbf16>) -> tensor<2x4x9xf32> {
  %0 = nn.transpose %dy [1, 0, 2] : tensor<2x6x7xbf16> -> tensor<6x2x7xbf16>
  %1 = nn.reshape %0 : tensor<6x2x7xbf16> -> tensor<6x14xbf16>
  %2 = nn.matmul %w, %1 transpose_lhs : tensor<6x12xbf16>, tensor<6x14xbf16> -> tensor<12x14xf32>
  %3 = nn.reshape %2 : tensor<12x14xf32> -> tensor<4x3x2x7xf32>
  %4 = nn.transpose %3 [2, 0, 1, 3] : tensor<4x3x2x7xf32> -> tensor<2x4x3x7xf32>
  %5 = nn.col2im %4 strides [1] dilations [1] : tensor<2x4x3x7xf32> -> tensor<2x4x9xf32>
  nn.return %5 : tensor<2x4x9xf32>
}

// Three axes, windows that leave out one that would fit, and products that
// something else uses stay products.

// CHECK-LABEL: func.func @layer.three_axes(
// CHECK-NOT: Convolution
// CHECK: nn.im2col
// CHECK: call @pprtCudaMatmulF32(
nn.function @three_axes(%x: tensor<1x2x3x3x3xf32>, %dy: tensor<1x4x2x2x2xf32>) -> tensor<4x16xf32> {
  %0 = nn.im2col %x strides [1, 1, 1] dilations [1, 1, 1] : tensor<1x2x3x3x3xf32> -> tensor<1x2x2x2x2x2x2x2xf32>
  %1 = nn.transpose %0 [1, 2, 3, 4, 0, 5, 6, 7] : tensor<1x2x2x2x2x2x2x2xf32> -> tensor<2x2x2x2x1x2x2x2xf32>
  %2 = nn.reshape %1 : tensor<2x2x2x2x1x2x2x2xf32> -> tensor<16x8xf32>
  %3 = nn.transpose %dy [1, 0, 2, 3, 4] : tensor<1x4x2x2x2xf32> -> tensor<4x1x2x2x2xf32>
  %4 = nn.reshape %3 : tensor<4x1x2x2x2xf32> -> tensor<4x8xf32>
  %5 = nn.matmul %4, %2 transpose_rhs : tensor<4x8xf32>, tensor<16x8xf32> -> tensor<4x16xf32>
  nn.return %5 : tensor<4x16xf32>
}

// CHECK-LABEL: func.func @layer.fewer_windows(
// CHECK-NOT: Convolution
// CHECK: nn.im2col
// CHECK: call @pprtCudaMatmulF32(
nn.function @fewer_windows(%x: tensor<2x4x9xf32>, %dy: tensor<2x6x6xf32>) -> tensor<6x12xf32> {
  %0 = nn.im2col %x strides [1] dilations [1] : tensor<2x4x9xf32> -> tensor<2x4x3x6xf32>
  %1 = nn.transpose %0 [1, 2, 0, 3] : tensor<2x4x3x6xf32> -> tensor<4x3x2x6xf32>
  %2 = nn.reshape %1 : tensor<4x3x2x6xf32> -> tensor<12x12xf32>
  %3 = nn.transpose %dy [1, 0, 2] : tensor<2x6x6xf32> -> tensor<6x2x6xf32>
  %4 = nn.reshape %3 : tensor<6x2x6xf32> -> tensor<6x12xf32>
  %5 = nn.matmul %4, %2 transpose_rhs : tensor<6x12xf32>, tensor<12x12xf32> -> tensor<6x12xf32>
  nn.return %5 : tensor<6x12xf32>
}

// CHECK-LABEL: func.func @layer.used_twice(
// CHECK-NOT: Convolution
// CHECK: nn.im2col
// CHECK: call @pprtCudaMatmulF32(
// CHECK-NOT: Convolution
nn.function @used_twice(%x: tensor<2x4x9xf32>, %w: tensor<6x12xf32>) -> (tensor<2x6x7xf32>, tensor<6x14xf32>) {
  %0 = nn.im2col %x strides [1] dilations [1] : tensor<2x4x9xf32> -> tensor<2x4x3x7xf32>
  %1 = nn.transpose %0 [1, 2, 0, 3] : tensor<2x4x3x7xf32> -> tensor<4x3x2x7xf32>
  %2 = nn.reshape %1 : tensor<4x3x2x7xf32> -> tensor<12x14xf32>
  %3 = nn.matmul %w, %2 : tensor<6x12xf32>, tensor<12x14xf32> -> tensor<6x14xf32>
  %4 = nn.reshape %3 : tensor<6x14xf32> -> tensor<6x2x7xf32>
  %5 = nn.transpose %4 [1, 0, 2] : tensor<6x2x7xf32> -> tensor<2x6x7xf32>
  nn.return %5, %3 : tensor<2x6x7xf32>, tensor<6x14xf32>
}
