// Arguments take values from `test.low` to `test.high`.

nn.function @gather_0_2_3(%t: tensor<6x4xf32>, %i: tensor<2x3xi64> {test.low = -6.0, test.high = 5.0}) -> (tensor<2x3x4xf32>) {
  %0 = nn.gather %t, %i axis 0 : tensor<6x4xf32>, tensor<2x3xi64> -> tensor<2x3x4xf32>
  nn.return %0 : tensor<2x3x4xf32>
}

nn.function @scatter_add_0_2_3(%u: tensor<2x3x4xf32>, %i: tensor<2x3xi32> {test.low = -6.0, test.high = 5.0}) -> (tensor<6x4xf32>) {
  %0 = nn.scatter_add %u, %i axis 0 : tensor<2x3x4xf32>, tensor<2x3xi32> -> tensor<6x4xf32>
  nn.return %0 : tensor<6x4xf32>
}

nn.function @gather_1_4(%t: tensor<3x6x2xf32>, %i: tensor<4xi64> {test.low = -6.0, test.high = 5.0}) -> (tensor<3x4x2xf32>) {
  %0 = nn.gather %t, %i axis 1 : tensor<3x6x2xf32>, tensor<4xi64> -> tensor<3x4x2xf32>
  nn.return %0 : tensor<3x4x2xf32>
}

nn.function @scatter_add_1_4(%u: tensor<3x4x2xf32>, %i: tensor<4xi32> {test.low = -6.0, test.high = 5.0}) -> (tensor<3x6x2xf32>) {
  %0 = nn.scatter_add %u, %i axis 1 : tensor<3x4x2xf32>, tensor<4xi32> -> tensor<3x6x2xf32>
  nn.return %0 : tensor<3x6x2xf32>
}

nn.function @gather_1_2_2(%t: tensor<3x6xf32>, %i: tensor<2x2xi64> {test.low = -6.0, test.high = 5.0}) -> (tensor<3x2x2xf32>) {
  %0 = nn.gather %t, %i axis 1 : tensor<3x6xf32>, tensor<2x2xi64> -> tensor<3x2x2xf32>
  nn.return %0 : tensor<3x2x2xf32>
}

nn.function @scatter_add_1_2_2(%u: tensor<3x2x2xf32>, %i: tensor<2x2xi32> {test.low = -6.0, test.high = 5.0}) -> (tensor<3x6xf32>) {
  %0 = nn.scatter_add %u, %i axis 1 : tensor<3x2x2xf32>, tensor<2x2xi32> -> tensor<3x6xf32>
  nn.return %0 : tensor<3x6xf32>
}
