// RUN: pp-opt %s --split-input-file --verify-diagnostics --nn-attach-loss=loss=mse:y

// A loss without a target.

// expected-error @below {{loss 'mse:y' does not name an output and a target; write 'mse:OUTPUT,TARGET'}}
pp.model @no_target(%y: tensor<2x8xf32> = #pp.input_spec<"y", axis = 0>) {
  pp.return outputs ["y"] %y : tensor<2x8xf32>
}
