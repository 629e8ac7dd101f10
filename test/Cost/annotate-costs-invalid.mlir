// RUN: pp-opt %s --pp-annotate-costs="flops-per-second=0" --verify-diagnostics

// expected-error @below {{cannot be priced on a device of 0.000000e+00 FLOP/s and 2.000000e+10 bytes/s}}
module {
  pp.model @slow_device(%x: tensor<4xf32> = #pp.input_spec<"x", axis = 0>) {
    pp.return outputs ["x"] %x : tensor<4xf32>
  }
}
