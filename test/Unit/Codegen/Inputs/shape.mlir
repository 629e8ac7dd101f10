// Arguments take values from `test.low` to `test.high`.

nn.function @constant(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %c = nn.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %0 = nn.add %x, %c : tensor<2x3xf32>
  nn.return %0, %c : tensor<2x3xf32>, tensor<2x3xf32>
}

nn.function @constant_alone() -> (tensor<2x3xf32>) {
  %c = nn.constant dense<1.0> : tensor<2x3xf32>
  nn.return %c : tensor<2x3xf32>
}

nn.function @reshape_collapse(%x: tensor<2x3x4xf32>) -> (tensor<6x4xf32>) {
  %0 = nn.reshape %x : tensor<2x3x4xf32> -> tensor<6x4xf32>
  nn.return %0 : tensor<6x4xf32>
}

nn.function @reshape_expand(%x: tensor<6x4xf32>) -> (tensor<3x2x4xf32>) {
  %0 = nn.reshape %x : tensor<6x4xf32> -> tensor<3x2x4xf32>
  nn.return %0 : tensor<3x2x4xf32>
}

nn.function @reshape_general(%x: tensor<6x4xf32>) -> (tensor<8x3xf32>) {
  %0 = nn.reshape %x : tensor<6x4xf32> -> tensor<8x3xf32>
  nn.return %0 : tensor<8x3xf32>
}

nn.function @reshape_to_scalar(%x: tensor<1x1xf32>) -> (tensor<f32>) {
  %0 = nn.reshape %x : tensor<1x1xf32> -> tensor<f32>
  nn.return %0 : tensor<f32>
}

nn.function @reshape_from_scalar(%x: tensor<f32>) -> (tensor<1x1xf32>) {
  %0 = nn.reshape %x : tensor<f32> -> tensor<1x1xf32>
  nn.return %0 : tensor<1x1xf32>
}

nn.function @reshape_ones(%x: tensor<3x4xf32>) -> (tensor<3x1x4x1xf32>) {
  %0 = nn.reshape %x : tensor<3x4xf32> -> tensor<3x1x4x1xf32>
  nn.return %0 : tensor<3x1x4x1xf32>
}

nn.function @reshape_one_axis(%x: tensor<2x3x4xf32>) -> (tensor<24xf32>) {
  %0 = nn.reshape %x : tensor<2x3x4xf32> -> tensor<24xf32>
  nn.return %0 : tensor<24xf32>
}

nn.function @transpose_021(%x: tensor<3x4x5xf32>) -> (tensor<3x5x4xf32>) {
  %0 = nn.transpose %x [0, 2, 1] : tensor<3x4x5xf32> -> tensor<3x5x4xf32>
  nn.return %0 : tensor<3x5x4xf32>
}

nn.function @transpose_201(%x: tensor<3x4x5xf32>) -> (tensor<5x3x4xf32>) {
  %0 = nn.transpose %x [2, 0, 1] : tensor<3x4x5xf32> -> tensor<5x3x4xf32>
  nn.return %0 : tensor<5x3x4xf32>
}

nn.function @transpose_210(%x: tensor<3x4x5xf32>) -> (tensor<5x4x3xf32>) {
  %0 = nn.transpose %x [2, 1, 0] : tensor<3x4x5xf32> -> tensor<5x4x3xf32>
  nn.return %0 : tensor<5x4x3xf32>
}

nn.function @broadcast_row(%x: tensor<5xf32>) -> (tensor<3x4x5xf32>) {
  %0 = nn.broadcast %x : tensor<5xf32> -> tensor<3x4x5xf32>
  nn.return %0 : tensor<3x4x5xf32>
}

nn.function @broadcast_column(%x: tensor<4x1xf32>) -> (tensor<3x4x5xf32>) {
  %0 = nn.broadcast %x : tensor<4x1xf32> -> tensor<3x4x5xf32>
  nn.return %0 : tensor<3x4x5xf32>
}

nn.function @broadcast_scalar(%x: tensor<f32>) -> (tensor<3x4x5xf32>) {
  %0 = nn.broadcast %x : tensor<f32> -> tensor<3x4x5xf32>
  nn.return %0 : tensor<3x4x5xf32>
}

nn.function @broadcast_middle(%x: tensor<3x1x5xf32>) -> (tensor<3x4x5xf32>) {
  %0 = nn.broadcast %x : tensor<3x1x5xf32> -> tensor<3x4x5xf32>
  nn.return %0 : tensor<3x4x5xf32>
}

nn.function @broadcast_same(%x: tensor<3x4x5xf32>) -> (tensor<3x4x5xf32>) {
  %0 = nn.broadcast %x : tensor<3x4x5xf32> -> tensor<3x4x5xf32>
  nn.return %0 : tensor<3x4x5xf32>
}

nn.function @slice(%x: tensor<7x9xf32>) -> (tensor<3x2xf32>) {
  %0 = nn.slice %x offsets [1, 2] strides [2, 3] : tensor<7x9xf32> -> tensor<3x2xf32>
  nn.return %0 : tensor<3x2xf32>
}

nn.function @reverse(%x: tensor<3x4x5xi32>) -> (tensor<3x4x5xi32>) {
  %0 = nn.reverse %x axes [0, 2] : tensor<3x4x5xi32>
  nn.return %0 : tensor<3x4x5xi32>
}

nn.function @pad(%x: tensor<3x4xf32>) -> (tensor<8x7xf32>) {
  %0 = nn.pad %x low [1, 0] high [2, 3] interior [1, 0] {value = 2.5} : tensor<3x4xf32> -> tensor<8x7xf32>
  nn.return %0 : tensor<8x7xf32>
}

nn.function @pad_integer(%x: tensor<3xi64>) -> (tensor<8xi64>) {
  %0 = nn.pad %x low [1] high [0] interior [2] : tensor<3xi64> -> tensor<8xi64>
  nn.return %0 : tensor<8xi64>
}

nn.function @concat(%x: tensor<3x4xf32>, %y: tensor<3x2xf32>) -> (tensor<3x10xf32>) {
  %0 = nn.concat %x, %y, %x axis 1 : tensor<3x4xf32>, tensor<3x2xf32>, tensor<3x4xf32> -> tensor<3x10xf32>
  nn.return %0 : tensor<3x10xf32>
}

// What has no elements needs no code, and adds nothing to what it is joined to.

nn.function @no_elements(%x: tensor<4x6xf32>, %none: tensor<4x0xf32>) -> (tensor<4x0xf32>, tensor<4x6xf32>, tensor<4xf32>, tensor<4x2xf32>) {
  %0 = nn.slice %x offsets [0, 6] strides [1, 1] : tensor<4x6xf32> -> tensor<4x0xf32>
  %1 = nn.add %0, %none : tensor<4x0xf32>
  %2 = nn.concat %x, %1 axis 1 : tensor<4x6xf32>, tensor<4x0xf32> -> tensor<4x6xf32>
  %3 = nn.reduce sum %1 axes [1] : tensor<4x0xf32> -> tensor<4xf32>
  %4 = nn.transpose %none [1, 0] : tensor<4x0xf32> -> tensor<0x4xf32>
  %5 = nn.matmul %none, %4 : tensor<4x0xf32>, tensor<0x4xf32> -> tensor<4x4xf32>
  %6 = nn.slice %5 offsets [0, 1] strides [1, 1] : tensor<4x4xf32> -> tensor<4x2xf32>
  nn.return %1, %2, %3, %6 : tensor<4x0xf32>, tensor<4x6xf32>, tensor<4xf32>, tensor<4x2xf32>
}
