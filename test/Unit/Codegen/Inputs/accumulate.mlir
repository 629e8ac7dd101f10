// Arguments take values from `test.low` to `test.high`.

// Three ways to fill an accumulator, none of which needs memory of its own.

nn.function @accumulate(%dy: tensor<4x16xf32>, %x: tensor<4x8xf32>, %ids: tensor<4xi64> {test.low = -2.0, test.high = 2.0}, %a: tensor<16x8xf32>, %b: tensor<4x8xf32>, %c: tensor<3x8xf32>) -> (tensor<16x8xf32>, tensor<4x8xf32>, tensor<3x8xf32>) {
  %0 = nn.matmul %dy, %x transpose_lhs : tensor<4x16xf32>, tensor<4x8xf32> -> tensor<16x8xf32>
  %1 = nn.accumulate %a, %0 : tensor<16x8xf32>
  %2 = nn.mul %x, %x : tensor<4x8xf32>
  %3 = nn.accumulate %b, %2 : tensor<4x8xf32>
  %4 = nn.scatter_add %x, %ids axis 0 : tensor<4x8xf32>, tensor<4xi64> -> tensor<3x8xf32>
  %5 = nn.accumulate %c, %4 : tensor<3x8xf32>
  nn.return %1, %3, %5 : tensor<16x8xf32>, tensor<4x8xf32>, tensor<3x8xf32>
}

// One parameter that is used twice: the contributions are added one by one.

nn.function @accumulate_twice(%dy: tensor<4x16xf32>, %x: tensor<4x8xf32>, %dz: tensor<16x8xf32>, %a: tensor<16x8xf32>) -> (tensor<16x8xf32>) {
  %0 = nn.matmul %dy, %x transpose_lhs : tensor<4x16xf32>, tensor<4x8xf32> -> tensor<16x8xf32>
  %1 = nn.accumulate %a, %0 : tensor<16x8xf32>
  %2 = nn.reduce sum %dy axes [0] : tensor<4x16xf32> -> tensor<16xf32>
  %3 = nn.reshape %2 : tensor<16xf32> -> tensor<16x1xf32>
  %4 = nn.broadcast %3 : tensor<16x1xf32> -> tensor<16x8xf32>
  %5 = nn.mul %4, %dz : tensor<16x8xf32>
  %6 = nn.accumulate %1, %5 : tensor<16x8xf32>
  %7 = nn.matmul %dy, %x transpose_lhs : tensor<4x16xf32>, tensor<4x8xf32> -> tensor<16x8xf32>
  %8 = nn.accumulate %6, %7 : tensor<16x8xf32>
  nn.return %8 : tensor<16x8xf32>
}
