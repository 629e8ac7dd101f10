// RUN: pp-opt %s | pp-opt | FileCheck %s
// RUN: pp-opt %s --mlir-print-op-generic | pp-opt | FileCheck %s

// CHECK-LABEL: nn.function @attention
nn.function @attention(%q: tensor<2x8x4x16xf32>, %k: tensor<2x2x6x16xf32>, %v: tensor<2x2x6x5xf32>, %mask: tensor<2x1x1x6xf32>) -> tensor<2x8x4x5xf32> {
  // CHECK: nn.attention %{{.*}}, %{{.*}}, %{{.*}} scale 2.500000e-01 : (tensor<2x8x4x16xf32>, tensor<2x2x6x16xf32>, tensor<2x2x6x5xf32>) -> tensor<2x8x4x5xf32>
  %0 = nn.attention %q, %k, %v scale 0.25 : (tensor<2x8x4x16xf32>, tensor<2x2x6x16xf32>, tensor<2x2x6x5xf32>) -> tensor<2x8x4x5xf32>
  // CHECK: nn.attention %{{.*}}, %{{.*}}, %{{.*}} mask %{{.*}} causal scale 1.000000e+00 : (tensor<2x8x4x16xf32>, tensor<2x2x6x16xf32>, tensor<2x2x6x5xf32>, tensor<2x1x1x6xf32>) -> tensor<2x8x4x5xf32>
  %1 = nn.attention %q, %k, %v mask %mask causal scale 1.0 : (tensor<2x8x4x16xf32>, tensor<2x2x6x16xf32>, tensor<2x2x6x5xf32>, tensor<2x1x1x6xf32>) -> tensor<2x8x4x5xf32>
  // CHECK: nn.attention %{{.*}}, %{{.*}}, %{{.*}} causal scale 1.000000e+00 softcap 5.000000e+01 :
  %2 = nn.attention %q, %k, %v causal scale 1.0 softcap 50.0 : (tensor<2x8x4x16xf32>, tensor<2x2x6x16xf32>, tensor<2x2x6x5xf32>) -> tensor<2x8x4x5xf32>
  %3 = nn.add %0, %1 : tensor<2x8x4x5xf32>
  %4 = nn.add %2, %3 : tensor<2x8x4x5xf32>
  nn.return %4 : tensor<2x8x4x5xf32>
}

// CHECK-LABEL: nn.function @statistics
nn.function @statistics(%q: tensor<8x4x16xbf16>, %k: tensor<2x6x16xbf16>, %v: tensor<2x6x5xbf16>) -> (tensor<8x4x16xbf16>, tensor<2x6x16xbf16>, tensor<2x6x5xbf16>) {
  // CHECK: %[[Y:.*]], %[[S:.*]] = nn.attention_with_statistics %{{.*}}, %{{.*}}, %{{.*}} scale 2.500000e-01 : (tensor<8x4x16xbf16>, tensor<2x6x16xbf16>, tensor<2x6x5xbf16>) -> (tensor<8x4x5xbf16>, tensor<8x4xf32>)
  %y, %s = nn.attention_with_statistics %q, %k, %v scale 0.25 : (tensor<8x4x16xbf16>, tensor<2x6x16xbf16>, tensor<2x6x5xbf16>) -> (tensor<8x4x5xbf16>, tensor<8x4xf32>)
  // CHECK: nn.attention_with_statistics %{{.*}}, %{{.*}}, %{{.*}} causal scale 1.000000e+00 :
  %z, %t = nn.attention_with_statistics %q, %k, %v causal scale 1.0 : (tensor<8x4x16xbf16>, tensor<2x6x16xbf16>, tensor<2x6x5xbf16>) -> (tensor<8x4x5xbf16>, tensor<8x4xf32>)
  // CHECK: nn.attention_grad %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[Y]], %[[S]] causal scale 2.500000e-01 : (tensor<8x4x5xbf16>, tensor<8x4x16xbf16>, tensor<2x6x16xbf16>, tensor<2x6x5xbf16>, tensor<8x4x5xbf16>, tensor<8x4xf32>) -> (tensor<8x4x16xbf16>, tensor<2x6x16xbf16>, tensor<2x6x5xbf16>)
  %dq, %dk, %dv = nn.attention_grad %z, %q, %k, %v, %y, %s causal scale 0.25 : (tensor<8x4x5xbf16>, tensor<8x4x16xbf16>, tensor<2x6x16xbf16>, tensor<2x6x5xbf16>, tensor<8x4x5xbf16>, tensor<8x4xf32>) -> (tensor<8x4x16xbf16>, tensor<2x6x16xbf16>, tensor<2x6x5xbf16>)
  nn.return %dq, %dk, %dv : tensor<8x4x16xbf16>, tensor<2x6x16xbf16>, tensor<2x6x5xbf16>
}

// CHECK-LABEL: nn.function @rotary
nn.function @rotary(%x: tensor<3x4xf32>, %c: tensor<3x4xf32>, %s: tensor<3x4xf32>) -> tensor<3x4xf32> {
  // CHECK: nn.rotary %{{.*}}, %{{.*}}, %{{.*}} : tensor<3x4xf32>
  %0 = nn.rotary %x, %c, %s : tensor<3x4xf32>
  // CHECK: nn.rotary %{{.*}}, %{{.*}}, %{{.*}} interleaved : tensor<3x4xf32>
  %1 = nn.rotary %0, %c, %s interleaved : tensor<3x4xf32>
  nn.return %1 : tensor<3x4xf32>
}
