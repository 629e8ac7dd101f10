nn.function @joined_heads(%q: tensor<6x4x8xf32>, %k: tensor<6x5x8xf32>, %v: tensor<6x5x7xf32>, %m: tensor<2x1x4x5xf32>) -> tensor<6x4x7xf32> {
  %0 = nn.matmul %q, %k transpose_rhs : tensor<6x4x8xf32>, tensor<6x5x8xf32> -> tensor<6x4x5xf32>
  %1 = nn.reshape %0 : tensor<6x4x5xf32> -> tensor<2x3x4x5xf32>
  %2 = nn.broadcast %m : tensor<2x1x4x5xf32> -> tensor<2x3x4x5xf32>
  %3 = nn.add %2, %1 : tensor<2x3x4x5xf32>
  %4 = nn.softmax %3 axis 3 : tensor<2x3x4x5xf32>
  %5 = nn.reshape %4 : tensor<2x3x4x5xf32> -> tensor<6x4x5xf32>
  %6 = nn.matmul %5, %v : tensor<6x4x5xf32>, tensor<6x5x7xf32> -> tensor<6x4x7xf32>
  nn.return %6 : tensor<6x4x7xf32>
ds