// Arguments take values from `test.low` to `test.high`.

nn.function @cross_entropy(%x: tensor<3x5x7xf32>, %l: tensor<3x5xi64> {test.low = -1.0, test.high = 6.0}) -> (tensor<f32>, tensor<f32>) {
  %s, %w = nn.cross_entropy %x, %l ignore -1 : (tensor<3x5x7xf32>, tensor<3x5xi64>) -> (tensor<f32>, tensor<f32>)
  nn.return %s, %w : tensor<f32>, tensor<f32>
}

nn.function @cross_entropy_grad(%d: tensor<f32>, %x: tensor<15x7xf32>, %l: tensor<15xi32> {test.low = -1.0, test.high = 6.0}) -> (tensor<15x7xf32>) {
  %0 = nn.cross_entropy_grad %d, %x, %l ignore -1 : (tensor<f32>, tensor<15x7xf32>, tensor<15xi32>) -> tensor<15x7xf32>
  nn.return %0 : tensor<15x7xf32>
}
