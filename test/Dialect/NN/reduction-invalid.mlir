// RUN: pp-opt %s --split-input-file --verify-diagnostics

nn.function @axis_out_of_range(%x: tensor<2x8xf32>) {
  // expected-error @below {{'nn.reduce' op names axis 2 of a tensor of rank 2}}
  %0 = nn.reduce sum %x axes [2] : tensor<2x8xf32> -> tensor<2xf32>
  nn.return
}

// -----

nn.function @unsorted_axes(%x: tensor<2x8xf32>) {
  // expected-error @below {{'nn.reduce' op lists axis 0 after axis 1; axes must be sorted and without repeats}}
  %0 = nn.reduce sum %x axes [1, 0] : tensor<2x8xf32> -> tensor<f32>
  nn.return
}

// -----

nn.function @kept_axis(%x: tensor<2x8xf32>) {
  // expected-error @below {{'nn.reduce' op has a result of shape [2, 1]; it must be [2]}}
  %0 = nn.reduce sum %x axes [1] : tensor<2x8xf32> -> tensor<2x1xf32>
  nn.return
}

// -----

nn.function @mean_of_integers(%x: tensor<2x8xi32>) {
  // expected-error @below {{'nn.reduce' op takes the mean of integers; cast them first}}
  %0 = nn.reduce mean %x axes [1] : tensor<2x8xi32> -> tensor<2xi32>
  nn.return
}

// -----

nn.function @sum_along_no_axis(%x: tensor<2x8xf32>) {
  // expected-error @below {{'nn.cumulative_sum' op names axis 2 of a tensor of rank 2}}
  %0 = nn.cumulative_sum %x axis 2 : tensor<2x8xf32>
  nn.return
}

// -----

nn.function @more_than_there_are(%x: tensor<2x4xf32>) {
  // expected-error @below {{'nn.top_k' op has a result of shape [2, 5]; it must be [2, 4]}}
  %0 = nn.top_k %x axis 1 : tensor<2x4xf32> -> tensor<2x5xi64>
  nn.return
}
