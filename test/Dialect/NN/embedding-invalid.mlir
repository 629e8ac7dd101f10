// RUN: pp-opt %s --split-input-file --verify-diagnostics

nn.function @axis_out_of_range(%table: tensor<8x4xf32>, %ids: tensor<2xi64>) {
  // expected-error @below {{'nn.gather' op names axis 2 of a tensor of rank 2}}
  %0 = nn.gather %table, %ids axis 2 : tensor<8x4xf32>, tensor<2xi64> -> tensor<8x2xf32>
  nn.return
}

// -----

nn.function @other_result(%table: tensor<8x4xf32>, %ids: tensor<2xi64>) {
  // expected-error @below {{'nn.gather' op has a result of shape [8, 2]; it must be [2, 4]}}
  %0 = nn.gather %table, %ids axis 0 : tensor<8x4xf32>, tensor<2xi64> -> tensor<8x2xf32>
  nn.return
}

// -----

nn.function @other_element(%table: tensor<8x4xf32>, %ids: tensor<2xi64>) {
  // expected-error @below {{'nn.gather' op failed to verify that all of {table, result} have same element type}}
  %0 = nn.gather %table, %ids axis 0 : tensor<8x4xf32>, tensor<2xi64> -> tensor<2x4xf16>
  nn.return
}

// -----

nn.function @float_indices(%table: tensor<8x4xf32>, %ids: tensor<2xf32>) {
  // expected-error @below {{'nn.gather' op operand #1 must be statically shaped tensor (at most 2^48 elements) of 32-bit signless integer or 64-bit signless integer values, but got 'tensor<2xf32>'}}
  %0 = nn.gather %table, %ids axis 0 : tensor<8x4xf32>, tensor<2xf32> -> tensor<2x4xf32>
  nn.return
}

// -----

nn.function @scatter_axis_out_of_range(%updates: tensor<2x4xf32>, %ids: tensor<2xi64>) {
  // expected-error @below {{'nn.scatter_add' op names axis -1 of a tensor of rank 2}}
  %0 = nn.scatter_add %updates, %ids axis -1 : tensor<2x4xf32>, tensor<2xi64> -> tensor<8x4xf32>
  nn.return
}

// -----

nn.function @other_updates(%updates: tensor<3x4xf32>, %ids: tensor<2xi64>) {
  // expected-error @below {{'nn.scatter_add' op has a tensor of updates of shape [3, 4]; it must be [2, 4]}}
  %0 = nn.scatter_add %updates, %ids axis 0 : tensor<3x4xf32>, tensor<2xi64> -> tensor<8x4xf32>
  nn.return
}
