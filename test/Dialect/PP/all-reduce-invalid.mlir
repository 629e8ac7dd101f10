// RUN: pp-opt %s --split-input-file --verify-diagnostics

pp.program step rank 0 {
  // expected-error @below {{needs a parameter}}
  pp.all_reduce []
}

// -----

pp.program step rank 0 {
  // expected-error @below {{adds gradients of 'w', which is not a trainable parameter}}
  pp.all_reduce [@w]
}

// -----

pp.parameter @w trainable : tensor<2xf32> = dense<0.0> : tensor<2xf32>
pp.parameter @mean : tensor<2xf32> = dense<0.0> : tensor<2xf32>
pp.program step rank 0 {
  // expected-error @below {{adds gradients of 'mean', which is not a trainable parameter}}
  pp.all_reduce [@w, @mean]
}
