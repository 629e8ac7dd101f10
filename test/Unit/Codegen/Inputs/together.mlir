// Arguments take values from `test.low` to `test.high`.

// A result that is returned twice, and an argument that is returned.

nn.function @returned_twice(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %0 = nn.matmul %x, %w : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  nn.return %0, %0, %x : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// A result that later ops still read.

nn.function @returned_and_used(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %0 = nn.matmul %x, %w : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  %1 = nn.exp %0 : tensor<4x8xf32>
  %2 = nn.matmul %1, %w : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  %3 = nn.add %2, %0 : tensor<4x8xf32>
  nn.return %0, %1, %3 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// Attention of two heads with a causal mask, as exporters spell it.

nn.function @attention(%x: tensor<6x24xf32>) -> (tensor<6x8xf32>, tensor<2x6x6xf32>) {
  %q0 = nn.slice %x offsets [0, 0] strides [1, 1] : tensor<6x24xf32> -> tensor<6x8xf32>
  %k0 = nn.slice %x offsets [0, 8] strides [1, 1] : tensor<6x24xf32> -> tensor<6x8xf32>
  %v0 = nn.slice %x offsets [0, 16] strides [1, 1] : tensor<6x24xf32> -> tensor<6x8xf32>
  %q1 = nn.reshape %q0 : tensor<6x8xf32> -> tensor<6x2x4xf32>
  %k1 = nn.reshape %k0 : tensor<6x8xf32> -> tensor<6x2x4xf32>
  %v1 = nn.reshape %v0 : tensor<6x8xf32> -> tensor<6x2x4xf32>
  %q = nn.transpose %q1 [1, 0, 2] : tensor<6x2x4xf32> -> tensor<2x6x4xf32>
  %k = nn.transpose %k1 [1, 0, 2] : tensor<6x2x4xf32> -> tensor<2x6x4xf32>
  %v = nn.transpose %v1 [1, 0, 2] : tensor<6x2x4xf32> -> tensor<2x6x4xf32>
  %s = nn.matmul %q, %k transpose_rhs : tensor<2x6x4xf32>, tensor<2x6x4xf32> -> tensor<2x6x6xf32>
  %h = nn.constant dense<0.5> : tensor<2x6x6xf32>
  %z = nn.mul %s, %h : tensor<2x6x6xf32>
  %c = nn.constant dense<[[true, false, false, false, false, false], [true, true, false, false, false, false], [true, true, true, false, false, false], [true, true, true, true, false, false], [true, true, true, true, true, false], [true, true, true, true, true, true]]> : tensor<6x6xi1>
  %b = nn.broadcast %c : tensor<6x6xi1> -> tensor<2x6x6xi1>
  %n = nn.constant dense<-1.0e10> : tensor<2x6x6xf32>
  %m = nn.select %b, %z, %n : tensor<2x6x6xi1>, tensor<2x6x6xf32>
  %p = nn.softmax %m axis 2 : tensor<2x6x6xf32>
  %o = nn.matmul %p, %v : tensor<2x6x6xf32>, tensor<2x6x4xf32> -> tensor<2x6x4xf32>
  %t = nn.transpose %o [1, 0, 2] : tensor<2x6x4xf32> -> tensor<6x2x4xf32>
  %y = nn.reshape %t : tensor<6x2x4xf32> -> tensor<6x8xf32>
  nn.return %y, %p : tensor<6x8xf32>, tensor<2x6x6xf32>
}

// Three products read one value; what is computed between them must not take
// its place.

nn.function @read_later(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>, %u: tensor<8x8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  %0 = nn.exp %x : tensor<4x8xf32>
  %1 = nn.matmul %0, %w : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  %2 = nn.broadcast %b : tensor<8xf32> -> tensor<4x8xf32>
  %3 = nn.add %1, %2 : tensor<4x8xf32>
  %4 = nn.transpose %3 [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  %5 = nn.matmul %0, %u : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  %6 = nn.sub %5, %2 : tensor<4x8xf32>
  %7 = nn.matmul %0, %4 : tensor<4x8xf32>, tensor<8x4xf32> -> tensor<4x4xf32>
  %8 = nn.matmul %7, %6 : tensor<4x4xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  nn.return %8 : tensor<4x8xf32>
}

// The same where the value is itself a product.

nn.function @product_read_later(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %0 = nn.matmul %x, %w : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  %1 = nn.tanh %0 : tensor<4x8xf32>
  %2 = nn.matmul %1, %w : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  %3 = nn.matmul %0, %w : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  %4 = nn.sub %2, %3 : tensor<4x8xf32>
  nn.return %4 : tensor<4x8xf32>
}
