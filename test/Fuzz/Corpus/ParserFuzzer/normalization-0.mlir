nn.function @softmaxes(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %0 = nn.softmax %x axis 1 : tensor<2x8xf32>
  %1 = nn.log_softmax %0 axis 0 : tensor<2x8xf32>
  %2 = nn.softmax_grad %1, %x axis 1 : tensor<2x8xf32>
  nn.return %2 : tensor<2x8xf32>
}

nn.function @norms(%x: tensor<2x4x8xf32>, %scale: tensor<8xf32>, %bias: tensor<8xf32>) -> tensor<2x4x8xf32> {
  %y, %mean, %inverse = nn.layer_norm %x, %scale, %bias axis 2 epsilon 1.0e-5 : (tensor<2x4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<2x4x8xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
  %y1, %mean1, %inverse1 = nn.layer_norm %y, %scale axis 2 epsilon 1.0e-5 : (tensor<2x4x8xf32>, tensor<8xf32>) -> (tensor<2x4x8xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
  %dx = nn.layer_norm_grad %y1, %x, %scale, %mean, %inverse axis 2 : (tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<8xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4x8xf32>
  %y2, %inverse2 = nn.rms_norm %dx, %scale axis 2 epsilon 0.125 : (tensor<2x4x8xf32>, tensor<8xf32>) -> (tensor<2x4x8xf32>, tensor<2x4xf32>)
  nn.return %y2 : tensor<2x4x8xf32>
}
