// The parts of a GPT's layers that are not products, in sizes that reach all
// forms of kernels: rows of a warp and of a block, rows that end within a chunk
// or a warp, rows that do not fit into registers, elements that are left over.
// Arguments take values from `test.low` to `test.high`.

nn.function @softmax(%x: tensor<16x256xf32>) -> tensor<16x256xf32> {
  %0 = nn.softmax %x axis 1 : tensor<16x256xf32>
  nn.return %0 : tensor<16x256xf32>
}

nn.function @softmax_of_uneven_rows(%x: tensor<3x1001xf32>) -> tensor<3x1001xf32> {
  %0 = nn.softmax %x axis 1 : tensor<3x1001xf32>
  nn.return %0 : tensor<3x1001xf32>
}

nn.function @softmax_of_long_rows(%x: tensor<2x20000xf32>) -> tensor<2x20000xf32> {
  %0 = nn.softmax %x axis 1 : tensor<2x20000xf32>
  nn.return %0 : tensor<2x20000xf32>
}

nn.function @softmax_of_bf16(%x: tensor<4x800xbf16>) -> tensor<4x800xbf16> {
  %0 = nn.softmax %x axis 1 : tensor<4x800xbf16>
  nn.return %0 : tensor<4x800xbf16>
}

nn.function @softmax_of_short_rows(%x: tensor<96x8xf32>) -> tensor<96x8xf32> {
  %0 = nn.softmax %x axis 1 : tensor<96x8xf32>
  nn.return %0 : tensor<96x8xf32>
}

// A vocabulary that does not fit into registers: nothing but the logits is in
// memory, not even what they are cast to.

nn.function @cross_entropy_of_long_rows(%x: tensor<3x40000xbf16>, %l: tensor<3xi64> {test.low = 0.0, test.high = 39999.0}) -> (tensor<f32>, tensor<f32>) {
  %0 = nn.cast %x : tensor<3x40000xbf16> -> tensor<3x40000xf32>
  %s, %w = nn.cross_entropy %0, %l ignore -1 : (tensor<3x40000xf32>, tensor<3xi64>) -> (tensor<f32>, tensor<f32>)
  nn.return %s, %w : tensor<f32>, tensor<f32>
}

nn.function @cross_entropy_grad_of_long_rows(%d: tensor<f32>, %x: tensor<2x40000xbf16>, %l: tensor<2xi64> {test.low = -1.0, test.high = 39999.0}) -> tensor<2x40000xbf16> {
  %0 = nn.cast %x : tensor<2x40000xbf16> -> tensor<2x40000xf32>
  %1 = nn.cross_entropy_grad %d, %0, %l ignore -1 : (tensor<f32>, tensor<2x40000xf32>, tensor<2xi64>) -> tensor<2x40000xf32>
  %2 = nn.cast %1 : tensor<2x40000xf32> -> tensor<2x40000xbf16>
  nn.return %2 : tensor<2x40000xbf16>
}

// The temporary values are where a whole row is, and threads without a chunk
// load another one's.

nn.function @softmax_in_place(%x: tensor<2x3x30xf32>, %y: tensor<2x3x30xf32>) -> tensor<2x3x30xf32> {
  %0 = nn.mul %x, %y : tensor<2x3x30xf32>
  %1 = nn.softmax %0 axis 2 : tensor<2x3x30xf32>
  nn.return %1 : tensor<2x3x30xf32>
}

