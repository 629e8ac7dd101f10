// Arguments take values from `test.low` to `test.high`.

nn.function @matmul_nn(%a: tensor<3x5xf32>, %b: tensor<5x4xf32>) -> (tensor<3x4xf32>) {
  %0 = nn.matmul %a, %b : tensor<3x5xf32>, tensor<5x4xf32> -> tensor<3x4xf32>
  nn.return %0 : tensor<3x4xf32>
}

nn.function @matmul_nt(%a: tensor<3x5xf32>, %b: tensor<4x5xf32>) -> (tensor<3x4xf32>) {
  %0 = nn.matmul %a, %b transpose_rhs : tensor<3x5xf32>, tensor<4x5xf32> -> tensor<3x4xf32>
  nn.return %0 : tensor<3x4xf32>
}

nn.function @matmul_tn(%a: tensor<5x3xf32>, %b: tensor<5x4xf32>) -> (tensor<3x4xf32>) {
  %0 = nn.matmul %a, %b transpose_lhs : tensor<5x3xf32>, tensor<5x4xf32> -> tensor<3x4xf32>
  nn.return %0 : tensor<3x4xf32>
}

nn.function @matmul_tt(%a: tensor<5x3xf32>, %b: tensor<4x5xf32>) -> (tensor<3x4xf32>) {
  %0 = nn.matmul %a, %b transpose_lhs transpose_rhs : tensor<5x3xf32>, tensor<4x5xf32> -> tensor<3x4xf32>
  nn.return %0 : tensor<3x4xf32>
}

nn.function @matmul_batched(%a: tensor<2x2x3x5xf32>, %b: tensor<2x2x5x4xf32>) -> (tensor<2x2x3x4xf32>) {
  %0 = nn.matmul %a, %b : tensor<2x2x3x5xf32>, tensor<2x2x5x4xf32> -> tensor<2x2x3x4xf32>
  nn.return %0 : tensor<2x2x3x4xf32>
}

nn.function @matmul_batched_nt(%a: tensor<2x3x5xf32>, %b: tensor<2x4x5xf32>) -> (tensor<2x3x4xf32>) {
  %0 = nn.matmul %a, %b transpose_rhs : tensor<2x3x5xf32>, tensor<2x4x5xf32> -> tensor<2x3x4xf32>
  nn.return %0 : tensor<2x3x4xf32>
}

nn.function @matmul_double(%a: tensor<2x3x5xf64>, %b: tensor<2x5x4xf64>) -> (tensor<2x3x4xf64>) {
  %0 = nn.matmul %a, %b : tensor<2x3x5xf64>, tensor<2x5x4xf64> -> tensor<2x3x4xf64>
  nn.return %0 : tensor<2x3x4xf64>
}

nn.function @matmul_double_tt(%a: tensor<5x3xf64>, %b: tensor<4x5xf64>) -> (tensor<3x4xf64>) {
  %0 = nn.matmul %a, %b transpose_lhs transpose_rhs : tensor<5x3xf64>, tensor<4x5xf64> -> tensor<3x4xf64>
  nn.return %0 : tensor<3x4xf64>
}

nn.function @matmul_one_weight(%a: tensor<2x3x5xf32>, %b: tensor<4x5xf32>) -> (tensor<2x3x4xf32>, tensor<2x4x3xf32>, tensor<2x5x5xf32>) {
  %w = nn.broadcast %b : tensor<4x5xf32> -> tensor<2x4x5xf32>
  %0 = nn.matmul %a, %w transpose_rhs : tensor<2x3x5xf32>, tensor<2x4x5xf32> -> tensor<2x3x4xf32>
  %1 = nn.matmul %w, %a transpose_rhs : tensor<2x4x5xf32>, tensor<2x3x5xf32> -> tensor<2x4x3xf32>
  %2 = nn.matmul %w, %w transpose_lhs : tensor<2x4x5xf32>, tensor<2x4x5xf32> -> tensor<2x5x5xf32>
  nn.return %0, %1, %2 : tensor<2x3x4xf32>, tensor<2x4x3xf32>, tensor<2x5x5xf32>
}

nn.function @matmul_of_slices(%x: tensor<3x12xf32>) -> (tensor<3x3xf32>) {
  %q = nn.slice %x offsets [0, 0] strides [1, 1] : tensor<3x12xf32> -> tensor<3x4xf32>
  %k = nn.slice %x offsets [0, 4] strides [1, 2] : tensor<3x12xf32> -> tensor<3x4xf32>
  %0 = nn.matmul %q, %k transpose_rhs : tensor<3x4xf32>, tensor<3x4xf32> -> tensor<3x3xf32>
  nn.return %0 : tensor<3x3xf32>
}
