// RUN: pp-opt %s --split-input-file --verify-diagnostics

nn.function @no_class_axis(%logits: tensor<f32>, %label: tensor<i64>) {
  // expected-error @below {{'nn.cross_entropy' op has logits without a class axis}}
  %sum, %weight = nn.cross_entropy %logits, %label ignore -100 : (tensor<f32>, tensor<i64>) -> (tensor<f32>, tensor<f32>)
  nn.return
}

// -----

nn.function @other_labels(%logits: tensor<2x8xf32>, %labels: tensor<8xi64>) {
  // expected-error @below {{'nn.cross_entropy' op has a tensor of labels of shape [8]; it must be [2]}}
  %sum, %weight = nn.cross_entropy %logits, %labels ignore -100 : (tensor<2x8xf32>, tensor<8xi64>) -> (tensor<f32>, tensor<f32>)
  nn.return
}

// -----

nn.function @sum_is_no_scalar(%logits: tensor<2x8xf32>, %labels: tensor<2xi64>) {
  // expected-error @below {{'nn.cross_entropy' op result #0 must be 0D tensor of floating-point values, but got 'tensor<2xf32>'}}
  %sum, %weight = nn.cross_entropy %logits, %labels ignore -100 : (tensor<2x8xf32>, tensor<2xi64>) -> (tensor<2xf32>, tensor<f32>)
  nn.return
}

// -----

nn.function @gradient_of_other_labels(%dy: tensor<f32>, %logits: tensor<2x8xf32>, %labels: tensor<8xi64>) {
  // expected-error @below {{'nn.cross_entropy_grad' op has a tensor of labels of shape [8]; it must be [2]}}
  %0 = nn.cross_entropy_grad %dy, %logits, %labels ignore -100 : (tensor<f32>, tensor<2x8xf32>, tensor<8xi64>) -> tensor<2x8xf32>
  nn.return
}

// -----

nn.function @gradient_of_another_shape(%dy: tensor<f32>, %logits: tensor<2x8xf32>, %labels: tensor<2xi64>) {
  // expected-error @below {{'nn.cross_entropy_grad' op failed to verify that all of {logits, result} have same shape}}
  %0 = nn.cross_entropy_grad %dy, %logits, %labels ignore -100 : (tensor<f32>, tensor<2x8xf32>, tensor<2xi64>) -> tensor<2xf32>
  nn.return
}
