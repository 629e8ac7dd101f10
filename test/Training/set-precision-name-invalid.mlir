// RUN: pp-opt %s --pp-set-precision=precision=f8 --verify-diagnostics

// expected-error @below {{unknown precision 'f8'; choose 'f32', 'bf16' or 'f16'}}
module {
  pp.model @m(%x: tensor<4xf32> = #pp.input_spec<"x", axis = 0>) {
    pp.return outputs ["x"] %x : tensor<4xf32>
  }
}
