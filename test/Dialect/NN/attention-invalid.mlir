// RUN: pp-opt %s --split-input-file --verify-diagnostics

nn.function @rank(%q: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{'nn.attention' op has queries of rank 2 and keys of rank 2; both must have one rank, at least 3}}
  %0 = nn.attention %q, %q, %q scale 1.0 : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  nn.return %0 : tensor<4x8xf32>
}

// -----

nn.function @batch(%q: tensor<2x3x4x8xf32>, %k: tensor<1x3x4x8xf32>) -> tensor<2x3x4x8xf32> {
  // expected-error @below {{'nn.attention' op has batch dimensions [2] and [1]; they must be equal}}
  %0 = nn.attention %q, %k, %k scale 1.0 : (tensor<2x3x4x8xf32>, tensor<1x3x4x8xf32>, tensor<1x3x4x8xf32>) -> tensor<2x3x4x8xf32>
  nn.return %0 : tensor<2x3x4x8xf32>
}

// -----

nn.function @groups(%q: tensor<6x4x8xf32>, %k: tensor<4x4x8xf32>) -> tensor<6x4x8xf32> {
  // expected-error @below {{'nn.attention' op cannot share 4 heads of keys among 6 of queries}}
  %0 = nn.attention %q, %k, %k scale 1.0 : (tensor<6x4x8xf32>, tensor<4x4x8xf32>, tensor<4x4x8xf32>) -> tensor<6x4x8xf32>
  nn.return %0 : tensor<6x4x8xf32>
}

// -----

nn.function @size(%q: tensor<2x4x8xf32>, %k: tensor<2x4x6xf32>) -> tensor<2x4x6xf32> {
  // expected-error @below {{'nn.attention' op compares queries of 8 numbers with keys of 6}}
  %0 = nn.attention %q, %k, %k scale 1.0 : (tensor<2x4x8xf32>, tensor<2x4x6xf32>, tensor<2x4x6xf32>) -> tensor<2x4x6xf32>
  nn.return %0 : tensor<2x4x6xf32>
}

// -----

nn.function @value(%q: tensor<2x4x8xf32>, %v: tensor<2x5x8xf32>) -> tensor<2x4x8xf32> {
  // expected-error @below {{'nn.attention' op has a value of shape [2, 5, 8]; it must be [2, 4, 8]}}
  %0 = nn.attention %q, %q, %v scale 1.0 : (tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x5x8xf32>) -> tensor<2x4x8xf32>
  nn.return %0 : tensor<2x4x8xf32>
}

// -----

