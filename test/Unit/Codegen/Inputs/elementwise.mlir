// Arguments take values from `test.low` to `test.high`.

nn.function @neg(%x: tensor<5x7xf32>) -> (tensor<5x7xf32>) {
  %0 = nn.neg %x : tensor<5x7xf32>
  nn.return %0 : tensor<5x7xf32>
}

nn.function @abs(%x: tensor<5x7xf32>) -> (tensor<5x7xf32>) {
  %0 = nn.abs %x : tensor<5x7xf32>
  nn.return %0 : tensor<5x7xf32>
}

nn.function @sign(%x: tensor<5x7xf32>) -> (tensor<5x7xf32>) {
  %0 = nn.sign %x : tensor<5x7xf32>
  nn.return %0 : tensor<5x7xf32>
}

nn.function @exp(%x: tensor<5x7xf32>) -> (tensor<5x7xf32>) {
  %0 = nn.exp %x : tensor<5x7xf32>
  nn.return %0 : tensor<5x7xf32>
}

nn.function @tanh(%x: tensor<5x7xf32>) -> (tensor<5x7xf32>) {
  %0 = nn.tanh %x : tensor<5x7xf32>
  nn.return %0 : tensor<5x7xf32>
}

nn.function @erf(%x: tensor<5x7xf32>) -> (tensor<5x7xf32>) {
  %0 = nn.erf %x : tensor<5x7xf32>
  nn.return %0 : tensor<5x7xf32>
}

nn.function @sin(%x: tensor<5x7xf32>) -> (tensor<5x7xf32>) {
  %0 = nn.sin %x : tensor<5x7xf32>
  nn.return %0 : tensor<5x7xf32>
}

nn.function @cos(%x: tensor<5x7xf32>) -> (tensor<5x7xf32>) {
  %0 = nn.cos %x : tensor<5x7xf32>
  nn.return %0 : tensor<5x7xf32>
}

nn.function @sigmoid(%x: tensor<5x7xf32>) -> (tensor<5x7xf32>) {
  %0 = nn.sigmoid %x : tensor<5x7xf32>
  nn.return %0 : tensor<5x7xf32>
}

nn.function @relu(%x: tensor<5x7xf32>) -> (tensor<5x7xf32>) {
  %0 = nn.relu %x : tensor<5x7xf32>
  nn.return %0 : tensor<5x7xf32>
}

nn.function @floor(%x: tensor<5x7xf32>) -> (tensor<5x7xf32>) {
  %0 = nn.floor %x : tensor<5x7xf32>
  nn.return %0 : tensor<5x7xf32>
}

nn.function @ceil(%x: tensor<5x7xf32>) -> (tensor<5x7xf32>) {
  %0 = nn.ceil %x : tensor<5x7xf32>
  nn.return %0 : tensor<5x7xf32>
}

nn.function @log(%x: tensor<5x7xf32> {test.low = 0.0625, test.high = 9.0}) -> (tensor<5x7xf32>) {
  %0 = nn.log %x : tensor<5x7xf32>
  nn.return %0 : tensor<5x7xf32>
}

nn.function @sqrt(%x: tensor<5x7xf32> {test.low = 0.0625, test.high = 9.0}) -> (tensor<5x7xf32>) {
  %0 = nn.sqrt %x : tensor<5x7xf32>
  nn.return %0 : tensor<5x7xf32>
}

nn.function @rsqrt(%x: tensor<5x7xf32> {test.low = 0.0625, test.high = 9.0}) -> (tensor<5x7xf32>) {
  %0 = nn.rsqrt %x : tensor<5x7xf32>
  nn.return %0 : tensor<5x7xf32>
}

nn.function @reciprocal(%x: tensor<5x7xf32> {test.low = 0.0625, test.high = 9.0}) -> (tensor<5x7xf32>) {
  %0 = nn.reciprocal %x : tensor<5x7xf32>
  nn.return %0 : tensor<5x7xf32>
}

nn.function @gelu_erf(%x: tensor<5x7xf32>) -> (tensor<5x7xf32>) {
  %0 = nn.gelu erf %x : tensor<5x7xf32>
  nn.return %0 : tensor<5x7xf32>
}

nn.function @gelu_tanh(%x: tensor<5x7xf32>) -> (tensor<5x7xf32>) {
  %0 = nn.gelu tanh %x : tensor<5x7xf32>
  nn.return %0 : tensor<5x7xf32>
}

