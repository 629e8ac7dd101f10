// RUN: pp-opt %s --split-input-file --pp-outline-layers --verify-diagnostics

pp.model @not_formed(%x: tensor<4xf32> = #pp.input_spec<"x", axis = 0>) {
  // expected-error @below {{is in no 'pp.block'; run '--pp-form-layers' first}}
  %y = nn.relu %x : tensor<4xf32>
  pp.return outputs ["y"] %y : tensor<4xf32>
}

// -----

// expected-error @below {{has no 'pp.model' whose layers to outline}}
module {
}
