// RUN: pp-opt %s --nn-fold --verify-diagnostics

nn.function @beyond_the_end() -> tensor<1xi64> {
  %table = nn.constant dense<[4, 5]> : tensor<2xi64>
  %index = nn.constant dense<2> : tensor<1xi64>
  // expected-error @below {{'nn.gather' op reads index 2 of an axis of size 2}}
  %0 = nn.gather %table, %index axis 0 : tensor<2xi64>, tensor<1xi64> -> tensor<1xi64>
  nn.return %0 : tensor<1xi64>
}
