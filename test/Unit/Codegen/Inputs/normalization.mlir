// Arguments take values from `test.low` to `test.high`.

nn.function @softmax_0(%x: tensor<3x4x19xf32>) -> (tensor<3x4x19xf32>) {
  %0 = nn.softmax %x axis 0 : tensor<3x4x19xf32>
  nn.return %0 : tensor<3x4x19xf32>
}

nn.function @log_softmax_0(%x: tensor<3x4x19xf32>) -> (tensor<3x4x19xf32>) {
  %0 = nn.log_softmax %x axis 0 : tensor<3x4x19xf32>
  nn.return %0 : tensor<3x4x19xf32>
}

nn.function @softmax_grad_0(%x: tensor<3x4x19xf32>, %d: tensor<3x4x19xf32>) -> (tensor<3x4x19xf32>) {
  %0 = nn.softmax_grad %x, %d axis 0 : tensor<3x4x19xf32>
  nn.return %0 : tensor<3x4x19xf32>
}

nn.function @softmax_1(%x: tensor<3x4x19xf32>) -> (tensor<3x4x19xf32>) {
  %0 = nn.softmax %x axis 1 : tensor<3x4x19xf32>
  nn.return %0 : tensor<3x4x19xf32>
}

nn.function @log_softmax_1(%x: tensor<3x4x19xf32>) -> (tensor<3x4x19xf32>) {
  %0 = nn.log_softmax %x axis 1 : tensor<3x4x19xf32>
  nn.return %0 : tensor<3x4x19xf32>
}

nn.function @softmax_grad_1(%x: tensor<3x4x19xf32>, %d: tensor<3x4x19xf32>) -> (tensor<3x4x19xf32>) {
  %0 = nn.softmax_grad %x, %d axis 1 : tensor<3x4x19xf32>
  nn.return %0 : tensor<3x4x19xf32>
}

nn.function @softmax_2(%x: tensor<3x4x19xf32>) -> (tensor<3x4x19xf32>) {
  %0 = nn.softmax %x axis 2 : tensor<3x4x19xf32>
  nn.return %0 : tensor<3x4x19xf32>
}

nn.function @log_softmax_2(%x: tensor<3x4x19xf32>) -> (tensor<3x4x19xf32>) {
  %0 = nn.log_softmax %x axis 2 : tensor<3x4x19xf32>
  nn.return %0 : tensor<3x4x19xf32>
}

nn.function @softmax_grad_2(%x: tensor<3x4x19xf32>, %d: tensor<3x4x19xf32>) -> (tensor<3x4x19xf32>) {
  %0 = nn.softmax_grad %x, %d axis 2 : tensor<3x4x19xf32>
  nn.return %0 : tensor<3x4x19xf32>
}

nn.function @layer_norm_2(%x: tensor<3x4x19xf32>, %s: tensor<19xf32>, %b: tensor<19xf32>) -> (tensor<3x4x19xf32>, tensor<3x4xf32>, tensor<3x4xf32>) {
  %0, %m, %r = nn.layer_norm %x, %s, %b axis 2 epsilon 1.0e-5 : (tensor<3x4x19xf32>, tensor<19xf32>, tensor<19xf32>) -> (tensor<3x4x19xf32>, tensor<3x4xf32>, tensor<3x4xf32>)
  nn.return %0, %m, %r : tensor<3x4x19xf32>, tensor<3x4xf32>, tensor<3x4xf32>
}

nn.function @layer_norm_grad_2(%d: tensor<3x4x19xf32>, %x: tensor<3x4x19xf32>, %s: tensor<19xf32>, %m: tensor<3x4xf32>, %r: tensor<3x4xf32>) -> (tensor<3x4x19xf32>) {
  %0 = nn.layer_norm_grad %d, %x, %s, %m, %r axis 2 : (tensor<3x4x19xf32>, tensor<3x4x19xf32>, tensor<19xf32>, tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4x19xf32>
  nn.return %0 : tensor<3x4x19xf32>
}

nn.function @rms_norm_2(%x: tensor<3x4x19xf32>, %s: tensor<19xf32>) -> (tensor<3x4x19xf32>, tensor<3x4xf32>) {
  %0, %r = nn.rms_norm %x, %s axis 2 epsilon 1.0e-5 : (tensor<3x4x19xf32>, tensor<19xf32>) -> (tensor<3x4x19xf32>, tensor<3x4xf32>)
  nn.return %0, %r : tensor<3x4x19xf32>, tensor<3x4xf32>
}

nn.function @layer_norm_1(%x: tensor<3x4x19xf32>, %s: tensor<4x19xf32>, %b: tensor<4x19xf32>) -> (tensor<3x4x19xf32>, tensor<3xf32>, tensor<3xf32>) {
  %0, %m, %r = nn.layer_norm %x, %s, %b axis 1 epsilon 1.0e-5 : (tensor<3x4x19xf32>, tensor<4x19xf32>, tensor<4x19xf32>) -> (tensor<3x4x19xf32>, tensor<3xf32>, tensor<3xf32>)
  nn.return %0, %m, %r : tensor<3x4x19xf32>, tensor<3xf32>, tensor<3xf32>
}

nn.function @layer_norm_grad_1(%d: tensor<3x4x19xf32>, %x: tensor<3x4x19xf32>, %s: tensor<4x19xf32>, %m: tensor<3xf32>, %r: tensor<3xf32>) -> (tensor<3x4x19xf32>) {
  %0 = nn.layer_norm_grad %d, %x, %s, %m, %r axis 1 : (tensor<3x4x19xf32>, tensor<3x4x19xf32>, tensor<4x19xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<3x4x19xf32>
  nn.return %0 : tensor<3x4x19xf32>
}

nn.function @rms_norm_1(%x: tensor<3x4x19xf32>, %s: tensor<4x19xf32>) -> (tensor<3x4x19xf32>, tensor<3xf32>) {
  %0, %r = nn.rms_norm %x, %s axis 1 epsilon 1.0e-5 : (tensor<3x4x19xf32>, tensor<4x19xf32>) -> (tensor<3x4x19xf32>, tensor<3xf32>)
  nn.return %0, %r : tensor<3x4x19xf32>, tensor<3xf32>
}

nn.function @layer_norm_without_bias(%x: tensor<3x4x19xf32>, %s: tensor<19xf32>) -> (tensor<3x4x19xf32>) {
  %0, %m, %r = nn.layer_norm %x, %s axis 2 epsilon 1.0e-5 : (tensor<3x4x19xf32>, tensor<19xf32>) -> (tensor<3x4x19xf32>, tensor<3x4xf32>, tensor<3x4xf32>)
  nn.return %0 : tensor<3x4x19xf32>
}
