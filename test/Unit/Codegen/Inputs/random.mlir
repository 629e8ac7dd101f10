// Arguments take values from `test.low` to `test.high`.

nn.function @dropout_mask(%k: tensor<2xi64> {test.low = 1000.0, test.high = 900000000000.0}) -> (tensor<3x4x16xf32>) {
  %0 = nn.dropout_mask %k ratio 1.0e-1 stream 3 : tensor<2xi64> -> tensor<3x4x16xf32>
  nn.return %0 : tensor<3x4x16xf32>
}

nn.function @dropout_mask_uneven(%k: tensor<2xi64> {test.low = 1000.0, test.high = 900000000000.0}) -> (tensor<3x7xf32>) {
  %0 = nn.dropout_mask %k ratio 5.0e-1 stream 0 : tensor<2xi64> -> tensor<3x7xf32>
  nn.return %0 : tensor<3x7xf32>
}

nn.function @dropout_mask_small(%k: tensor<2xi64> {test.low = 1000.0, test.high = 900000000000.0}) -> (tensor<3xf32>) {
  %0 = nn.dropout_mask %k ratio 2.5e-1 stream 1 : tensor<2xi64> -> tensor<3xf32>
  nn.return %0 : tensor<3xf32>
}

nn.function @dropout_mask_none(%k: tensor<2xi64> {test.low = 1000.0, test.high = 900000000000.0}) -> (tensor<9xf32>) {
  %0 = nn.dropout_mask %k ratio 0.0 stream 4000000000 : tensor<2xi64> -> tensor<9xf32>
  nn.return %0 : tensor<9xf32>
}