nn.function @layer_norm(%x: tensor<2x4x768xf32>, %s: tensor<768xf32>, %b: tensor<768xf32>) -> (tensor<2x4x768xf32>, tensor<2x4xf32>, tensor<2x4xf32>) {
  %0, %m, %r = nn.layer_norm %x, %s, %b axis 2 epsilon 1.0e-5 : (tensor<2x4x768xf32>, tensor<768xf32>, tensor<768xf32>) -> (tensor<2x4x768xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
  nn.return %0, %m, %r : tensor<2x4x768xf32>, tensor<2x4xf32>, tensor<2x4xf32>
}

// A bias, what comes around the product, and the norm of their sum, which is
// needed, too: as in front of the second half of a layer.

nn.function @residual_and_norm(%p: tensor<16x768xbf16>, %bias: tensor<768xf32>, %x: tensor<2x8x768xf32>, %s: tensor<768xf32>, %b: tensor<768xf32>) -> (tensor<2x8x768xf32>, tensor<16x768xbf16>, tensor<2x8xf32>, tensor<2x8xf32>) {
  %0 = nn.broadcast %bias : tensor<768xf32> -> tensor<16x768xf32>
  %1 = nn.cast %0 : tensor<16x768xf32> -> tensor<16x768xbf16>
  %2 = nn.add %p, %1 : tensor<16x768xbf16>
  %3 = nn.reshape %2 : tensor<16x768xbf16> -> tensor<2x8x768xbf16>
  %4 = nn.cast %3 : tensor<2x8x768xbf16> -> tensor<2x8x768xf32>
  %5 = nn.add %4, %x : tensor<2x8x768xf32>
  %6, %m, %r = nn.layer_norm %5, %s, %b axis 2 epsilon 1.0e-5 : (tensor<2x8x768xf32>, tensor<768xf32>, tensor<768xf32>) -> (tensor<2x8x768xf32>, tensor<2x8xf32>, tensor<2x8xf32>)
  %7 = nn.reshape %6 : tensor<2x8x768xf32> -> tensor<16x768xf32>
  %8 = nn.cast %7 : tensor<16x768xf32> -> tensor<16x768xbf16>
  nn.return %5, %8, %m, %r : tensor<2x8x768xf32>, tensor<16x768xbf16>, tensor<2x8xf32>, tensor<2x8xf32>
}

nn.function @layer_norm_grad(%d: tensor<6x768xf32>, %x: tensor<6x768xf32>, %s: tensor<768xf32>, %m: tensor<6xf32>, %r: tensor<6xf32> {test.low = 0.5, test.high = 1.0}) -> tensor<6x768xf32> {
  %0 = nn.layer_norm_grad %d, %x, %s, %m, %r axis 1 : (tensor<6x768xf32>, tensor<6x768xf32>, tensor<768xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<6x768xf32>
  nn.return %0 : tensor<6x768xf32>
}

nn.function @cross_entropy(%x: tensor<40x505xf32>, %l: tensor<40xi64> {test.low = -1.0, test.high = 504.0}) -> (tensor<f32>, tensor<f32>) {
  %s, %w = nn.cross_entropy %x, %l ignore -1 : (tensor<40x505xf32>, tensor<40xi64>) -> (tensor<f32>, tensor<f32>)
  nn.return %s, %w : tensor<f32>, tensor<f32>
}

nn.function @cross_entropy_grad(%d: tensor<f32>, %x: tensor<12x505xf32>, %l: tensor<12xi64> {test.low = -1.0, test.high = 504.0}) -> tensor<12x505xf32> {
  %0 = nn.cross_entropy_grad %d, %x, %l ignore -1 : (tensor<f32>, tensor<12x505xf32>, tensor<12xi64>) -> tensor<12x505xf32>
  nn.return %0 : tensor<12x505xf32>
}

// The derivative of GELU by its tanh, times what comes from above.

nn.function @gelu_grad(%d: tensor<3x1023xf32>, %x: tensor<3x1023xf32>) -> tensor<3x1023xf32> {
  %half = nn.constant dense<0.5> : tensor<3x1023xf32>
  %one = nn.constant dense<1.0> : tensor<3x1023xf32>
  %inner = nn.constant dense<0.797884583> : tensor<3x1023xf32>
  %0 = nn.mul %x, %inner : tensor<3x1023xf32>
  %1 = nn.tanh %0 : tensor<3x1023xf32>
  %2 = nn.mul %1, %1 : tensor<3x1023xf32>
  %3 = nn.sub %one, %2 : tensor<3x1023xf32>
  %4 = nn.mul %3, %0 : tensor<3x1023xf32>
  %5 = nn.add %1, %one : tensor<3x1023xf32>
  %6 = nn.add %5, %4 : tensor<3x1023xf32>
  %7 = nn.mul %6, %half : tensor<3x1023xf32>
  %8 = nn.mul %d, %7 : tensor<3x1023xf32>
  nn.return %8 : tensor<3x1023xf32>
}

// A step of Adam: three buffers in, three out.

nn.function @adam(%p: tensor<1000xf32>, %g: tensor<1000xbf16>, %m: tensor<1000xf32>, %v: tensor<1000xf32> {test.low = 0.0, test.high = 2.0}) -> (tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>) {
  %beta = nn.constant dense<0.9> : tensor<1000xf32>
  %rest = nn.constant dense<0.1> : tensor<1000xf32>
  %rate = nn.constant dense<0.01> : tensor<1000xf32>
  %epsilon = nn.constant dense<0.001> : tensor<1000xf32>
  %wide = nn.cast %g : tensor<1000xbf16> -> tensor<1000xf32>
  %0 = nn.mul %m, %beta : tensor<1000xf32>
  %1 = nn.mul %wide, %rest : tensor<1000xf32>
  %2 = nn.add %0, %1 : tensor<1000xf32>
  %3 = nn.mul %v, %beta : tensor<1000xf32>
  %4 = nn.mul %wide, %1 : tensor<1000xf32>
  %5 = nn.add %3, %4 : tensor<1000xf32>
  %6 = nn.sqrt %5 : tensor<1000xf32>
  %7 = nn.add %6, %epsilon : tensor<1000xf32>
  %8 = nn.div %2, %7 : tensor<1000xf32>
  %9 = nn.mul %8, %rate : tensor<1000xf32>
  %10 = nn.sub %p, %9 : tensor<1000xf32>
  nn.return %10, %2, %5 : tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>
}

nn.function @bias_grad(%x: tensor<200x70xf32>) -> tensor<70xf32> {
  %0 = nn.reduce sum %x axes [0] : tensor<200x70xf32> -> tensor<70xf32>
  nn.return %0 : tensor<70xf32>
}

// Rows that no power of two divides, and an accumulated sum: whatever it held.

nn.function @bias_grad_accumulated(%x: tensor<195x72xbf16>, %b: tensor<72xf32>) -> tensor<72xf32> {
  %0 = nn.cast %x : tensor<195x72xbf16> -> tensor<195x72xf32>
  %1 = nn.reduce sum %0 axes [0] : tensor<195x72xf32> -> tensor<72xf32>
  %2 = nn.accumulate %b, %1 : tensor<72xf32>
  nn.return %2 : tensor<72xf32>
}

// Both gradients of a norm's parameters read the rows together.

nn.function @norm_parameters_grad(%d: tensor<2x128x96xf32>, %x: tensor<2x128x96xf32>, %m: tensor<2x128xf32>, %r: tensor<2x128xf32>, %gs: tensor<96xf32>, %gb: tensor<96xf32>) -> (tensor<96xf32>, tensor<96xf32>) {
  %0 = nn.reduce sum %d axes [0, 1] : tensor<2x128x96xf32> -> tensor<96xf32>
  %1 = nn.accumulate %gb, %0 : tensor<96xf32>
  %2 = nn.reshape %m : tensor<2x128xf32> -> tensor<2x128x1xf32>
  %3 = nn.broadcast %2 : tensor<2x128x1xf32> -> tensor<2x128x96xf32>
  %4 = nn.sub %x, %3 : tensor<2x128x96xf32>
  %5 = nn.reshape %r : tensor<2x128xf32> -> tensor<2x128x1xf32>
  %6 = nn.broadcast %5 : tensor<2x128x1xf32> -> tensor<2x128x96xf32>
  %7 = nn.mul %4, %6 : tensor<2x128x96xf32>
  %8 = nn.mul %d, %7 : tensor<2x128x96xf32>
  %9 = nn.reduce sum %8 axes [0, 1] : tensor<2x128x96xf32> -> tensor<96xf32>
  %10 = nn.accumulate %gs, %9 : tensor<96xf32>
  nn.return %1, %10 : tensor<96xf32>, tensor<96xf32>
}

// A gradient, and what it is for the bias in front.

nn.function @tanh_grad_and_bias_grad(%d: tensor<256x64xf32>, %y: tensor<256x64xf32>) -> (tensor<256x64xf32>, tensor<64xf32>) {
  %one = nn.constant dense<1.0> : tensor<256x64xf32>
  %0 = nn.mul %y, %y : tensor<256x64xf32>
  %1 = nn.sub %one, %0 : tensor<256x64xf32>
  %2 = nn.mul %d, %1 : tensor<256x64xf32>
  %3 = nn.reduce sum %2 axes [0] : tensor<256x64xf32> -> tensor<64xf32>
  nn.return %2, %3 : tensor<256x64xf32>, tensor<64xf32>
}

// Channels of images: neither the outermost nor the innermost axis is kept.

nn.function @channel_sums(%x: tensor<3x8x12x12xf32>) -> tensor<8xf32> {
  %0 = nn.reduce sum %x axes [0, 2, 3] : tensor<3x8x12x12xf32> -> tensor<8xf32>
  nn.return %0 : tensor<8xf32>
}

nn.function @softmax_of_columns(%x: tensor<2x40x36xf32>) -> tensor<2x40x36xf32> {
  %0 = nn.softmax %x axis 1 : tensor<2x40x36xf32>
  nn.return %0 : tensor<2x40x36xf32>
}

nn.function @sum_of_many(%x: tensor<40960xf32>) -> tensor<f32> {
  %0 = nn.reduce sum %x axes [0] : tensor<40960xf32> -> tensor<f32>
  nn.return %0 : tensor<f32>
}

nn.function @embedding_grad(%u: tensor<24x48xf32>, %i: tensor<24xi64> {test.low = -6.0, test.high = 5.0}) -> tensor<6x48xf32> {
  %0 = nn.scatter_add %u, %i axis 0 : tensor<24x48xf32>, tensor<24xi64> -> tensor<6x48xf32>
  nn.return %0 : tensor<6x48xf32>
}

// Many items of a few lines, which many threads have items of; the table holds
// something before.

nn.function @embedding_grad_of_many(%u: tensor<4x60x160xf32>, %i: tensor<4x60xi64> {test.low = -6.0, test.high = 5.0}, %t: tensor<6x160xf32>) -> tensor<6x160xf32> {
  %0 = nn.scatter_add %u, %i axis 0 : tensor<4x60x160xf32>, tensor<4x60xi64> -> tensor<6x160xf32>
  %1 = nn.accumulate %t, %0 : tensor<6x160xf32>
  nn.return %1 : tensor<6x160xf32>
}

// A few items of a line each, and lines without any.

nn.function @embedding_grad_of_few_each(%u: tensor<100x192xbf16>, %i: tensor<100xi64> {test.low = 0.0, test.high = 127.0}, %t: tensor<128x192xf32>) -> tensor<128x192xf32> {
  %0 = nn.cast %u : tensor<100x192xbf16> -> tensor<100x192xf32>
  %1 = nn.scatter_add %0, %i axis 0 : tensor<100x192xf32>, tensor<100xi64> -> tensor<128x192xf32>
  %2 = nn.accumulate %t, %1 : tensor<128x192xf32>
  nn.return %2 : tensor<128x192xf32>
}

// All items are of one line.

nn.function @embedding_grad_of_one(%u: tensor<100x32xf32>, %i: tensor<100xi64> {test.low = 2.0, test.high = 2.0}) -> tensor<3x32xf32> {
  %0 = nn.scatter_add %u, %i axis 0 : tensor<100x32xf32>, tensor<100xi64> -> tensor<3x32xf32>
  nn.return %0 : tensor<3x32xf32>
}

// Positions are known, and no two are the same.

nn.function @position_grad(%u: tensor<4x64xf32>, %t: tensor<6x64xf32>) -> tensor<6x64xf32> {
  %i = nn.constant dense<[5, 0, -3, 2]> : tensor<4xi64>
  %0 = nn.scatter_add %u, %i axis 0 : tensor<4x64xf32>, tensor<4xi64> -> tensor<6x64xf32>
  %1 = nn.accumulate %t, %0 : tensor<6x64xf32>
  nn.return %1 : tensor<6x64xf32>
}

// The other way round: lines of a table by tokens, and of another by positions.

nn.function @embedding(%t: tensor<8x256xf32>, %p: tensor<4x256xf32>, %i: tensor<3x4xi64> {test.low = 0.0, test.high = 7.0}) -> tensor<3x4x256xbf16> {
  %0 = nn.gather %t, %i axis 0 : tensor<8x256xf32>, tensor<3x4xi64> -> tensor<3x4x256xf32>
  %1 = nn.broadcast %p : tensor<4x256xf32> -> tensor<3x4x256xf32>
  %2 = nn.add %0, %1 : tensor<3x4x256xf32>
  %3 = nn.cast %2 : tensor<3x4x256xf32> -> tensor<3x4x256xbf16>
  nn.return %3 : tensor<3x4x256xbf16>
}

// Both sides of a transpose are along lines, whole squares or not; so are those
// of elementwise ops around it.

nn.function @transpose(%x: tensor<3x64x96xf32>) -> tensor<3x96x64xf32> {
  %0 = nn.transpose %x [0, 2, 1] : tensor<3x64x96xf32> -> tensor<3x96x64xf32>
  nn.return %0 : tensor<3x96x64xf32>
}

nn.function @transpose_of_uneven_lines(%x: tensor<48x80xbf16>, %y: tensor<80x48xbf16>) -> tensor<80x48xbf16> {
  %0 = nn.transpose %x [1, 0] : tensor<48x80xbf16> -> tensor<80x48xbf16>
  %1 = nn.tanh %0 : tensor<80x48xbf16>
  %2 = nn.mul %1, %y : tensor<80x48xbf16>
  nn.return %2 : tensor<80x48xbf16>
}

nn.function @transposes_of_three_axes(%x: tensor<40x2x36xi64>, %m: tensor<40x2x36xi1>, %y: tensor<36x2x40xi64>) -> tensor<36x2x40xi64> {
  %0 = nn.transpose %x [2, 1, 0] : tensor<40x2x36xi64> -> tensor<36x2x40xi64>
  %1 = nn.transpose %m [2, 1, 0] : tensor<40x2x36xi1> -> tensor<36x2x40xi1>
  %2 = nn.select %1, %0, %y : tensor<36x2x40xi1>, tensor<36x2x40xi64>
  nn.return %2 : tensor<36x2x40xi64>
}

// Heads of an attention: the innermost axis stays, so that each thread moves 16
// bytes, there and back.

nn.function @split_heads(%x: tensor<2x24x3x32xbf16>) -> tensor<2x3x24x32xbf16> {
  %0 = nn.transpose %x [0, 2, 1, 3] : tensor<2x24x3x32xbf16> -> tensor<2x3x24x32xbf16>
  nn.return %0 : tensor<2x3x24x32xbf16>
}

// The gradient of a convolution's input by 3 x 3 windows: nine kernels, each a
// thread for each window.

nn.function @overlapping_windows(%x: tensor<2x3x3x3x8x8xf32>) -> tensor<2x3x10x10xf32> {
  %0 = nn.col2im %x strides [1, 1] dilations [1, 1] : tensor<2x3x3x3x8x8xf32> -> tensor<2x3x10x10xf32>
  nn.return %0 : tensor<2x3x10x10xf32>
}

nn.function @max_pool(%x: tensor<2x8x16x16xf32>) -> tensor<2x8x8x8xf32> {
  %0 = nn.im2col %x strides [2, 2] dilations [1, 1] : tensor<2x8x16x16xf32> -> tensor<2x8x2x2x8x8xf32>
  %1 = nn.reduce max %0 axes [2, 3] : tensor<2x8x2x2x8x8xf32> -> tensor<2x8x8x8xf32>
  nn.return %1 : tensor<2x8x8x8xf32>
}

nn.function @swiglu(%g: tensor<64x128xbf16>, %u: tensor<64x128xbf16>) -> tensor<64x128xbf16> {
  %0 = nn.sigmoid %g : tensor<64x128xbf16>
  %1 = nn.mul %g, %0 : tensor<64x128xbf16>
  %2 = nn.mul %1, %u : tensor<64x128xbf16>
  nn.return %2 : tensor<64x128xbf16>
}

// Both gradients and that of a bias are one pass over memory.

nn.function @swiglu_grad(%d: tensor<128x64xf32>, %g: tensor<128x64xf32>, %u: tensor<128x64xf32>) -> (tensor<128x64xf32>, tensor<128x64xf32>, tensor<64xf32>) {
  %one = nn.constant dense<1.0> : tensor<128x64xf32>
  %0 = nn.sigmoid %g : tensor<128x64xf32>
  %1 = nn.mul %g, %0 : tensor<128x64xf32>
  %du = nn.mul %d, %1 : tensor<128x64xf32>
  %2 = nn.mul %d, %u : tensor<128x64xf32>
  %3 = nn.sub %one, %0 : tensor<128x64xf32>
  %4 = nn.mul %1, %3 : tensor<128x64xf32>
  %5 = nn.add %0, %4 : tensor<128x64xf32>
  %dg = nn.mul %2, %5 : tensor<128x64xf32>
  %6 = nn.reduce sum %du axes [0] : tensor<128x64xf32> -> tensor<64xf32>
  nn.return %dg, %du, %6 : tensor<128x64xf32>, tensor<128x64xf32>, tensor<64xf32>
}

// Tokens in the order of their experts.

nn.function @permute(%x: tensor<16x256xbf16>, %i: tensor<32xi64> {test.low = 0.0, test.high = 15.0}) -> tensor<32x256xbf16> {
  %0 = nn.gather %x, %i axis 0 : tensor<16x256xbf16>, tensor<32xi64> -> tensor<32x256xbf16>
  nn.return %0 : tensor<32x256xbf16>
}

// Rows for other ranks: of some there are none. A thread moves 16 bytes where
// rows are multiples of that, and else as many as divide them.

nn.function @permute_rows(%x: tensor<32x256xbf16>, %i: tensor<48xi64> {test.low = -8.0, test.high = 39.0}, %n: tensor<32xi64>) -> tensor<48x256xbf16> {
  %0 = nn.permute_rows %x, %i, %n : tensor<32x256xbf16>, tensor<48xi64>, tensor<32xi64> -> tensor<48x256xbf16>
  nn.return %0 : tensor<48x256xbf16>
}

nn.function @permute_rows_of_uneven_length(%x: tensor<32x90xbf16>, %i: tensor<48xi64> {test.low = -8.0, test.high = 39.0}, %n: tensor<32xi64>) -> tensor<48x90xbf16> {
  %0 = nn.permute_rows %x, %i, %n : tensor<32x90xbf16>, tensor<48xi64>, tensor<32xi64> -> tensor<48x90xbf16>
  nn.return %0 : tensor<48x90xbf16>
}

nn.function @permute_numbers(%x: tensor<1000xi64>, %i: tensor<1024xi64> {test.low = -8.0, test.high = 1007.0}, %n: tensor<1000xi64>) -> tensor<1024xi64> {
  %0 = nn.permute_rows %x, %i, %n : tensor<1000xi64>, tensor<1024xi64>, tensor<1000xi64> -> tensor<1024xi64>
  nn.return %0 : tensor<1024xi64>
}

// Places that are counted for each of two peers, with as many rows to each as
// it has room for: what is counted in parts, and a thread for each index.

nn.function @places(%peer: tensor<512xi64> {test.low = 0.0, test.high = 1.0}) -> (tensor<512xi64>, tensor<480xi64>) {
  %room = nn.constant dense<240> : tensor<512xi64>
  %none = nn.constant dense<-1> : tensor<512xi64>
  %peers = nn.constant dense<[[0, 1]]> : tensor<1x2xi64>
  %all = nn.broadcast %peers : tensor<1x2xi64> -> tensor<512x2xi64>
  %column = nn.reshape %peer : tensor<512xi64> -> tensor<512x1xi64>
  %both = nn.broadcast %column : tensor<512x1xi64> -> tensor<512x2xi64>
  %is = nn.compare eq %both, %all : tensor<512x2xi64> -> tensor<512x2xi1>
  %hot = nn.cast %is : tensor<512x2xi1> -> tensor<512x2xi64>
  %before = nn.cumulative_sum %hot axis 0 exclusive : tensor<512x2xi64>
  %counted = nn.mul %before, %hot : tensor<512x2xi64>
  %rank = nn.reduce sum %counted axes [1] : tensor<512x2xi64> -> tensor<512xi64>
  %fits = nn.compare lt %rank, %room : tensor<512xi64> -> tensor<512xi1>
  %first = nn.mul %peer, %room : tensor<512xi64>
  %where = nn.add %first, %rank : tensor<512xi64>
  %place = nn.select %fits, %where, %none : tensor<512xi1>, tensor<512xi64>
  %row = nn.invert_indices %place : tensor<512xi64> -> tensor<480xi64>
  nn.return %place, %row : tensor<512xi64>, tensor<480xi64>
}

// A rotary embedding, and its gradient, of which the small tables are swapped
// and repeated.

nn.function @rope(%x: tensor<2x4x64x32xbf16>, %cos: tensor<64x32xbf16>, %sin: tensor<64x32xbf16>) -> tensor<2x4x64x32xbf16> {
  %c = nn.broadcast %cos : tensor<64x32xbf16> -> tensor<2x4x64x32xbf16>
  %s = nn.broadcast %sin : tensor<64x32xbf16> -> tensor<2x4x64x32xbf16>
  %0 = nn.rotary %x, %c, %s : tensor<2x4x64x32xbf16>
  nn.return %0 : tensor<2x4x64x32xbf16>
}

nn.function @rope_negative(%x: tensor<2x4x64x32xbf16>, %cos: tensor<64x32xbf16>, %sin: tensor<64x32xbf16>) -> tensor<2x4x64x32xbf16> {
  %c = nn.broadcast %cos : tensor<64x32xbf16> -> tensor<2x4x64x32xbf16>
  %s = nn.broadcast %sin : tensor<64x32xbf16> -> tensor<2x4x64x32xbf16>
  %n = nn.neg %s : tensor<2x4x64x32xbf16>
  %0 = nn.rotary %x, %c, %n : tensor<2x4x64x32xbf16>
  nn.return %0 : tensor<2x4x64x32xbf16>
}

nn.function @rope_of_neighbors(%x: tensor<2x64x32xbf16>, %cos: tensor<2x64x32xbf16>, %sin: tensor<2x64x32xbf16>) -> tensor<2x64x32xbf16> {
  %0 = nn.rotary %x, %cos, %sin interleaved : tensor<2x64x32xbf16>
  nn.return %0 : tensor<2x64x32xbf16>
}
