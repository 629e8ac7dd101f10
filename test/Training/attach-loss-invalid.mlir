// RUN: pp-opt %s --split-input-file --verify-diagnostics --nn-attach-loss=loss=cross-entropy:y,labels

// expected-error @below {{has no 'pp.model' to train}}
module {
}

// -----

// expected-error @below {{the model has a loss already}}
pp.model @two_losses(%y: tensor<f32> = #pp.input_spec<"y", axis = -1>) {
  pp.return outputs [] loss %y, %y : tensor<f32>, tensor<f32>
}

// -----

// expected-error @below {{the model has no output 'y' for the loss; its outputs are 'logits', 'h'}}
pp.model @unknown_output(%y: tensor<2x8xf32> = #pp.input_spec<"y", axis = 0>) {
  pp.return outputs ["logits", "h"] %y, %y : tensor<2x8xf32>, tensor<2x8xf32>
}

// -----

// expected-error @below {{output 'y' is a 'tensor<2x8xi64>', which has no gradient}}
pp.model @integer_output(%y: tensor<2x8xi64> = #pp.input_spec<"y", axis = 0>) {
  pp.return outputs ["y"] %y : tensor<2x8xi64>
}

// -----

// expected-error @below {{logits of type 'tensor<8xf32>' have no batch axis before the class axis}}
pp.model @no_batch(%y: tensor<8xf32> = #pp.input_spec<"y", axis = 0>) {
  pp.return outputs ["y"] %y : tensor<8xf32>
}

// -----

// expected-error @below {{input 'labels' is a 'tensor<2x8xi64>', but the loss needs a 'tensor<2xi64>'}}
pp.model @labels_of_other_shape(%y: tensor<2x8xf32> = #pp.input_spec<"y", axis = 0>,
                                %labels: tensor<2x8xi64> = #pp.input_spec<"labels", axis = 0>) {
  pp.return outputs ["y"] %y : tensor<2x8xf32>
}

// -----

// expected-error @below {{input 'labels' is a 'tensor<2xf32>', but the loss needs a 'tensor<2xi64>'}}
pp.model @labels_of_other_type(%y: tensor<2x8xf32> = #pp.input_spec<"y", axis = 0>,
                               %labels: tensor<2xf32> = #pp.input_spec<"labels", axis = 0>) {
  pp.return outputs ["y"] %y : tensor<2x8xf32>
}
