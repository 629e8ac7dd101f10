// Parts of a GPT's layers that are limited by how fast memory is, in sizes that
// no cache holds.

nn.function @softmax(%x: tensor<16384x4096xf32>) -> tensor<16384x4096xf32> {
  %0 = nn.softmax %x axis 1 : tensor<16384x4096xf32>
  nn.return %0 : tensor<16384x4096xf32>
}

nn.function @softmax_of_bf16(%x: tensor<32768x4096xbf16>) -> tensor<32768x4096xbf16> {
  %0 = nn.softmax %x axis 1 : tensor<32768x4096xbf16>
  nn.return %0 : tensor<32768x4096xbf16>
}

nn.function @layer_norm(%x: tensor<16384x4096xf32>, %s: tensor<4096xf32>, %b: tensor<4096xf32>) -> (tensor<16384x4096xf32>, tensor<16384xf32>, tensor<16384xf32>) {
  %0, %m, %r = nn.layer_norm %x, %s, %b axis 1 epsilon 1.0e-5 : (tensor<16384x4096xf32>, tensor<4096xf32>, tensor<4096xf32>) -> (tensor<16384x4096xf32>, tensor<16384xf32>, tensor<16384xf32>)
  nn.return %0, %m, %r : tensor<16384x4096xf32>, tensor<16384xf32>, tensor<16384xf32>
}

nn.function @layer_norm_grad(%d: tensor<16384x4096xf32>, %x: tensor<16384x4096xf32>, %s: tensor<4096xf32>, %m: tensor<16384xf32>, %r: tensor<16384xf32>) -> tensor<16384x4096xf32> {
  %0 = nn.layer_norm_grad %d, %x, %s, %m, %r axis 1 : (tensor<16384x4096xf32>, tensor<16384x4096xf32>, tensor<4096xf32>, tensor<16384xf32>, tensor<16384xf32>) -> tensor<16384x4096xf32>
  nn.return %0 : tensor<16384x4096xf32>
}

nn.function @gelu_grad(%d: tensor<32768x4096xbf16>, %x: tensor<32768x4096xbf16>) -> tensor<32768x4096xbf16> {
  %half = nn.constant dense<0.5> : tensor<32768x4096xbf16>
  %one = nn.constant dense<1.0> : tensor<32768x4096xbf16>
  %inner = nn.constant dense<0.797884583> : tensor<32768x4096xbf16>
  %0 = nn.mul %x, %inner : tensor<32768x4096xbf16>
  %1 = nn.tanh %0 : tensor<32768x4096xbf16>
  %2 = nn.mul %1, %1 : tensor<32768x4096xbf16>
  %3 = nn.sub %one, %2 : tensor<32768x4096xbf16>
  %4 = nn.mul %3, %0 : tensor<32768x4096xbf16>
  %5 = nn.add %1, %one : tensor<32768x4096xbf16>
  %6 = nn.add %5, %4 : tensor<32768x4096xbf16>
  %7 = nn.mul %6, %half : tensor<32768x4096xbf16>
  %8 = nn.mul %d, %7 : tensor<32768x4096xbf16>
  nn.return %8 : tensor<32768x4096xbf16>
}

nn.function @transpose(%x: tensor<16x4096x2048xf32>) -> tensor<16x2048x4096xf32> {
  %0 = nn.transpose %x [0, 2, 1] : tensor<16x4096x2048xf32> -> tensor<16x2048x4096xf32>
  nn.return %0 : tensor<16x2048x4096xf32>
}

nn.function @bias_grad(%x: tensor<32768x4096xf32>) -> tensor<4096xf32> {
  %0 = nn.reduce sum %x axes [0] : tensor<32768x4096xf32> -> tensor<4096xf32>
  nn.return %0 : tensor<4096xf32>
}

nn.function @cross_entropy_grad(%d: tensor<f32>, %x: tensor<4096x50304xf32>, %l: tensor<4096xi64>) -> tensor<4096x50304xf32> {
  %0 = nn.cross_entropy_grad %d, %x, %l ignore -1 : (tensor<f32>, tensor<4096x50304xf32>, tensor<4096xi64>) -> tensor<4096x50304xf32>
  nn.return %0 : tensor<4096x50304xf32>
}
