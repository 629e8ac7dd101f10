// RUN: pp-opt %s --nn-keep-attention-statistics=target=cuda | FileCheck %s
// RUN: pp-opt %s --nn-keep-attention-statistics | FileCheck %s --check-prefix=CPU

// The library of CUDA devices has attention of 16 bits; that of processors has
// none.

// CPU-NOT: statistics

// Heads that share keys and values, fewer queries than keys, and values of
// another size.

// CHECK-LABEL: nn.function @groups(
// CHECK: %[[Y:.*]], %{{.*}} = nn.attention_with_statistics %{{.*}}, %{{.*}}, %{{.*}} causal scale 1.250000e-01 : (tensor<2x8x16x64xbf16>, tensor<2x2x24x64xbf16>, tensor<2x2x24x32xbf16>) -> (tensor<2x8x16x32xbf16>, tensor<2x8x16xf32>)
// CHECK-NEXT: nn.return %[[Y]]
nn.function @groups(%q: tensor<2x8x16x64xbf16>, %k: tensor<2x2x24x64xbf16>, %v: tensor<2x2x24x32xbf16>) -> tensor<2x8x16x32xbf16> {
  %0 = nn.attention %q, %k, %v causal scale 0.125 : (tensor<2x8x16x64xbf16>, tensor<2x2x24x64xbf16>, tensor<2x2x24x32xbf16>) -> tensor<2x8x16x32xbf16>
  nn.return %0 : tensor<2x8x16x32xbf16>
}

// Without a batch, and with numbers of queries and keys that nothing divides.

// CHECK-LABEL: nn.function @f16(
// CHECK: %[[Y:.*]], %{{.*}} = nn.attention_with_statistics %{{.*}}, %{{.*}}, %{{.*}} scale 1.000000e+00 : (tensor<4x7x128xf16>, tensor<4x5x128xf16>, tensor<4x5x128xf16>) -> (tensor<4x7x128xf16>, tensor<4x7xf32>)
// CHECK-NEXT: nn.return %[[Y]]
nn.function @f16(%q: tensor<4x7x128xf16>, %k: tensor<4x5x128xf16>, %v: tensor<4x5x128xf16>) -> tensor<4x7x128xf16> {
  %0 = nn.attention %q, %k, %v scale 1.0 : (tensor<4x7x128xf16>, tensor<4x5x128xf16>, tensor<4x5x128xf16>) -> tensor<4x7x128xf16>
  nn.return %0 : tensor<4x7x128xf16>
}

// Other types, masks, soft caps and sizes of rows stay as they are.

// CHECK-LABEL: nn.function @f32(
// CHECK: nn.attention %
nn.function @f32(%q: tensor<4x8x16xf32>, %k: tensor<4x8x16xf32>, %v: tensor<4x8x16xf32>) -> tensor<4x8x16xf32> {
  %0 = nn.attention %q, %k, %v scale 1.0 : (tensor<4x8x16xf32>, tensor<4x8x16xf32>, tensor<4x8x16xf32>) -> tensor<4x8x16xf32>
  nn.return %0 : tensor<4x8x16xf32>
}

// CHECK-LABEL: nn.function @mask(
// CHECK: nn.attention %
nn.function @mask(%q: tensor<4x8x16xbf16>, %k: tensor<4x8x16xbf16>, %v: tensor<4x8x16xbf16>, %m: tensor<1x1x8xf32>) -> tensor<4x8x16xbf16> {
  %0 = nn.attention %q, %k, %v mask %m scale 1.0 : (tensor<4x8x16xbf16>, tensor<4x8x16xbf16>, tensor<4x8x16xbf16>, tensor<1x1x8xf32>) -> tensor<4x8x16xbf16>
  nn.return %0 : tensor<4x8x16xbf16>
}

// CHECK-LABEL: nn.function @softcap(
// CHECK: nn.attention %
nn.function @softcap(%q: tensor<4x8x16xbf16>, %k: tensor<4x8x16xbf16>, %v: tensor<4x8x16xbf16>) -> tensor<4x8x16xbf16> {
  %0 = nn.attention %q, %k, %v scale 1.0 softcap 30.0 : (tensor<4x8x16xbf16>, tensor<4x8x16xbf16>, tensor<4x8x16xbf16>) -> tensor<4x8x16xbf16>
  nn.return %0 : tensor<4x8x16xbf16>
}

// CHECK-LABEL: nn.function @narrow(
// CHECK: nn.attention %
nn.function @narrow(%q: tensor<4x8x12xbf16>, %k: tensor<4x8x12xbf16>, %v: tensor<4x8x16xbf16>) -> tensor<4x8x16xbf16> {
  %0 = nn.attention %q, %k, %v scale 1.0 : (tensor<4x8x12xbf16>, tensor<4x8x12xbf16>, tensor<4x8x16xbf16>) -> tensor<4x8x16xbf16>
  nn.return %0 : tensor<4x8x16xbf16>
}

// CHECK-LABEL: nn.function @narrow_values(
// CHECK: nn.attention %
nn.function @narrow_values(%q: tensor<4x8x16xbf16>, %k: tensor<4x8x16xbf16>, %v: tensor<4x8x12xbf16>) -> tensor<4x8x12xbf16> {
  %0 = nn.attention %q, %k, %v scale 1.0 : (tensor<4x8x16xbf16>, tensor<4x8x16xbf16>, tensor<4x8x12xbf16>) -> tensor<4x8x12xbf16>
  nn.return %0 : tensor<4x8x12xbf16>
}

// CHECK-LABEL: nn.function @wide(
// CHECK: nn.attention %
nn.function @wide(%q: tensor<4x8x136xbf16>, %k: tensor<4x8x136xbf16>, %v: tensor<4x8x16xbf16>) -> tensor<4x8x16xbf16> {
  %0 = nn.attention %q, %k, %v scale 1.0 : (tensor<4x8x136xbf16>, tensor<4x8x136xbf16>, tensor<4x8x16xbf16>) -> tensor<4x8x16xbf16>
  nn.return %0 : tensor<4x8x16xbf16>
}

// CHECK-LABEL: nn.function @empty(
// CHECK: nn.attention %
nn.function @empty(%q: tensor<4x0x16xbf16>, %k: tensor<4x8x16xbf16>, %v: tensor<4x8x16xbf16>) -> tensor<4x0x16xbf16> {
  %0 = nn.attention %q, %k, %v scale 1.0 : (tensor<4x0x16xbf16>, tensor<4x8x16xbf16>, tensor<4x8x16xbf16>) -> tensor<4x0x16xbf16>
  nn.return %0 : tensor<4x0x16xbf16>
}

// Elements are counted in 32 bits.

// CHECK-LABEL: nn.function @large(
// CHECK: nn.attention %
nn.function @large(%q: tensor<64x524288x64xbf16>, %k: tensor<64x8x64xbf16>, %v: tensor<64x8x64xbf16>) -> tensor<64x524288x64xbf16> {
  %0 = nn.attention %q, %k, %v scale 1.0 : (tensor<64x524288x64xbf16>, tensor<64x8x64xbf16>, tensor<64x8x64xbf16>) -> tensor<64x524288x64xbf16>
  nn.return %0 : tensor<64x524288x64xbf16>
}
