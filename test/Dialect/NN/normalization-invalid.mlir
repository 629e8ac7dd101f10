// RUN: pp-opt %s --split-input-file --verify-diagnostics

nn.function @negative_axis(%x: tensor<2x8xf32>) {
  // expected-error @below {{'nn.softmax' op names axis -1 of a tensor of rank 2}}
  %0 = nn.softmax %x axis -1 : tensor<2x8xf32>
  nn.return
}

// -----

nn.function @axis_of_log(%x: tensor<2x8xf32>) {
  // expected-error @below {{'nn.log_softmax' op names axis 2 of a tensor of rank 2}}
  %0 = nn.log_softmax %x axis 2 : tensor<2x8xf32>
  nn.return
}

// -----

nn.function @axis_of_gradient(%x: tensor<2x8xf32>) {
  // expected-error @below {{'nn.softmax_grad' op names axis 2 of a tensor of rank 2}}
  %0 = nn.softmax_grad %x, %x axis 2 : tensor<2x8xf32>
  nn.return
}

// -----

nn.function @scale_of_another_row(%x: tensor<2x8xf32>, %scale: tensor<2xf32>) {
  // expected-error @below {{'nn.layer_norm' op has a scale of shape [2]; it must be [8]}}
  %0:3 = nn.layer_norm %x, %scale axis 1 epsilon 1.0e-5 : (tensor<2x8xf32>, tensor<2xf32>) -> (tensor<2x8xf32>, tensor<2xf32>, tensor<2xf32>)
  nn.return
}

// -----

nn.function @bias_of_another_row(%x: tensor<2x8xf32>, %scale: tensor<8xf32>, %bias: tensor<2xf32>) {
  // expected-error @below {{'nn.layer_norm' op has a bias of shape [2]; it must be [8]}}
  %0:3 = nn.layer_norm %x, %scale, %bias axis 1 epsilon 1.0e-5 : (tensor<2x8xf32>, tensor<8xf32>, tensor<2xf32>) -> (tensor<2x8xf32>, tensor<2xf32>, tensor<2xf32>)
  nn.return
}

// -----

nn.function @mean_of_columns(%x: tensor<2x8xf32>, %scale: tensor<8xf32>) {
  // expected-error @below {{'nn.layer_norm' op has a mean of shape [8]; it must be [2]}}
  %0:3 = nn.layer_norm %x, %scale axis 1 epsilon 1.0e-5 : (tensor<2x8xf32>, tensor<8xf32>) -> (tensor<2x8xf32>, tensor<8xf32>, tensor<2xf32>)
  nn.return
}

// -----

nn.function @negative_epsilon(%x: tensor<2x8xf32>, %scale: tensor<8xf32>) {
  // expected-error @below {{'nn.layer_norm' op has epsilon -1.000000e+00; it must not be negative}}
  %0:3 = nn.layer_norm %x, %scale axis 1 epsilon -1.0 : (tensor<2x8xf32>, tensor<8xf32>) -> (tensor<2x8xf32>, tensor<2xf32>, tensor<2xf32>)
  nn.return
}

// -----

nn.function @cotangent_of_another_shape(%dy: tensor<8xf32>, %x: tensor<2x8xf32>, %scale: tensor<8xf32>, %mean: tensor<2xf32>) {
  // expected-error @below {{'nn.layer_norm_grad' op has a cotangent of shape [8]; it must be [2, 8]}}
  %0 = nn.layer_norm_grad %dy, %x, %scale, %mean, %mean axis 1 : (tensor<8xf32>, tensor<2x8xf32>, tensor<8xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x8xf32>
  nn.return
}

// -----

nn.function @gradient_of_another_shape(%dy: tensor<2x8xf32>, %scale: tensor<8xf32>, %mean: tensor<2xf32>) {
  // expected-error @below {{'nn.layer_norm_grad' op has a result of shape [8]; it must be [2, 8]}}
  %0 = nn.layer_norm_grad %dy, %dy, %scale, %mean, %mean axis 1 : (tensor<2x8xf32>, tensor<2x8xf32>, tensor<8xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<8xf32>
  nn.return
}

// -----

nn.function @deviation_of_columns(%x: tensor<2x8xf32>, %scale: tensor<8xf32>) {
  // expected-error @below {{'nn.rms_norm' op has an inverse deviation of shape [8]; it must be [2]}}
  %0:2 = nn.rms_norm %x, %scale axis 1 epsilon 1.0e-5 : (tensor<2x8xf32>, tensor<8xf32>) -> (tensor<2x8xf32>, tensor<8xf32>)
  nn.return
}

// -----

nn.function @epsilon_of_rms(%x: tensor<2x8xf32>, %scale: tensor<8xf32>) {
  // expected-error @below {{'nn.rms_norm' op has epsilon -1.000000e+00; it must not be negative}}
  %0:2 = nn.rms_norm %x, %scale axis 1 epsilon -1.0 : (tensor<2x8xf32>, tensor<8xf32>) -> (tensor<2x8xf32>, tensor<2xf32>)
  nn.return
}
