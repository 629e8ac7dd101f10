nn.function @im2col_1d(%x: tensor<2x3x9xf32>) -> (tensor<2x3x3x4xf32>) {
  %0 = nn.im2col %x strides [2] dilations [1] : tensor<2x3x9xf32> -> tensor<2x3x3x4xf32>
  nn.return %0 : tensor<2x3x3x4xf32>
}

nn.function @im2col_2d_dilated(%x: tensor<2x2x9x8xf32>) -> (tensor<2x2x3x2x4x6xf32>) {
  %0 = nn.im2col %x strides [2, 1] dilations [1, 2] : tensor<2x2x9x8xf32> -> tensor<2x2x3x2x4x6xf32>
  nn.return %0 : tensor<2x2x3x2x4x6xf32>
}

nn.function @col2im_1d_gaps(%x: tensor<2x3x2x4xf32>) -> (tensor<2x3x11xf32>) {
  %0 = nn.col2im %x strides [3] dilations [1] : tensor<2x3x2x4xf32> -> tensor<2x3x11xf32>
  nn.return %0 : tensor<2x3x11xf32>
}

nn.function @col2im_2d_overlap(%x: tensor<2x2x3x2x4x6xf32>) -> (tensor<2x2x9x8xf32>) {
  %0 = nn.col2im %x strides [2, 1] dilations [1, 2] : tensor<2x2x3x2x4x6xf32> -> tensor<2x2x9x8xf32>
  nn.return %0 : tensor<2x2x9x8xf32>
}

nn.function @col2im_added(%a: tensor<1x1x6xf32>, %x: tensor<1x1x3x4xf32>) -> (tensor<1x1x6xf32>) {
  %0 = nn.col2im %x strides [1] dilations [1] : tensor<1x1x3x4xf32> -> tensor<1x1x6xf32>
  %1 = nn.accumulate %a, %0 : tensor<1x1x6xf32>
  nn.return %1 : tensor<1x1x6xf32>
}

nn.function @max_pool(%x: tensor<2x2x6x6xf32>) -> (tensor<2x2x3x3xf32>) {
  %0 = nn.im2col %x strides [2, 2] dilations [1, 1] : tensor<2x2x6x6xf32> -> tensor<2x2x2x2x3x3xf32>
  %1 = nn.reduce max %0 axes [2, 3] : tensor<2x2x2x2x3x3xf32> -> tensor<2x2x3x3xf32>
  nn.return %1 : tensor<2x2x3x3xf32>
}

nn.function @global_max_pool(%x: tensor<2x3x5x4xf32>) -> (tensor<2x3x1x1xf32>) {
  %0 = nn.im2col %x strides [1, 1] dilations [1, 1] : tensor<2x3x5x4xf32> -> tensor<2x3x5x4x1x1xf32>
  %1 = nn.reduce max %0 axes [2, 3] : tensor<2x3x5x4x1x1xf32> -> tensor<2x3x1x1xf32>
  nn.return %1 : tensor<2x3x1x1xf32>
}

nn.function @col2im_whole(%a: tensor<2x3x5x4xf32>, %x: tensor<2x3x5x4x1x1xf32>) -> (tensor<2x3x5x4xf32>) {
  %0 = nn.col2im %x strides [1, 1] dilations [1, 1] : tensor<2x3x5x4x1x1xf32> -> tensor<2x3x5x4xf32>
  %1 = nn.accumulate %a, %0 : tensor<2x3x5x4xf32>
  nn.return %1 : tensor<2x3x5x4xf32>
}

nn.function @convolution(%x: tensor<2x3x6x6xf32>, %w: tensor<4x27xf32>) -> (tensor<4x32xf32>) {
  %0 = nn.im2col %x strides [1, 1] dilations [1, 1] : tensor<2x3x6x6xf32> -> tensor<2x3x3x3x4x4xf32>
  %1 = nn.transpose %0 [1, 2, 3, 0, 4, 5] : tensor<2x3x3x3x4x4xf32> -> tensor<3x3x3x2x4x4xf32>
  %2 = nn.reshape %1 : tensor<3x3x3x2x4x4xf32> -> tensor<27x32xf32>
  %3 = nn.matmul %w, %2 : tensor<4x27xf32>, tensor<27x32xf32> -> tensor<4x32xf32>
  nn.return %3 : tensor<4x32xf32>
}