nn.function @result(%q: tensor<2x4x8xf32>) -> tensor<2x4x6xf32> {
  // expected-error @below {{'nn.attention' op has a result of shape [2, 4, 6]; it must be [2, 4, 8]}}
  %0 = nn.attention %q, %q, %q scale 1.0 : (tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x6xf32>
  nn.return %0 : tensor<2x4x6xf32>
}

// -----

nn.function @mask(%q: tensor<2x4x8xf32>, %m: tensor<2x4xf32>) -> tensor<2x4x8xf32> {
  // expected-error @below {{'nn.attention' op has a mask of shape [2, 4] for scores of shape [2, 4, 4]}}
  %0 = nn.attention %q, %q, %q mask %m scale 1.0 : (tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x4xf32>) -> tensor<2x4x8xf32>
  nn.return %0 : tensor<2x4x8xf32>
}

// -----

nn.function @causal(%q: tensor<2x4x8xf32>, %k: tensor<2x3x8xf32>) -> tensor<2x4x8xf32> {
  // expected-error @below {{'nn.attention' op is causal, but has 4 queries for 3 keys}}
  %0 = nn.attention %q, %k, %k causal scale 1.0 : (tensor<2x4x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x4x8xf32>
  nn.return %0 : tensor<2x4x8xf32>
}

// -----

nn.function @softcap(%q: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  // expected-error @below {{'nn.attention' op has a soft cap of 0.000000e+00; it must be above 0}}
  %0 = nn.attention %q, %q, %q scale 1.0 softcap 0.0 : (tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  nn.return %0 : tensor<2x4x8xf32>
}

// -----

nn.function @groups_with_statistics(%q: tensor<6x4x8xf32>, %k: tensor<4x4x8xf32>) -> tensor<6x4x8xf32> {
  // expected-error @below {{'nn.attention_with_statistics' op cannot share 4 heads of keys among 6 of queries}}
  %0, %1 = nn.attention_with_statistics %q, %k, %k scale 1.0 : (tensor<6x4x8xf32>, tensor<4x4x8xf32>, tensor<4x4x8xf32>) -> (tensor<6x4x8xf32>, tensor<6x4xf32>)
  nn.return %0 : tensor<6x4x8xf32>
}

// -----

nn.function @result_with_statistics(%q: tensor<2x4x8xf32>) -> tensor<2x4x6xf32> {
  // expected-error @below {{'nn.attention_with_statistics' op has a result of shape [2, 4, 6]; it must be [2, 4, 8]}}
  %0, %1 = nn.attention_with_statistics %q, %q, %q scale 1.0 : (tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> (tensor<2x4x6xf32>, tensor<2x4xf32>)
  nn.return %0 : tensor<2x4x6xf32>
}

// -----

nn.function @statistics_shape(%q: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  // expected-error @below {{'nn.attention_with_statistics' op has a tensor of statistics of shape [2, 8]; it must be [2, 4]}}
  %0, %1 = nn.attention_with_statistics %q, %q, %q scale 1.0 : (tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> (tensor<2x4x8xf32>, tensor<2x8xf32>)
  nn.return %0 : tensor<2x4x8xf32>
}

// -----

nn.function @statistics_type(%q: tensor<2x4x8xbf16>) -> tensor<2x4x8xbf16> {
  // expected-error @below {{'nn.attention_with_statistics' op has statistics of 'bf16'; they must be of 'f32'}}
  %0, %1 = nn.attention_with_statistics %q, %q, %q scale 1.0 : (tensor<2x4x8xbf16>, tensor<2x4x8xbf16>, tensor<2x4x8xbf16>) -> (tensor<2x4x8xbf16>, tensor<2x4xbf16>)
  nn.return %0 : tensor<2x4x8xbf16>
}

// -----

nn.function @gradient_type(%q: tensor<2x4x8xf32>, %s: tensor<2x4xf32>) -> tensor<2x4x6xf32> {
  // expected-error @below {{'nn.attention_grad' op failed to verify that all of {key, key_gradient} have same type}}
  %0, %1, %2 = nn.attention_grad %q, %q, %q, %q, %q, %s scale 1.0 : (tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x4xf32>) -> (tensor<2x4x8xf32>, tensor<2x4x6xf32>, tensor<2x4x8xf32>)
  nn.return %1 : tensor<2x4x6xf32>
}

// -----

nn.function @gradient_value(%q: tensor<2x4x8xf32>, %v: tensor<2x5x8xf32>, %s: tensor<2x4xf32>) -> tensor<2x4x8xf32> {
  // expected-error @below {{'nn.attention_grad' op has a value of shape [2, 5, 8]; it must be [2, 4, 8]}}
  %0, %1, %2 = nn.attention_grad %q, %q, %q, %v, %q, %s scale 1.0 : (tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x5x8xf32>, tensor<2x4x8xf32>, tensor<2x4xf32>) -> (tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x5x8xf32>)
  nn.return %0 : tensor<2x4x8xf32>
}

// -----

nn.function @gradient_statistics(%q: tensor<2x4x8xf64>, %s: tensor<2x4xf32>) -> tensor<2x4x8xf64> {
  // expected-error @below {{'nn.attention_grad' op has statistics of 'f32'; they must be of 'f64'}}
  %0, %1, %2 = nn.attention_grad %q, %q, %q, %q, %q, %s scale 1.0 : (tensor<2x4x8xf64>, tensor<2x4x8xf64>, tensor<2x4x8xf64>, tensor<2x4x8xf64>, tensor<2x4x8xf64>, tensor<2x4xf32>) -> (tensor<2x4x8xf64>, tensor<2x4x8xf64>, tensor<2x4x8xf64>)
  nn.return %0 : tensor<2x4x8xf64>
}

// -----

nn.function @odd(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // expected-error @below {{'nn.rotary' op rotates pairs of [2, 3]; the last axis must have an even size}}
  %0 = nn.rotary %x, %x, %x : tensor<2x3xf32>
  nn.return %0 : tensor<2x3xf32>
}
