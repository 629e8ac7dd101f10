// RUN: pp-opt %s --split-input-file --verify-diagnostics

nn.function @no_space(%x: tensor<2x3xf32>) {
  // expected-error @below {{'nn.im2col' op has images of rank 2 and windows of rank 2; n spatial axes make ranks n + 2 and 2 n + 2}}
  %0 = nn.im2col %x strides [] dilations [] : tensor<2x3xf32> -> tensor<2x3xf32>
  nn.return
}

// -----

nn.function @one_stride_missing(%x: tensor<1x1x4x4xf32>) {
  // expected-error @below {{'nn.im2col' op has 1 strides for a tensor of rank 2}}
  %0 = nn.im2col %x strides [1] dilations [1, 1] : tensor<1x1x4x4xf32> -> tensor<1x1x2x2x3x3xf32>
  nn.return
}

// -----

nn.function @other_channels(%x: tensor<1x2x4xf32>) {
  // expected-error @below {{'nn.im2col' op has batch and channels [1, 2] and [1, 3]; they must be equal}}
  %0 = nn.im2col %x strides [1] dilations [1] : tensor<1x2x4xf32> -> tensor<1x3x2x3xf32>
  nn.return
}

// -----

nn.function @over_the_end(%x: tensor<1x1x2x4xf32>) {
  // expected-error @below {{'nn.col2im' op has windows that reach over 5 elements of spatial axis 0, which has 4}}
  %0 = nn.col2im %x strides [1] dilations [1] : tensor<1x1x2x4xf32> -> tensor<1x1x4xf32>
  nn.return
}
