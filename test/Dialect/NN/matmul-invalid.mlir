// RUN: pp-opt %s --split-input-file --verify-diagnostics

nn.function @vector(%a: tensor<8xf32>, %b: tensor<8xf32>) {
  // expected-error @below {{'nn.matmul' op has operands of ranks 1 and 1; both must have one rank, at least 2}}
  %0 = nn.matmul %a, %b : tensor<8xf32>, tensor<8xf32> -> tensor<f32>
  nn.return
}

// -----

nn.function @other_batch(%a: tensor<3x2x8xf32>, %b: tensor<4x8x2xf32>) {
  // expected-error @below {{'nn.matmul' op has batch dimensions [3] and [4]; they must be equal}}
  %0 = nn.matmul %a, %b : tensor<3x2x8xf32>, tensor<4x8x2xf32> -> tensor<3x2x2xf32>
  nn.return
}

// -----

nn.function @other_depth(%a: tensor<2x8xf32>, %b: tensor<8x16xf32>) {
  // expected-error @below {{'nn.matmul' op contracts 8 with 16}}
  %0 = nn.matmul %a, %b transpose_rhs : tensor<2x8xf32>, tensor<8x16xf32> -> tensor<2x8xf32>
  nn.return
}

// -----

nn.function @other_result(%a: tensor<2x8xf32>, %b: tensor<8x16xf32>) {
  // expected-error @below {{'nn.matmul' op has a result of shape [16, 2]; it must be [2, 16]}}
  %0 = nn.matmul %a, %b : tensor<2x8xf32>, tensor<8x16xf32> -> tensor<16x2xf32>
  nn.return
}

// -----

nn.function @mixed_elements(%a: tensor<2x8xf32>, %b: tensor<8x16xf16>) {
  // expected-error @below {{'nn.matmul' op failed to verify that all of {lhs, rhs} have same element type}}
  %0 = nn.matmul %a, %b : tensor<2x8xf32>, tensor<8x16xf16> -> tensor<2x16xf32>
  nn.return
}

// -----

nn.function @narrow_result(%a: tensor<2x8xf32>, %b: tensor<8x16xf32>) {
  // expected-error @below {{'nn.matmul' op makes 'bf16' of 'f32'; it makes what its operands are of, or f32 of 16 bits}}
  %0 = nn.matmul %a, %b : tensor<2x8xf32>, tensor<8x16xf32> -> tensor<2x16xbf16>
  nn.return
}
