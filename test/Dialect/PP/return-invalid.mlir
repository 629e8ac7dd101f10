// RUN: pp-opt %s --split-input-file --verify-diagnostics

// An axis for each output.
pp.model @axes(%x: tensor<2x8xf32> = #pp.input_spec<"x", axis = 0>) {
  // expected-error @below {{has 2 axes for 1 outputs}}
  pp.return outputs ["y"] %x : tensor<2x8xf32> axes [0, 1]
}

// -----

// An axis that the output has.
pp.model @axis(%x: tensor<2x8xf32> = #pp.input_spec<"x", axis = 0>) {
  // expected-error @below {{has axis 2 of output 'tensor<2x8xf32>'}}
  pp.return outputs ["y"] %x : tensor<2x8xf32> axes [2]
}
