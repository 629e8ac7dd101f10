nn.function @element_count() -> tensor<i64> {
  %shape = nn.constant dense<[2, 3, 9223372036854775807]> : tensor<3xi64>
  %tail = nn.slice %shape offsets [1] strides [1] : tensor<3xi64> -> tensor<2xi64>
  %head = nn.slice %shape offsets [0] strides [1] : tensor<3xi64> -> tensor<1xi64>
  %joined = nn.concat %tail, %head axis 0 : tensor<2xi64>, tensor<1xi64> -> tensor<3xi64>
  %count = nn.reduce prod %joined axes [0] : tensor<3xi64> -> tensor<i64>
  nn.return %count : tensor<i64>
}
