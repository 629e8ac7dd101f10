// RUN: pp-opt %s --split-input-file --verify-diagnostics

// Only 16 bits are converted, and only to f32.

// expected-error @below {{'pp.parameter' op of 'f32' cannot be made of 'f64'}}
pp.parameter @w : tensor<2xf32> = #pp.external<"/w.bin", offset = 0, length = 16, stored = f64>

// -----

// expected-error @below {{'pp.parameter' op of 'f64' cannot be made of 'bf16'}}
pp.parameter @w : tensor<2xf64> = #pp.external<"/w.bin", offset = 0, length = 4, stored = bf16>

// -----

// The file holds the bytes of what is stored.

// expected-error @below {{'pp.parameter' op has 8 bytes, but 'tensor<2xbf16>' takes 4}}
pp.parameter @w : tensor<2xf32> = #pp.external<"/w.bin", offset = 0, length = 8, stored = bf16>