nn.function @not(%x: tensor<9xi1>) -> (tensor<9xi1>) {
  %0 = nn.not %x : tensor<9xi1>
  nn.return %0 : tensor<9xi1>
}

nn.function @neg_integer(%x: tensor<9xi32>) -> (tensor<9xi32>) {
  %0 = nn.neg %x : tensor<9xi32>
  nn.return %0 : tensor<9xi32>
}

nn.function @abs_integer(%x: tensor<9xi32>) -> (tensor<9xi32>) {
  %0 = nn.abs %x : tensor<9xi32>
  nn.return %0 : tensor<9xi32>
}

nn.function @sign_integer(%x: tensor<9xi32>) -> (tensor<9xi32>) {
  %0 = nn.sign %x : tensor<9xi32>
  nn.return %0 : tensor<9xi32>
}

nn.function @exp_double(%x: tensor<9xf64>) -> (tensor<9xf64>) {
  %0 = nn.exp %x : tensor<9xf64>
  nn.return %0 : tensor<9xf64>
}

nn.function @tanh_bfloat(%x: tensor<9xbf16>) -> (tensor<9xbf16>) {
  %0 = nn.tanh %x : tensor<9xbf16>
  nn.return %0 : tensor<9xbf16>
}

nn.function @scalar(%x: tensor<f32>) -> (tensor<f32>) {
  %0 = nn.exp %x : tensor<f32>
  nn.return %0 : tensor<f32>
}

nn.function @add(%x: tensor<5x7xf32>, %y: tensor<5x7xf32>) -> (tensor<5x7xf32>) {
  %0 = nn.add %x, %y : tensor<5x7xf32>
  nn.return %0 : tensor<5x7xf32>
}

nn.function @add_integer(%x: tensor<9xi64>, %y: tensor<9xi64>) -> (tensor<9xi64>) {
  %0 = nn.add %x, %y : tensor<9xi64>
  nn.return %0 : tensor<9xi64>
}

nn.function @sub(%x: tensor<5x7xf32>, %y: tensor<5x7xf32>) -> (tensor<5x7xf32>) {
  %0 = nn.sub %x, %y : tensor<5x7xf32>
  nn.return %0 : tensor<5x7xf32>
}

nn.function @sub_integer(%x: tensor<9xi64>, %y: tensor<9xi64>) -> (tensor<9xi64>) {
  %0 = nn.sub %x, %y : tensor<9xi64>
  nn.return %0 : tensor<9xi64>
}

nn.function @mul(%x: tensor<5x7xf32>, %y: tensor<5x7xf32>) -> (tensor<5x7xf32>) {
  %0 = nn.mul %x, %y : tensor<5x7xf32>
  nn.return %0 : tensor<5x7xf32>
}

nn.function @mul_integer(%x: tensor<9xi64>, %y: tensor<9xi64>) -> (tensor<9xi64>) {
  %0 = nn.mul %x, %y : tensor<9xi64>
  nn.return %0 : tensor<9xi64>
}

nn.function @max(%x: tensor<5x7xf32>, %y: tensor<5x7xf32>) -> (tensor<5x7xf32>) {
  %0 = nn.max %x, %y : tensor<5x7xf32>
  nn.return %0 : tensor<5x7xf32>
}

nn.function @max_integer(%x: tensor<9xi64>, %y: tensor<9xi64>) -> (tensor<9xi64>) {
  %0 = nn.max %x, %y : tensor<9xi64>
  nn.return %0 : tensor<9xi64>
}

nn.function @min(%x: tensor<5x7xf32>, %y: tensor<5x7xf32>) -> (tensor<5x7xf32>) {
  %0 = nn.min %x, %y : tensor<5x7xf32>
  nn.return %0 : tensor<5x7xf32>
}

nn.function @min_integer(%x: tensor<9xi64>, %y: tensor<9xi64>) -> (tensor<9xi64>) {
  %0 = nn.min %x, %y : tensor<9xi64>
  nn.return %0 : tensor<9xi64>
}

nn.function @div(%x: tensor<5x7xf32> {test.low = 0.25, test.high = 5.0}, %y: tensor<5x7xf32> {test.low = 0.25, test.high = 5.0}) -> (tensor<5x7xf32>) {
  %0 = nn.div %x, %y : tensor<5x7xf32>
  nn.return %0 : tensor<5x7xf32>
}

