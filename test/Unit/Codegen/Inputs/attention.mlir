nn.function @attention_of_heads(%q: tensor<2x3x5x4xf32>, %k: tensor<2x3x7x4xf32>, %v: tensor<2x3x7x6xf32>) -> tensor<2x3x5x6xf32> {
  %0 = nn.attention %q, %k, %v scale 0.5 : (tensor<2x3x5x4xf32>, tensor<2x3x7x4xf32>, tensor<2x3x7x6xf32>) -> tensor<2x3x5x6xf32>
  nn.return %0 : tensor<2x3x5x6xf32>
}

// Heads in groups, a mask for each head and key, and later keys hidden.
nn.function @attention_of_groups(%q: tensor<2x6x5x4xf32>, %k: tensor<2x2x7x4xf32>, %v: tensor<2x2x7x6xf32>, %m: tensor<1x6x1x7xf32>) -> tensor<2x6x5x6xf32> {
  %0 = nn.attention %q, %k, %v mask %m causal scale 0.5 : (tensor<2x6x5x4xf32>, tensor<2x2x7x4xf32>, tensor<2x2x7x6xf32>, tensor<1x6x1x7xf32>) -> tensor<2x6x5x6xf32>
  nn.return %0 : tensor<2x6x5x6xf32>
}

nn.function @attention_softcap(%q: tensor<2x6x5x4xf32>, %k: tensor<2x2x5x4xf32>, %m: tensor<1x6x1x5xf32>) -> tensor<2x6x5x4xf32> {
  %0 = nn.attention %q, %k, %k mask %m causal scale 0.5 softcap 1.5 : (tensor<2x6x5x4xf32>, tensor<2x2x5x4xf32>, tensor<2x2x5x4xf32>, tensor<1x6x1x5xf32>) -> tensor<2x6x5x4xf32>
  nn.return %0 : tensor<2x6x5x4xf32>
}

nn.function @attention_f64(%q: tensor<4x5x4xf64>, %k: tensor<2x5x4xf64>) -> tensor<4x5x4xf64> {
  %0 = nn.attention %q, %k, %k causal scale 1.0 : (tensor<4x5x4xf64>, tensor<2x5x4xf64>, tensor<2x5x4xf64>) -> tensor<4x5x4xf64>
  nn.return %0 : tensor<4x5x4xf64>
}

nn.function @attention_bf16(%q: tensor<3x33x16xbf16>, %m: tensor<3x33x33xf32>) -> tensor<3x33x16xbf16> {
  %0 = nn.attention %q, %q, %q mask %m scale 0.25 : (tensor<3x33x16xbf16>, tensor<3x33x16xbf16>, tensor<3x33x16xbf16>, tensor<3x33x33xf32>) -> tensor<3x33x16xbf16>
  nn.return %0 : tensor<3x33x16xbf16>
}

nn.function @attention_with_statistics(%q: tensor<2x3x5x4xf32>, %k: tensor<2x3x7x4xf32>, %v: tensor<2x3x7x6xf32>) -> (tensor<2x3x5x6xf32>, tensor<2x3x5xf32>) {
  %0, %1 = nn.attention_with_statistics %q, %k, %v scale 0.5 : (tensor<2x3x5x4xf32>, tensor<2x3x7x4xf32>, tensor<2x3x7x6xf32>) -> (tensor<2x3x5x6xf32>, tensor<2x3x5xf32>)
  nn.return %0, %1 : tensor<2x3x5x6xf32>, tensor<2x3x5xf32>
}

// Heads in groups, of 16 bits, and both the op and its gradient.
nn.function @attention_and_gradient(%dy: tensor<6x5x8xbf16>, %q: tensor<6x5x8xbf16>, %k: tensor<2x7x8xbf16>, %v: tensor<2x7x8xbf16>) -> (tensor<6x5x8xbf16>, tensor<6x5x8xbf16>, tensor<2x7x8xbf16>, tensor<2x7x8xbf16>) {
  %0, %1 = nn.attention_with_statistics %q, %k, %v causal scale 0.25 : (tensor<6x5x8xbf16>, tensor<2x7x8xbf16>, tensor<2x7x8xbf16>) -> (tensor<6x5x8xbf16>, tensor<6x5xf32>)
  %2, %3, %4 = nn.attention_grad %dy, %q, %k, %v, %0, %1 causal scale 0.25 : (tensor<6x5x8xbf16>, tensor<6x5x8xbf16>, tensor<2x7x8xbf16>, tensor<2x7x8xbf16>, tensor<6x5x8xbf16>, tensor<6x5xf32>) -> (tensor<6x5x8xbf16>, tensor<2x7x8xbf16>, tensor<2x7x8xbf16>)
  nn.return %0, %2, %3, %4 : tensor<6x5x8xbf16>, tensor<6x5x8xbf16>, tensor<2x7x8xbf16>, tensor<2x7x8xbf16>
}

nn.function @attention_grad(%dy: tensor<2x4x5x6xf32>, %q: tensor<2x4x5x4xf32>, %k: tensor<2x2x7x4xf32>, %v: tensor<2x2x7x6xf32>) -> (tensor<2x4x5x4xf32>, tensor<2x2x7x4xf32>, tensor<2x2x7x6xf32>) {
  %0, %1 = nn.attention_with_statistics %q, %k, %v scale 0.5 : (tensor<2x4x5x4xf32>, tensor<2x2x7x4xf32>, tensor<2x2x7x6xf32>) -> (tensor<2x4x5x6xf32>, tensor<2x4x5xf32>)
  %2, %3, %4 = nn.attention_grad %dy, %q, %k, %v, %0, %1 scale 0.5 : (tensor<2x4x5x6xf32>, tensor<2x4x5x4xf32>, tensor<2x2x7x4xf32>, tensor<2x2x7x6xf32>, tensor<2x4x5x6xf32>, tensor<2x4x5xf32>) -> (tensor<2x4x5x4xf32>, tensor<2x2x7x4xf32>, tensor<2x2x7x6xf32>)
  nn.return %2, %3, %4 : tensor<2x4x5x4xf32>, tensor<2x2x7x4xf32>, tensor<2x2x7x6xf32>
}

nn.function @rotary(%x: tensor<3x8xf32>, %c: tensor<3x8xf32>, %s: tensor<3x8xf32>) -> tensor<3x8xf32> {
  %0 = nn.rotary %x, %c, %s : tensor<3x8xf32>
  nn.return %0 : tensor<3x8xf32>
}

nn.function @rotary_interleaved(%x: tensor<3x8xf32>, %c: tensor<3x8xf32>, %s: tensor<3x8xf32>) -> tensor<3x8xf32> {
  %0 = nn.rotary %x, %c, %s interleaved : tensor<3x8xf32>
  nn.return %0 : tensor<3x8xf32>
}
