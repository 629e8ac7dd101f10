// RUN: pp-opt %s --split-input-file --verify-diagnostics

nn.function @reshape_loses_elements(%x: tensor<2x4xf32>) {
  // expected-error @below {{'nn.reshape' op turns 8 elements into 6}}
  %0 = nn.reshape %x : tensor<2x4xf32> -> tensor<6xf32>
  nn.return
}

// -----

nn.function @reshape_to_other_elements(%x: tensor<2x4xf32>) {
  // expected-error @below {{'nn.reshape' op requires the same element type for all operands and results}}
  %0 = nn.reshape %x : tensor<2x4xf32> -> tensor<8xi32>
  nn.return
}

// -----

nn.function @repeated_axis(%x: tensor<2x4xf32>) {
  // expected-error @below {{'nn.transpose' op has permutation [1, 1], which does not hold each axis of a tensor of rank 2 once}}
  %0 = nn.transpose %x [1, 1] : tensor<2x4xf32> -> tensor<4x4xf32>
  nn.return
}

// -----

nn.function @transpose_to_same_shape(%x: tensor<2x4xf32>) {
  // expected-error @below {{'nn.transpose' op has a result of shape [2, 4]; it must be [4, 2]}}
  %0 = nn.transpose %x [1, 0] : tensor<2x4xf32> -> tensor<2x4xf32>
  nn.return
}

// -----

nn.function @broadcast_at_the_front(%x: tensor<2xf32>) {
  // expected-error @below {{'nn.broadcast' op cannot repeat shape [2] to [2, 4]}}
  %0 = nn.broadcast %x : tensor<2xf32> -> tensor<2x4xf32>
  nn.return
}

// -----

nn.function @broadcast_to_lower_rank(%x: tensor<1x4xf32>) {
  // expected-error @below {{'nn.broadcast' op cannot repeat shape [1, 4] to [4]}}
  %0 = nn.broadcast %x : tensor<1x4xf32> -> tensor<4xf32>
  nn.return
}

// -----

nn.function @too_few_offsets(%x: tensor<2x4xf32>) {
  // expected-error @below {{'nn.slice' op has 1 offsets for a tensor of rank 2}}
  %0 = nn.slice %x offsets [0] strides [1, 1] : tensor<2x4xf32> -> tensor<2x2xf32>
  nn.return
}

// -----

nn.function @backward_stride(%x: tensor<2x4xf32>) {
  // expected-error @below {{'nn.slice' op has -1 among its strides; they must be at least 1}}
  %0 = nn.slice %x offsets [0, 3] strides [1, -1] : tensor<2x4xf32> -> tensor<2x4xf32>
  nn.return
}

// -----

nn.function @slice_drops_an_axis(%x: tensor<2x4xf32>) {
  // expected-error @below {{'nn.slice' op takes a result of rank 1 from a tensor of rank 2}}
  %0 = nn.slice %x offsets [0, 0] strides [1, 1] : tensor<2x4xf32> -> tensor<4xf32>
  nn.return
}

// -----

nn.function @slice_beyond_the_end(%x: tensor<2x4xf32>) {
  // expected-error @below {{'nn.slice' op reads element 5 of axis 1, which has 4}}
  %0 = nn.slice %x offsets [0, 1] strides [1, 2] : tensor<2x4xf32> -> tensor<2x3xf32>
  nn.return
}

// -----

nn.function @reverse_no_axis(%x: tensor<2x4xf32>) {
  // expected-error @below {{'nn.reverse' op names axis 2 of a tensor of rank 2}}
  %0 = nn.reverse %x axes [2] : tensor<2x4xf32>
  nn.return
}

// -----

nn.function @pad_one_axis(%x: tensor<2x4xf32>) {
  // expected-error @below {{'nn.pad' op has 1 high amounts for a tensor of rank 2}}
  %0 = nn.pad %x low [0, 0] high [0] interior [0, 0] : tensor<2x4xf32> -> tensor<2x4xf32>
  nn.return
}

// -----

nn.function @negative_pad(%x: tensor<4xf32>) {
  // expected-error @below {{'nn.pad' op has -1 among its low amounts; they must be at least 0}}
  %0 = nn.pad %x low [-1] high [0] interior [0] : tensor<4xf32> -> tensor<3xf32>
  nn.return
}

// -----

nn.function @pad_to_another_size(%x: tensor<4xf32>) {
  // expected-error @below {{'nn.pad' op has a result of shape [8]; it must be [9]}}
  %0 = nn.pad %x low [1] high [1] interior [1] : tensor<4xf32> -> tensor<8xf32>
  nn.return
}

// -----

nn.function @concat_of_nothing() {
  // expected-error @below {{'nn.concat' op expected 1 or more operands, but found 0}}
  %0 = "nn.concat"() {axis = 0 : i64} : () -> tensor<4xf32>
  nn.return
}

// -----

nn.function @concat_along_no_axis(%x: tensor<4xf32>) {
  // expected-error @below {{'nn.concat' op names axis 1 of a tensor of rank 1}}
  %0 = nn.concat %x, %x axis 1 : tensor<4xf32>, tensor<4xf32> -> tensor<8xf32>
  nn.return
}

// -----

nn.function @concat_of_two_ranks(%x: tensor<4xf32>, %y: tensor<4x1xf32>) {
  // expected-error @below {{'nn.concat' op joins tensors of ranks 1 and 2}}
  %0 = nn.concat %x, %y axis 0 : tensor<4xf32>, tensor<4x1xf32> -> tensor<8xf32>
  nn.return
}

// -----

nn.function @concat_of_two_widths(%x: tensor<2x4xf32>, %y: tensor<2x3xf32>) {
  // expected-error @below {{'nn.concat' op has a part of shape [2, 3]; it must be [2, 4]}}
  %0 = nn.concat %x, %y axis 0 : tensor<2x4xf32>, tensor<2x3xf32> -> tensor<4x4xf32>
  nn.return
}

// -----

nn.function @concat_result(%x: tensor<2x4xf32>) {
  // expected-error @below {{'nn.concat' op has a result of shape [2, 8]; it must be [4, 4]}}
  %0 = nn.concat %x, %x axis 0 : tensor<2x4xf32>, tensor<2x4xf32> -> tensor<2x8xf32>
  nn.return
}

// -----

nn.function @slice_overflow(%x: tensor<4xf32>) {
  // expected-error @below {{'nn.slice' op reads element 9223372036854775807 of axis 0, which has 4}}
  %0 = nn.slice %x offsets [0] strides [4611686018427387904] : tensor<4xf32> -> tensor<3xf32>
  nn.return
}

// -----

nn.function @too_many_elements() {
  // expected-error @below {{'nn.constant' op result #0 must be statically shaped tensor (at most 2^48 elements) of element values, but got 'tensor<4294967296x4294967296xf32>'}}
  %0 = nn.constant dense<1.0> : tensor<4294967296x4294967296xf32>
  nn.return
}

// -----

nn.function @too_many_elements_but_empty(%x: tensor<2x2xf32>) {
  // expected-error @below {{'nn.slice' op result #0 must be statically shaped tensor (at most 2^48 elements) of element values, but got 'tensor<0x281474976710657xf32>'}}
  %0 = nn.slice %x offsets [0, 0] strides [1, 1] : tensor<2x2xf32> -> tensor<0x281474976710657xf32>
  nn.return
}
