// Floats of 16 bits: computed in f32, rounded once. Sums are long enough that
// one kept in 16 bits would stop growing.

nn.function @bf16_matmul(%a: tensor<3x70xbf16>, %b: tensor<5x70xbf16>) -> tensor<3x5xbf16> {
  %0 = nn.matmul %a, %b transpose_rhs : tensor<3x70xbf16>, tensor<5x70xbf16> -> tensor<3x5xbf16>
  nn.return %0 : tensor<3x5xbf16>
}

nn.function @f16_matmul_batch(%a: tensor<2x70x3xf16>, %b: tensor<2x70x17xf16>) -> tensor<2x3x17xf16> {
  %0 = nn.matmul %a, %b transpose_lhs : tensor<2x70x3xf16>, tensor<2x70x17xf16> -> tensor<2x3x17xf16>
  nn.return %0 : tensor<2x3x17xf16>
}

nn.function @bf16_matmul_wide(%acc: tensor<9x33xf32>, %a: tensor<40x9xbf16>, %b: tensor<40x33xbf16>) -> tensor<9x33xf32> {
  %0 = nn.matmul %a, %b transpose_lhs : tensor<40x9xbf16>, tensor<40x33xbf16> -> tensor<9x33xf32>
  %1 = nn.accumulate %acc, %0 : tensor<9x33xf32>
  nn.return %1 : tensor<9x33xf32>
}

nn.function @f16_matmul_wide(%acc: tensor<9x33xf32>, %a: tensor<9x40xf16>, %b: tensor<33x40xf16>) -> tensor<9x33xf32> {
  %0 = nn.matmul %a, %b transpose_rhs : tensor<9x40xf16>, tensor<33x40xf16> -> tensor<9x33xf32>
  %1 = nn.accumulate %acc, %0 : tensor<9x33xf32>
  nn.return %1 : tensor<9x33xf32>
}

nn.function @bf16_matmul_one_matrix(%a: tensor<2x3x8xbf16>, %b: tensor<8x4xbf16>) -> tensor<2x3x4xbf16> {
  %w = nn.broadcast %b : tensor<8x4xbf16> -> tensor<2x8x4xbf16>
  %0 = nn.matmul %a, %w : tensor<2x3x8xbf16>, tensor<2x8x4xbf16> -> tensor<2x3x4xbf16>
  nn.return %0 : tensor<2x3x4xbf16>
}

nn.function @bf16_matmul_one_left(%a: tensor<5x8xbf16>, %b: tensor<3x8x4xbf16>) -> tensor<3x5x4xbf16> {
  %m = nn.broadcast %a : tensor<5x8xbf16> -> tensor<3x5x8xbf16>
  %0 = nn.matmul %m, %b : tensor<3x5x8xbf16>, tensor<3x8x4xbf16> -> tensor<3x5x4xbf16>
  nn.return %0 : tensor<3x5x4xbf16>
}

nn.function @bf16_gelu(%x: tensor<33xbf16>) -> tensor<33xbf16> {
  %0 = nn.gelu tanh %x : tensor<33xbf16>
  nn.return %0 : tensor<33xbf16>
}

nn.function @f16_pow(%x: tensor<33xf16> {test.low = 0.5}, %y: tensor<33xf16>) -> tensor<33xf16> {
  %0 = nn.pow %x, %y : tensor<33xf16>
  nn.return %0 : tensor<33xf16>
}

nn.function @bf16_softmax(%x: tensor<3x400xbf16>) -> tensor<3x400xbf16> {
  %0 = nn.softmax %x axis 1 : tensor<3x400xbf16>
  nn.return %0 : tensor<3x400xbf16>
}

nn.function @f16_log_softmax(%x: tensor<3x400xf16>) -> tensor<3x400xf16> {
  %0 = nn.log_softmax %x axis 1 : tensor<3x400xf16>
  nn.return %0 : tensor<3x400xf16>
}

nn.function @bf16_softmax_grad(%y: tensor<3x400xbf16> {test.low = 0.0, test.high = 1.0}, %dy: tensor<3x400xbf16>) -> tensor<3x400xbf16> {
  %0 = nn.softmax_grad %y, %dy axis 1 : tensor<3x400xbf16>
  nn.return %0 : tensor<3x400xbf16>
}

nn.function @bf16_layer_norm(%x: tensor<3x400xbf16> {test.low = 0.0}, %s: tensor<400xbf16>, %b: tensor<400xbf16>) -> (tensor<3x400xbf16>, tensor<3xbf16>, tensor<3xbf16>) {
  %0:3 = nn.layer_norm %x, %s, %b axis 1 epsilon 1.0e-5 : (tensor<3x400xbf16>, tensor<400xbf16>, tensor<400xbf16>) -> (tensor<3x400xbf16>, tensor<3xbf16>, tensor<3xbf16>)
  nn.return %0#0, %0#1, %0#2 : tensor<3x400xbf16>, tensor<3xbf16>, tensor<3xbf16>
}

nn.function @f16_rms_norm(%x: tensor<3x400xf16>, %s: tensor<400xf16>) -> (tensor<3x400xf16>, tensor<3xf16>) {
  %0:2 = nn.rms_norm %x, %s axis 1 epsilon 1.0e-5 : (tensor<3x400xf16>, tensor<400xf16>) -> (tensor<3x400xf16>, tensor<3xf16>)
  nn.return %0#0, %0#1 : tensor<3x400xf16>, tensor<3xf16>
}

nn.function @bf16_sum(%x: tensor<2x1000xbf16> {test.low = 0.5}) -> tensor<2xbf16> {
  %0 = nn.reduce sum %x axes [1] : tensor<2x1000xbf16> -> tensor<2xbf16>
  nn.return %0 : tensor<2xbf16>
}

