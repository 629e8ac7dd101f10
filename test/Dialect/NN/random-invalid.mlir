// RUN: pp-opt %s --split-input-file --verify-diagnostics

nn.function @drops_everything(%key: tensor<2xi64>) {
  // expected-error @below {{'nn.dropout_mask' op has ratio 1.000000e+00, which is not in [0, 1)}}
  %0 = nn.dropout_mask %key ratio 1.0 stream 0 : tensor<2xi64> -> tensor<4xf32>
  nn.return
}

// -----

nn.function @stream_beyond_one_word(%key: tensor<2xi64>) {
  // expected-error @below {{'nn.dropout_mask' op has stream 4294967296, which is not in [0, 2^32)}}
  %0 = nn.dropout_mask %key ratio 0.5 stream 4294967296 : tensor<2xi64> -> tensor<4xf32>
  nn.return
}

// -----

nn.function @key_of_another_size(%key: tensor<3xi64>) {
  // expected-error @below {{'nn.dropout_mask' op operand #0 must be random key (tensor<2xi64>), but got 'tensor<3xi64>'}}
  %0 = nn.dropout_mask %key ratio 0.5 stream 0 : tensor<3xi64> -> tensor<4xf32>
  nn.return
}
