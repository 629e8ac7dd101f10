nn.function @products(%a: tensor<2x8xf32>, %b: tensor<8x16xf32>, %c: tensor<16x2xf32>) -> tensor<8x16xf32> {
  %0 = nn.matmul %a, %b : tensor<2x8xf32>, tensor<8x16xf32> -> tensor<2x16xf32>
  %1 = nn.matmul %0, %b transpose_rhs : tensor<2x16xf32>, tensor<8x16xf32> -> tensor<2x8xf32>
  %2 = nn.matmul %1, %c transpose_lhs transpose_rhs : tensor<2x8xf32>, tensor<16x2xf32> -> tensor<8x16xf32>
  nn.return %2 : tensor<8x16xf32>
}

nn.function @batched(%a: tensor<3x4x2x8xf32>, %b: tensor<3x4x16x8xf32>) -> tensor<3x4x2x16xf32> {
  %0 = nn.matmul %a, %b transpose_rhs : tensor<3x4x2x8xf32>, tensor<3x4x16x8xf32> -> tensor<3x4x2x16xf32>
  nn.return %0 : tensor<3x4x2x16xf32>
}
