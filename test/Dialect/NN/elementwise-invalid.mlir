// RUN: pp-opt %s --split-input-file --verify-diagnostics

nn.function @dynamic_shape(%x: tensor<?xf32>) {
  // expected-error @below {{operand #0 must be statically shaped tensor (at most 2^48 elements) of floating-point values, but got 'tensor<?xf32>'}}
  %0 = nn.exp %x : tensor<?xf32>
  nn.return
}

// -----

nn.function @integers_have_no_exponential(%x: tensor<4xi32>) {
  // expected-error @below {{operand #0 must be statically shaped tensor (at most 2^48 elements) of floating-point values, but got 'tensor<4xi32>'}}
  %0 = nn.exp %x : tensor<4xi32>
  nn.return
}

// -----

nn.function @implicit_broadcast(%x: tensor<4xf32>, %y: tensor<1xf32>) {
  // expected-error @below {{requires the same type for all operands and results}}
  %0 = "nn.add"(%x, %y) : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  nn.return
}

// -----

nn.function @cast_to_another_shape(%x: tensor<4xf32>) {
  // expected-error @below {{requires the same shape for all operands and results}}
  %0 = nn.cast %x : tensor<4xf32> -> tensor<2x2xf16>
  nn.return
}

// -----

nn.function @unknown_gelu(%x: tensor<4xf32>) {
  // expected-error @below {{expected string or keyword containing one of the following enum values for attribute 'form' [erf, tanh]}}
  %0 = nn.gelu fast %x : tensor<4xf32>
  nn.return
}
