nn.function @float_functions(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.exp %x : tensor<4xf32>
  %1 = nn.log %0 : tensor<4xf32>
  %2 = nn.sqrt %1 : tensor<4xf32>
  %3 = nn.rsqrt %2 : tensor<4xf32>
  %4 = nn.reciprocal %3 : tensor<4xf32>
  %5 = nn.tanh %4 : tensor<4xf32>
  %6 = nn.erf %5 : tensor<4xf32>
  %7 = nn.sin %6 : tensor<4xf32>
  %8 = nn.cos %7 : tensor<4xf32>
  %9 = nn.sigmoid %8 : tensor<4xf32>
  %10 = nn.relu %9 : tensor<4xf32>
  %11 = nn.floor %10 : tensor<4xf32>
  %12 = nn.ceil %11 : tensor<4xf32>
  %13 = nn.gelu erf %12 : tensor<4xf32>
  %14 = nn.gelu tanh %13 : tensor<4xf32>
  %15 = nn.pow %14, %x : tensor<4xf32>
  %16 = nn.accumulate %15, %x : tensor<4xf32>
  nn.return %16 : tensor<4xf32>
}

nn.function @numbers(%a: tensor<2x3xi32>, %b: tensor<2x3xi32>) -> tensor<2x3xi32> {
  %0 = nn.neg %a : tensor<2x3xi32>
  %1 = nn.abs %0 : tensor<2x3xi32>
  %2 = nn.sign %1 : tensor<2x3xi32>
  %3 = nn.add %2, %b : tensor<2x3xi32>
  %4 = nn.sub %3, %b : tensor<2x3xi32>
  %5 = nn.mul %4, %b : tensor<2x3xi32>
  %6 = nn.div %5, %b : tensor<2x3xi32>
  %7 = nn.mod %6, %b : tensor<2x3xi32>
  %8 = nn.max %7, %b : tensor<2x3xi32>
  %9 = nn.min %8, %b : tensor<2x3xi32>
  nn.return %9 : tensor<2x3xi32>
}

nn.function @choices(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf16> {
  %0 = nn.compare lt %a, %b : tensor<4xf32> -> tensor<4xi1>
  %1 = nn.compare eq %a, %b : tensor<4xf32> -> tensor<4xi1>
  %2 = nn.and %0, %1 : tensor<4xi1>
  %3 = nn.or %2, %1 : tensor<4xi1>
  %4 = nn.not %3 : tensor<4xi1>
  %5 = nn.select %4, %a, %b : tensor<4xi1>, tensor<4xf32>
  %6 = nn.cast %5 : tensor<4xf32> -> tensor<4xf16>
  nn.return %6 : tensor<4xf16>
}