nn.function @f16_mean(%x: tensor<1000x2xf16> {test.low = 0.5}) -> tensor<2xf16> {
  %0 = nn.reduce mean %x axes [0] : tensor<1000x2xf16> -> tensor<2xf16>
  nn.return %0 : tensor<2xf16>
}

nn.function @bf16_cumulative_sum(%x: tensor<1000xbf16> {test.low = 0.5}) -> tensor<1000xbf16> {
  %0 = nn.cumulative_sum %x axis 0 : tensor<1000xbf16>
  nn.return %0 : tensor<1000xbf16>
}

nn.function @bf16_scatter_add(%u: tensor<1000x2xbf16> {test.low = 0.5}, %i: tensor<1000xi64> {test.low = 0.0, test.high = 1.0}) -> tensor<3x2xbf16> {
  %0 = nn.scatter_add %u, %i axis 0 : tensor<1000x2xbf16>, tensor<1000xi64> -> tensor<3x2xbf16>
  nn.return %0 : tensor<3x2xbf16>
}

nn.function @bf16_gather(%t: tensor<3x4xbf16>, %i: tensor<5xi64> {test.low = 0.0, test.high = 2.0}) -> tensor<5x4xbf16> {
  %0 = nn.gather %t, %i axis 0 : tensor<3x4xbf16>, tensor<5xi64> -> tensor<5x4xbf16>
  nn.return %0 : tensor<5x4xbf16>
}

nn.function @f16_col2im(%x: tensor<1x1x3x3x4x4xf16>) -> tensor<1x1x6x6xf16> {
  %0 = nn.col2im %x strides [1, 1] dilations [1, 1] : tensor<1x1x3x3x4x4xf16> -> tensor<1x1x6x6xf16>
  nn.return %0 : tensor<1x1x6x6xf16>
}

nn.function @bf16_cross_entropy(%x: tensor<40x9xbf16>, %l: tensor<40xi64> {test.low = 0.0, test.high = 8.0}) -> (tensor<bf16>, tensor<bf16>) {
  %0:2 = nn.cross_entropy %x, %l ignore 3 : (tensor<40x9xbf16>, tensor<40xi64>) -> (tensor<bf16>, tensor<bf16>)
  nn.return %0#0, %0#1 : tensor<bf16>, tensor<bf16>
}

nn.function @bf16_cross_entropy_grad(%dy: tensor<bf16>, %x: tensor<40x9xbf16>, %l: tensor<40xi64> {test.low = 0.0, test.high = 8.0}) -> tensor<40x9xbf16> {
  %0 = nn.cross_entropy_grad %dy, %x, %l ignore 3 : (tensor<bf16>, tensor<40x9xbf16>, tensor<40xi64>) -> tensor<40x9xbf16>
  nn.return %0 : tensor<40x9xbf16>
}

// Ties, the largest numbers, the smallest ones, infinities, and NaNs of which
// the upper half alone looks like infinity.

nn.function @bf16_of_f32() -> tensor<10xbf16> {
  %0 = nn.constant dense<[0x3F808000, 0x3F818000, 0x3F808001, 0x7F7FFFFF, 0x00000001, 0x00018000, 0x7F800000, 0xFF800000, 0x7F800001, 0xFFC00000]> : tensor<10xf32>
  %1 = nn.cast %0 : tensor<10xf32> -> tensor<10xbf16>
  nn.return %1 : tensor<10xbf16>
}

nn.function @f16_of_f32() -> tensor<9xf16> {
  %0 = nn.constant dense<[0x3F801000, 0x3F803000, 0x477FEFFF, 0x477FF000, 0x33000000, 0x33000001, 0x7F800000, 0x7F800001, 0x387FFFFF]> : tensor<9xf32>
  %1 = nn.cast %0 : tensor<9xf32> -> tensor<9xf16>
  nn.return %1 : tensor<9xf16>
}

// Not exactly halfway, but halfway once rounded to f32.

nn.function @bf16_of_f64() -> tensor<5xbf16> {
  %0 = nn.constant dense<[0x3FF0100000000001, 0x3FF00FFFFFFFFFFF, 0xBFF0300000000001, 0x47EFFFFFFFFFFFFF, 0x7FF8000000000001]> : tensor<5xf64>
  %1 = nn.cast %0 : tensor<5xf64> -> tensor<5xbf16>
  nn.return %1 : tensor<5xbf16>
}

nn.function @f16_of_f64() -> tensor<3xf16> {
  %0 = nn.constant dense<[0x3FF0020000000001, 0x3FF001FFFFFFFFFF, 0x7FF0000000000000]> : tensor<3xf64>
  %1 = nn.cast %0 : tensor<3xf64> -> tensor<3xf16>
  nn.return %1 : tensor<3xf16>
}

nn.function @bf16_of_i64() -> tensor<3xbf16> {
  %0 = nn.constant dense<[16842753, -16842751, 257]> : tensor<3xi64>
  %1 = nn.cast %0 : tensor<3xi64> -> tensor<3xbf16>
  nn.return %1 : tensor<3xbf16>
}

nn.function @f16_of_bf16() -> tensor<3xf16> {
  %0 = nn.constant dense<[1.5, 1.0e30, -1.0e-8]> : tensor<3xbf16>
  %1 = nn.cast %0 : tensor<3xbf16> -> tensor<3xf16>
  nn.return %1 : tensor<3xf16>
}

nn.function @integers_of_bf16(%x: tensor<9xbf16>) -> (tensor<9xi8>, tensor<9xi1>) {
  %0 = nn.cast %x : tensor<9xbf16> -> tensor<9xi8>
  %1 = nn.cast %x : tensor<9xbf16> -> tensor<9xi1>
  nn.return %0, %1 : tensor<9xi8>, tensor<9xi1>
}