nn.function @div_integer(%x: tensor<9xi32>, %y: tensor<9xi32> {test.low = -4.0, test.high = -1.0}) -> (tensor<9xi32>) {
  %0 = nn.div %x, %y : tensor<9xi32>
  nn.return %0 : tensor<9xi32>
}

nn.function @mod(%x: tensor<5x7xf32> {test.low = 0.25, test.high = 5.0}, %y: tensor<5x7xf32> {test.low = 0.25, test.high = 5.0}) -> (tensor<5x7xf32>) {
  %0 = nn.mod %x, %y : tensor<5x7xf32>
  nn.return %0 : tensor<5x7xf32>
}

nn.function @mod_integer(%x: tensor<9xi32>, %y: tensor<9xi32> {test.low = -4.0, test.high = -1.0}) -> (tensor<9xi32>) {
  %0 = nn.mod %x, %y : tensor<9xi32>
  nn.return %0 : tensor<9xi32>
}

nn.function @mod_signs(%x: tensor<33xf32>, %y: tensor<33xf32> {test.low = -3.0, test.high = -0.5}) -> (tensor<33xf32>) {
  %0 = nn.mod %x, %y : tensor<33xf32>
  nn.return %0 : tensor<33xf32>
}

nn.function @pow(%x: tensor<33xf32> {test.low = 0.25, test.high = 3.0}, %y: tensor<33xf32> {test.low = 0.25, test.high = 3.0}) -> (tensor<33xf32>) {
  %0 = nn.pow %x, %y : tensor<33xf32>
  nn.return %0 : tensor<33xf32>
}

nn.function @and(%x: tensor<33xi1>, %y: tensor<33xi1>) -> (tensor<33xi1>) {
  %0 = nn.and %x, %y : tensor<33xi1>
  nn.return %0 : tensor<33xi1>
}

nn.function @or(%x: tensor<33xi1>, %y: tensor<33xi1>) -> (tensor<33xi1>) {
  %0 = nn.or %x, %y : tensor<33xi1>
  nn.return %0 : tensor<33xi1>
}

nn.function @compare(%x: tensor<33xf32>, %y: tensor<33xf32>) -> (tensor<33xi1>, tensor<33xi1>, tensor<33xi1>, tensor<33xi1>, tensor<33xi1>, tensor<33xi1>) {
  %eq = nn.compare eq %x, %y : tensor<33xf32> -> tensor<33xi1>
  %ne = nn.compare ne %x, %y : tensor<33xf32> -> tensor<33xi1>
  %lt = nn.compare lt %x, %y : tensor<33xf32> -> tensor<33xi1>
  %le = nn.compare le %x, %y : tensor<33xf32> -> tensor<33xi1>
  %gt = nn.compare gt %x, %y : tensor<33xf32> -> tensor<33xi1>
  %ge = nn.compare ge %x, %y : tensor<33xf32> -> tensor<33xi1>
  nn.return %eq, %ne, %lt, %le, %gt, %ge : tensor<33xi1>, tensor<33xi1>, tensor<33xi1>, tensor<33xi1>, tensor<33xi1>, tensor<33xi1>
}

nn.function @compare_integer(%x: tensor<33xi64>, %y: tensor<33xi64>) -> (tensor<33xi1>, tensor<33xi1>, tensor<33xi1>, tensor<33xi1>, tensor<33xi1>, tensor<33xi1>) {
  %eq = nn.compare eq %x, %y : tensor<33xi64> -> tensor<33xi1>
  %ne = nn.compare ne %x, %y : tensor<33xi64> -> tensor<33xi1>
  %lt = nn.compare lt %x, %y : tensor<33xi64> -> tensor<33xi1>
  %le = nn.compare le %x, %y : tensor<33xi64> -> tensor<33xi1>
  %gt = nn.compare gt %x, %y : tensor<33xi64> -> tensor<33xi1>
  %ge = nn.compare ge %x, %y : tensor<33xi64> -> tensor<33xi1>
  nn.return %eq, %ne, %lt, %le, %gt, %ge : tensor<33xi1>, tensor<33xi1>, tensor<33xi1>, tensor<33xi1>, tensor<33xi1>, tensor<33xi1>
}

