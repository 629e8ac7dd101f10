// RUN: pp-opt %s --split-input-file --pp-set-precision=precision=bf16 --verify-diagnostics

// A model of f64 stays one.

pp.model @doubles(%x: tensor<4x4xf64> = #pp.input_spec<"x", axis = 0>) {
  %y = pp.layer "all" @all(%x) parameters [] : (tensor<4x4xf64>) -> tensor<4x4xf64>
  pp.return outputs ["y"] %y : tensor<4x4xf64>
}
nn.function @all(%x: tensor<4x4xf64>) -> tensor<4x4xf64> {
  // expected-error @below {{'nn.matmul' op computes in 'f64', which precision 'bf16' does not change; leave it to the model}}
  %0 = nn.matmul %x, %x : tensor<4x4xf64>, tensor<4x4xf64> -> tensor<4x4xf64>
  nn.return %0 : tensor<4x4xf64>
}

// -----

// So does one of the other 16 bits.

pp.model @halves(%x: tensor<4x4xf16> = #pp.input_spec<"x", axis = 0>) {
  %y = pp.layer "all" @all(%x) parameters [] : (tensor<4x4xf16>) -> tensor<4x4xf16>
  pp.return outputs ["y"] %y : tensor<4x4xf16>
}
nn.function @all(%x: tensor<4x4xf16>) -> tensor<4x4xf16> {
  // expected-error @below {{'nn.matmul' op computes in 'f16', which precision 'bf16' does not change; leave it to the model}}
  %0 = nn.matmul %x, %x : tensor<4x4xf16>, tensor<4x4xf16> -> tensor<4x4xf16>
  nn.return %0 : tensor<4x4xf16>
}

// -----

// expected-error @below {{has no 'pp.model'}}
module {}
