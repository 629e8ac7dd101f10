// Arguments take values from `test.low` to `test.high`.

// Numbers from -4 to 5 of four experts: some count from the end, and some name
// none.

nn.function @expert_matmul(%x: tensor<9x5xf32>, %w: tensor<4x5x7xf32>, %e: tensor<9xi64> {test.low = -4.0, test.high = 5.0}) -> tensor<9x7xf32> {
  %0 = nn.expert_matmul %x, %w, %e : tensor<9x5xf32>, tensor<4x5x7xf32>, tensor<9xi64> -> tensor<9x7xf32>
  nn.return %0 : tensor<9x7xf32>
}

nn.function @expert_matmul_transposed(%x: tensor<9x5xf32>, %w: tensor<4x7x5xf32>, %e: tensor<9xi64> {test.low = -4.0, test.high = 5.0}) -> tensor<9x7xf32> {
  %0 = nn.expert_matmul %x, %w, %e transpose_weights : tensor<9x5xf32>, tensor<4x7x5xf32>, tensor<9xi64> -> tensor<9x7xf32>
  nn.return %0 : tensor<9x7xf32>
}

nn.function @expert_outer(%x: tensor<9x5xf32>, %y: tensor<9x7xf32>, %e: tensor<9xi64> {test.low = -4.0, test.high = 5.0}) -> tensor<4x5x7xf32> {
  %0 = nn.expert_outer %x, %y, %e : tensor<9x5xf32>, tensor<9x7xf32>, tensor<9xi64> -> tensor<4x5x7xf32>
  nn.return %0 : tensor<4x5x7xf32>
}

nn.function @expert_outer_accumulated(%x: tensor<9x5xf32>, %y: tensor<9x7xf32>, %e: tensor<9xi64> {test.low = 0.0, test.high = 3.0}, %sum: tensor<4x5x7xf32>) -> tensor<4x5x7xf32> {
  %0 = nn.expert_outer %x, %y, %e : tensor<9x5xf32>, tensor<9x7xf32>, tensor<9xi64> -> tensor<4x5x7xf32>
  %1 = nn.accumulate %sum, %0 : tensor<4x5x7xf32>
  nn.return %1 : tensor<4x5x7xf32>
}

// The library has no kernels for these.

nn.function @expert_matmul_double(%x: tensor<9x5xf64>, %w: tensor<4x5x7xf64>, %e: tensor<9xi64> {test.low = -4.0, test.high = 5.0}) -> tensor<9x7xf64> {
  %0 = nn.expert_matmul %x, %w, %e : tensor<9x5xf64>, tensor<4x5x7xf64>, tensor<9xi64> -> tensor<9x7xf64>
  nn.return %0 : tensor<9x7xf64>
}

nn.function @expert_matmul_double_transposed(%x: tensor<9x5xf64>, %w: tensor<4x7x5xf64>, %e: tensor<9xi64> {test.low = -4.0, test.high = 5.0}) -> tensor<9x7xf64> {
  %0 = nn.expert_matmul %x, %w, %e transpose_weights : tensor<9x5xf64>, tensor<4x7x5xf64>, tensor<9xi64> -> tensor<9x7xf64>
  nn.return %0 : tensor<9x7xf64>
}

nn.function @expert_outer_double(%x: tensor<9x5xf64>, %y: tensor<9x7xf64>, %e: tensor<9xi64> {test.low = -4.0, test.high = 5.0}, %sum: tensor<4x5x7xf64>) -> (tensor<4x5x7xf64>, tensor<4x7x5xf64>) {
  %0 = nn.expert_outer %x, %y, %e : tensor<9x5xf64>, tensor<9x7xf64>, tensor<9xi64> -> tensor<4x5x7xf64>
  %1 = nn.accumulate %sum, %0 : tensor<4x5x7xf64>
  %2 = nn.expert_outer %y, %x, %e : tensor<9x7xf64>, tensor<9x5xf64>, tensor<9xi64> -> tensor<4x7x5xf64>
  nn.return %1, %2 : tensor<4x5x7xf64>, tensor<4x7x5xf64>
}

// Of 16 bits the sums are rounded once, or not at all.

nn.function @bf16_expert_matmul(%x: tensor<9x70xbf16>, %w: tensor<4x70x7xbf16>, %e: tensor<9xi64> {test.low = -4.0, test.high = 5.0}) -> tensor<9x7xbf16> {
  %0 = nn.expert_matmul %x, %w, %e : tensor<9x70xbf16>, tensor<4x70x7xbf16>, tensor<9xi64> -> tensor<9x7xbf16>
  nn.return %0 : tensor<9x7xbf16>
}

nn.function @bf16_expert_outer(%x: tensor<90x5xbf16>, %y: tensor<90x7xbf16>, %e: tensor<90xi64> {test.low = -4.0, test.high = 5.0}, %sum: tensor<4x5x7xf32>) -> (tensor<4x5x7xf32>, tensor<4x5x7xbf16>) {
  %0 = nn.expert_outer %x, %y, %e : tensor<90x5xbf16>, tensor<90x7xbf16>, tensor<90xi64> -> tensor<4x5x7xf32>
  %1 = nn.accumulate %sum, %0 : tensor<4x5x7xf32>
  %2 = nn.expert_outer %x, %y, %e : tensor<90x5xbf16>, tensor<90x7xbf16>, tensor<90xi64> -> tensor<4x5x7xbf16>
  nn.return %1, %2 : tensor<4x5x7xf32>, tensor<4x5x7xbf16>
}

nn.function @f16_expert_products(%x: tensor<9x5xf16>, %w: tensor<4x7x5xf16>, %e: tensor<9xi64> {test.low = -4.0, test.high = 5.0}) -> (tensor<9x7xf32>, tensor<4x7x5xf16>) {
  %0 = nn.expert_matmul %x, %w, %e transpose_weights : tensor<9x5xf16>, tensor<4x7x5xf16>, tensor<9xi64> -> tensor<9x7xf32>
  %1 = nn.expert_matmul %x, %w, %e transpose_weights : tensor<9x5xf16>, tensor<4x7x5xf16>, tensor<9xi64> -> tensor<9x7xf16>
  %2 = nn.expert_outer %1, %x, %e : tensor<9x7xf16>, tensor<9x5xf16>, tensor<9xi64> -> tensor<4x7x5xf16>
  nn.return %0, %2 : tensor<9x7xf32>, tensor<4x7x5xf16>
}