nn.function @compare_boolean(%x: tensor<33xi1>, %y: tensor<33xi1>) -> (tensor<33xi1>, tensor<33xi1>, tensor<33xi1>, tensor<33xi1>, tensor<33xi1>, tensor<33xi1>) {
  %eq = nn.compare eq %x, %y : tensor<33xi1> -> tensor<33xi1>
  %ne = nn.compare ne %x, %y : tensor<33xi1> -> tensor<33xi1>
  %lt = nn.compare lt %x, %y : tensor<33xi1> -> tensor<33xi1>
  %le = nn.compare le %x, %y : tensor<33xi1> -> tensor<33xi1>
  %gt = nn.compare gt %x, %y : tensor<33xi1> -> tensor<33xi1>
  %ge = nn.compare ge %x, %y : tensor<33xi1> -> tensor<33xi1>
  nn.return %eq, %ne, %lt, %le, %gt, %ge : tensor<33xi1>, tensor<33xi1>, tensor<33xi1>, tensor<33xi1>, tensor<33xi1>, tensor<33xi1>
}

nn.function @select(%c: tensor<3x5xi1>, %x: tensor<3x5xf32>, %y: tensor<3x5xf32>) -> (tensor<3x5xf32>) {
  %0 = nn.select %c, %x, %y : tensor<3x5xi1>, tensor<3x5xf32>
  nn.return %0 : tensor<3x5xf32>
}

nn.function @cast_f32_i32(%x: tensor<17xf32>) -> (tensor<17xi32>) {
  %0 = nn.cast %x : tensor<17xf32> -> tensor<17xi32>
  nn.return %0 : tensor<17xi32>
}

nn.function @cast_f32_i1(%x: tensor<17xf32>) -> (tensor<17xi1>) {
  %0 = nn.cast %x : tensor<17xf32> -> tensor<17xi1>
  nn.return %0 : tensor<17xi1>
}

nn.function @cast_i1_f32(%x: tensor<17xi1>) -> (tensor<17xf32>) {
  %0 = nn.cast %x : tensor<17xi1> -> tensor<17xf32>
  nn.return %0 : tensor<17xf32>
}

nn.function @cast_i1_i64(%x: tensor<17xi1>) -> (tensor<17xi64>) {
  %0 = nn.cast %x : tensor<17xi1> -> tensor<17xi64>
  nn.return %0 : tensor<17xi64>
}

nn.function @cast_i64_i32(%x: tensor<17xi64>) -> (tensor<17xi32>) {
  %0 = nn.cast %x : tensor<17xi64> -> tensor<17xi32>
  nn.return %0 : tensor<17xi32>
}

nn.function @cast_i8_i64(%x: tensor<17xi8>) -> (tensor<17xi64>) {
  %0 = nn.cast %x : tensor<17xi8> -> tensor<17xi64>
  nn.return %0 : tensor<17xi64>
}

nn.function @cast_i64_f32(%x: tensor<17xi64>) -> (tensor<17xf32>) {
  %0 = nn.cast %x : tensor<17xi64> -> tensor<17xf32>
  nn.return %0 : tensor<17xf32>
}

nn.function @cast_i64_i1(%x: tensor<17xi64>) -> (tensor<17xi1>) {
  %0 = nn.cast %x : tensor<17xi64> -> tensor<17xi1>
  nn.return %0 : tensor<17xi1>
}

nn.function @cast_f32_f64(%x: tensor<17xf32>) -> (tensor<17xf64>) {
  %0 = nn.cast %x : tensor<17xf32> -> tensor<17xf64>
  nn.return %0 : tensor<17xf64>
}

nn.function @cast_f64_f32(%x: tensor<17xf64>) -> (tensor<17xf32>) {
  %0 = nn.cast %x : tensor<17xf64> -> tensor<17xf32>
  nn.return %0 : tensor<17xf32>
}

nn.function @cast_f32_bf16(%x: tensor<17xf32>) -> (tensor<17xbf16>) {
  %0 = nn.cast %x : tensor<17xf32> -> tensor<17xbf16>
  nn.return %0 : tensor<17xbf16>
}

nn.function @cast_f16_bf16(%x: tensor<17xf16>) -> (tensor<17xbf16>) {
  %0 = nn.cast %x : tensor<17xf16> -> tensor<17xbf16>
  nn.return %0 : tensor<17xbf16>
}

nn.function @cast_bf16_f32(%x: tensor<17xbf16>) -> (tensor<17xf32>) {
  %0 = nn.cast %x : tensor<17xbf16> -> tensor<17xf32>
  nn.return %0 : tensor<17xf32>
}

nn.function @silu(%x: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %0 = nn.silu %x : tensor<5x7xf32>
  nn.return %0 : tensor<5x7xf32>
}
