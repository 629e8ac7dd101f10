// RUN: pp-opt %s --split-input-file --verify-diagnostics

nn.function @batch_of_rows(%x: tensor<2x8x16xf32>, %w: tensor<4x16x32xf32>, %e: tensor<8xi64>) {
  // expected-error @below {{'nn.expert_matmul' op has rows of rank 3; it must be 2}}
  %0 = nn.expert_matmul %x, %w, %e : tensor<2x8x16xf32>, tensor<4x16x32xf32>, tensor<8xi64> -> tensor<8x32xf32>
  nn.return
}

// -----

nn.function @one_matrix(%x: tensor<8x16xf32>, %w: tensor<16x32xf32>, %e: tensor<8xi64>) {
  // expected-error @below {{'nn.expert_matmul' op has weights of shape [16, 32]; it must be a matrix for each expert}}
  %0 = nn.expert_matmul %x, %w, %e : tensor<8x16xf32>, tensor<16x32xf32>, tensor<8xi64> -> tensor<8x32xf32>
  nn.return
}

// -----

nn.function @no_experts(%x: tensor<8x16xf32>, %w: tensor<0x16x32xf32>, %e: tensor<8xi64>) {
  // expected-error @below {{'nn.expert_matmul' op has weights of shape [0, 16, 32]; it must be a matrix for each expert}}
  %0 = nn.expert_matmul %x, %w, %e : tensor<8x16xf32>, tensor<0x16x32xf32>, tensor<8xi64> -> tensor<8x32xf32>
  nn.return
}

// -----

nn.function @other_depth(%x: tensor<8x16xf32>, %w: tensor<4x16x32xf32>, %e: tensor<8xi64>) {
  // expected-error @below {{'nn.expert_matmul' op contracts 16 with 32}}
  %0 = nn.expert_matmul %x, %w, %e transpose_weights : tensor<8x16xf32>, tensor<4x16x32xf32>, tensor<8xi64> -> tensor<8x16xf32>
  nn.return
}

// -----

nn.function @other_experts(%x: tensor<8x16xf32>, %w: tensor<4x16x32xf32>, %e: tensor<4xi64>) {
  // expected-error @below {{'nn.expert_matmul' op has a tensor of experts of shape [4]; it must be [8]}}
  %0 = nn.expert_matmul %x, %w, %e : tensor<8x16xf32>, tensor<4x16x32xf32>, tensor<4xi64> -> tensor<8x32xf32>
  nn.return
}

// -----

nn.function @other_result(%x: tensor<8x16xf32>, %w: tensor<4x16x32xf32>, %e: tensor<8xi64>) {
  // expected-error @below {{'nn.expert_matmul' op has a result of shape [8, 16]; it must be [8, 32]}}
  %0 = nn.expert_matmul %x, %w, %e : tensor<8x16xf32>, tensor<4x16x32xf32>, tensor<8xi64> -> tensor<8x16xf32>
  nn.return
}

// -----

nn.function @other_sums(%x: tensor<8x16xf32>, %w: tensor<4x16x32xf32>, %e: tensor<8xi64>) {
  // expected-error @below {{'nn.expert_matmul' op makes 'f64' of 'f32'; it makes what its operands are of, or f32 of 16 bits}}
  %0 = nn.expert_matmul %x, %w, %e : tensor<8x16xf32>, tensor<4x16x32xf32>, tensor<8xi64> -> tensor<8x32xf64>
  nn.return
}

// -----

nn.function @other_rows(%x: tensor<8x16xf32>, %y: tensor<9x32xf32>, %e: tensor<8xi64>) {
  // expected-error @below {{'nn.expert_outer' op has 8 rows on the left and 9 on the right}}
  %0 = nn.expert_outer %x, %y, %e : tensor<8x16xf32>, tensor<9x32xf32>, tensor<8xi64> -> tensor<4x16x32xf32>
  nn.return
}

// -----

nn.function @sum_of_all(%x: tensor<8x16xf32>, %y: tensor<8x32xf32>, %e: tensor<8xi64>) {
  // expected-error @below {{'nn.expert_outer' op has result of shape [16, 32]; it must be a matrix for each expert}}
  %0 = nn.expert_outer %x, %y, %e : tensor<8x16xf32>, tensor<8x32xf32>, tensor<8xi64> -> tensor<16x32xf32>
  nn.return
}

// -----

nn.function @swapped(%x: tensor<8x16xf32>, %y: tensor<8x32xf32>, %e: tensor<8xi64>) {
  // expected-error @below {{'nn.expert_outer' op has a result of shape [4, 32, 16]; it must be [4, 16, 32]}}
  %0 = nn.expert_outer %x, %y, %e : tensor<8x16xf32>, tensor<8x32xf32>, tensor<8xi64> -> tensor<4x32x16xf32>
  nn.return
}

// -----

nn.function @other_length_of_rows(%x: tensor<8x16xf32>, %i: tensor<12xi64>, %n: tensor<8xi64>) {
  // expected-error @below {{'nn.permute_rows' op makes rows of [12, 17] of those of [8, 16]}}
  %0 = nn.permute_rows %x, %i, %n : tensor<8x16xf32>, tensor<12xi64>, tensor<8xi64> -> tensor<12x17xf32>
  nn.return
}

// -----

nn.function @no_rows(%x: tensor<f32>, %i: tensor<1xi64>) {
  // expected-error @below {{'nn.permute_rows' op makes rows of [] of those of []}}
  %0 = nn.permute_rows %x, %i, %i : tensor<f32>, tensor<1xi64>, tensor<1xi64> -> tensor<f32>
  nn.return
}

// -----

nn.function @other_indices(%x: tensor<8x16xf32>, %n: tensor<8xi64>) {
  // expected-error @below {{'nn.permute_rows' op has a list of indices of shape [8]; it must be [12]}}
  %0 = nn.permute_rows %x, %n, %n : tensor<8x16xf32>, tensor<8xi64>, tensor<8xi64> -> tensor<12x16xf32>
  nn.return
}

// -----

nn.function @other_inverse(%x: tensor<8x16xf32>, %i: tensor<12xi64>) {
  // expected-error @below {{'nn.permute_rows' op has a list of inverse indices of shape [12]; it must be [8]}}
  %0 = nn.permute_rows %x, %i, %i : tensor<8x16xf32>, tensor<12xi64>, tensor<12xi64> -> tensor<12x16xf32>
  nn.return
}

// -----

nn.function @other_elements(%x: tensor<8x16xf32>, %i: tensor<12xi64>, %n: tensor<8xi64>) {
  // expected-error @below {{'nn.permute_rows' op failed to verify that all of {rows, result} have same element type}}
  %0 = nn.permute_rows %x, %i, %n : tensor<8x16xf32>, tensor<12xi64>, tensor<8xi64> -> tensor<12x16xf64>
  nn.return
}

// -----

nn.function @lists_of_lists(%i: tensor<2x4xi64>) {
  // expected-error @below {{'nn.invert_indices' op has a list of rank 2; it must be 1}}
  %0 = nn.invert_indices %i : tensor<2x4xi64> -> tensor<8xi64>
  nn.return
}
