nn.function @moves(%x: tensor<2x4xf32>) -> tensor<4x4xf32> {
  %0 = nn.reshape %x : tensor<2x4xf32> -> tensor<8xf32>
  %1 = nn.transpose %x [1, 0] : tensor<2x4xf32> -> tensor<4x2xf32>
  %2 = nn.broadcast %0 : tensor<8xf32> -> tensor<3x8xf32>
  %3 = nn.slice %2 offsets [0, 1] strides [1, 2] : tensor<3x8xf32> -> tensor<2x4xf32>
  %4 = nn.reverse %3 axes [0, 1] : tensor<2x4xf32>
  %5 = nn.pad %1 low [0, 1] high [0, 0] interior [0, 1] : tensor<4x2xf32> -> tensor<4x4xf32>
  %6 = nn.pad %1 low [0, 2] high [0, 0] interior [0, 0] {value = 1.0} : tensor<4x2xf32> -> tensor<4x4xf32>
  %7 = nn.concat %3, %4 axis 0 : tensor<2x4xf32>, tensor<2x4xf32> -> tensor<4x4xf32>
  nn.return %7 : tensor<4x4xf32>
}

nn.function @constants() -> tensor<3xi64> {
  %0 = nn.constant dense<0.0> : tensor<1024x1024xf32>
  %1 = nn.constant dense<[1, 2, 3]> : tensor<3xi64>
  nn.return %1 : tensor<3xi64>
}
