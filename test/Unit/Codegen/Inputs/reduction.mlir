// Arguments take values from `test.low` to `test.high`.

nn.function @reduce_sum_2(%x: tensor<3x4x19xf32> {test.low = 0.5, test.high = 1.5}) -> (tensor<3x4xf32>) {
  %0 = nn.reduce sum %x axes [2] : tensor<3x4x19xf32> -> tensor<3x4xf32>
  nn.return %0 : tensor<3x4xf32>
}

nn.function @reduce_sum_0(%x: tensor<3x4x19xf32> {test.low = 0.5, test.high = 1.5}) -> (tensor<4x19xf32>) {
  %0 = nn.reduce sum %x axes [0] : tensor<3x4x19xf32> -> tensor<4x19xf32>
  nn.return %0 : tensor<4x19xf32>
}

nn.function @reduce_sum_0_1_2(%x: tensor<3x4x19xf32> {test.low = 0.5, test.high = 1.5}) -> (tensor<f32>) {
  %0 = nn.reduce sum %x axes [0, 1, 2] : tensor<3x4x19xf32> -> tensor<f32>
  nn.return %0 : tensor<f32>
}

nn.function @reduce_sum_1(%x: tensor<3x4x19xf32> {test.low = 0.5, test.high = 1.5}) -> (tensor<3x19xf32>) {
  %0 = nn.reduce sum %x axes [1] : tensor<3x4x19xf32> -> tensor<3x19xf32>
  nn.return %0 : tensor<3x19xf32>
}

nn.function @reduce_sum_0_2(%x: tensor<3x4x19xf32> {test.low = 0.5, test.high = 1.5}) -> (tensor<4xf32>) {
  %0 = nn.reduce sum %x axes [0, 2] : tensor<3x4x19xf32> -> tensor<4xf32>
  nn.return %0 : tensor<4xf32>
}

nn.function @reduce_mean_2(%x: tensor<3x4x19xf32> {test.low = 0.5, test.high = 1.5}) -> (tensor<3x4xf32>) {
  %0 = nn.reduce mean %x axes [2] : tensor<3x4x19xf32> -> tensor<3x4xf32>
  nn.return %0 : tensor<3x4xf32>
}

nn.function @reduce_mean_0(%x: tensor<3x4x19xf32> {test.low = 0.5, test.high = 1.5}) -> (tensor<4x19xf32>) {
  %0 = nn.reduce mean %x axes [0] : tensor<3x4x19xf32> -> tensor<4x19xf32>
  nn.return %0 : tensor<4x19xf32>
}

nn.function @reduce_mean_0_1_2(%x: tensor<3x4x19xf32> {test.low = 0.5, test.high = 1.5}) -> (tensor<f32>) {
  %0 = nn.reduce mean %x axes [0, 1, 2] : tensor<3x4x19xf32> -> tensor<f32>
  nn.return %0 : tensor<f32>
}

nn.function @reduce_mean_1(%x: tensor<3x4x19xf32> {test.low = 0.5, test.high = 1.5}) -> (tensor<3x19xf32>) {
  %0 = nn.reduce mean %x axes [1] : tensor<3x4x19xf32> -> tensor<3x19xf32>
  nn.return %0 : tensor<3x19xf32>
}

nn.function @reduce_mean_0_2(%x: tensor<3x4x19xf32> {test.low = 0.5, test.high = 1.5}) -> (tensor<4xf32>) {
  %0 = nn.reduce mean %x axes [0, 2] : tensor<3x4x19xf32> -> tensor<4xf32>
  nn.return %0 : tensor<4xf32>
}

nn.function @reduce_max_2(%x: tensor<3x4x19xf32> {test.low = 0.5, test.high = 1.5}) -> (tensor<3x4xf32>) {
  %0 = nn.reduce max %x axes [2] : tensor<3x4x19xf32> -> tensor<3x4xf32>
  nn.return %0 : tensor<3x4xf32>
}

nn.function @reduce_max_0(%x: tensor<3x4x19xf32> {test.low = 0.5, test.high = 1.5}) -> (tensor<4x19xf32>) {
  %0 = nn.reduce max %x axes [0] : tensor<3x4x19xf32> -> tensor<4x19xf32>
  nn.return %0 : tensor<4x19xf32>
}

nn.function @reduce_max_0_1_2(%x: tensor<3x4x19xf32> {test.low = 0.5, test.high = 1.5}) -> (tensor<f32>) {
  %0 = nn.reduce max %x axes [0, 1, 2] : tensor<3x4x19xf32> -> tensor<f32>
  nn.return %0 : tensor<f32>
}

nn.function @reduce_max_1(%x: tensor<3x4x19xf32> {test.low = 0.5, test.high = 1.5}) -> (tensor<3x19xf32>) {
  %0 = nn.reduce max %x axes [1] : tensor<3x4x19xf32> -> tensor<3x19xf32>
  nn.return %0 : tensor<3x19xf32>
}

nn.function @reduce_max_0_2(%x: tensor<3x4x19xf32> {test.low = 0.5, test.high = 1.5}) -> (tensor<4xf32>) {
  %0 = nn.reduce max %x axes [0, 2] : tensor<3x4x19xf32> -> tensor<4xf32>
  nn.return %0 : tensor<4xf32>
}

nn.function @reduce_min_2(%x: tensor<3x4x19xf32> {test.low = 0.5, test.high = 1.5}) -> (tensor<3x4xf32>) {
  %0 = nn.reduce min %x axes [2] : tensor<3x4x19xf32> -> tensor<3x4xf32>
  nn.return %0 : tensor<3x4xf32>
}

nn.function @reduce_min_0(%x: tensor<3x4x19xf32> {test.low = 0.5, test.high = 1.5}) -> (tensor<4x19xf32>) {
  %0 = nn.reduce min %x axes [0] : tensor<3x4x19xf32> -> tensor<4x19xf32>
  nn.return %0 : tensor<4x19xf32>
}

nn.function @reduce_min_0_1_2(%x: tensor<3x4x19xf32> {test.low = 0.5, test.high = 1.5}) -> (tensor<f32>) {
  %0 = nn.reduce min %x axes [0, 1, 2] : tensor<3x4x19xf32> -> tensor<f32>
  nn.return %0 : tensor<f32>
}

nn.function @reduce_min_1(%x: tensor<3x4x19xf32> {test.low = 0.5, test.high = 1.5}) -> (tensor<3x19xf32>) {
  %0 = nn.reduce min %x axes [1] : tensor<3x4x19xf32> -> tensor<3x19xf32>
  nn.return %0 : tensor<3x19xf32>
}

nn.function @reduce_min_0_2(%x: tensor<3x4x19xf32> {test.low = 0.5, test.high = 1.5}) -> (tensor<4xf32>) {
  %0 = nn.reduce min %x axes [0, 2] : tensor<3x4x19xf32> -> tensor<4xf32>
  nn.return %0 : tensor<4xf32>
}

nn.function @reduce_prod_2(%x: tensor<3x4x19xf32> {test.low = 0.5, test.high = 1.5}) -> (tensor<3x4xf32>) {
  %0 = nn.reduce prod %x axes [2] : tensor<3x4x19xf32> -> tensor<3x4xf32>
  nn.return %0 : tensor<3x4xf32>
}

nn.function @reduce_prod_0(%x: tensor<3x4x19xf32> {test.low = 0.5, test.high = 1.5}) -> (tensor<4x19xf32>) {
  %0 = nn.reduce prod %x axes [0] : tensor<3x4x19xf32> -> tensor<4x19xf32>
  nn.return %0 : tensor<4x19xf32>
}

nn.function @reduce_prod_0_1_2(%x: tensor<3x4x19xf32> {test.low = 0.5, test.high = 1.5}) -> (tensor<f32>) {
  %0 = nn.reduce prod %x axes [0, 1, 2] : tensor<3x4x19xf32> -> tensor<f32>
  nn.return %0 : tensor<f32>
}

nn.function @reduce_prod_1(%x: tensor<3x4x19xf32> {test.low = 0.5, test.high = 1.5}) -> (tensor<3x19xf32>) {
  %0 = nn.reduce prod %x axes [1] : tensor<3x4x19xf32> -> tensor<3x19xf32>
  nn.return %0 : tensor<3x19xf32>
}

nn.function @reduce_prod_0_2(%x: tensor<3x4x19xf32> {test.low = 0.5, test.high = 1.5}) -> (tensor<4xf32>) {
  %0 = nn.reduce prod %x axes [0, 2] : tensor<3x4x19xf32> -> tensor<4xf32>
  nn.return %0 : tensor<4xf32>
}

nn.function @reduce_sum_i32(%x: tensor<4x9xi32>) -> (tensor<4xi32>) {
  %0 = nn.reduce sum %x axes [1] : tensor<4x9xi32> -> tensor<4xi32>
  nn.return %0 : tensor<4xi32>
}

nn.function @reduce_sum_i64(%x: tensor<4x9xi64>) -> (tensor<4xi64>) {
  %0 = nn.reduce sum %x axes [1] : tensor<4x9xi64> -> tensor<4xi64>
  nn.return %0 : tensor<4xi64>
}

nn.function @reduce_max_i32(%x: tensor<4x9xi32>) -> (tensor<4xi32>) {
  %0 = nn.reduce max %x axes [1] : tensor<4x9xi32> -> tensor<4xi32>
  nn.return %0 : tensor<4xi32>
}

nn.function @reduce_max_i64(%x: tensor<4x9xi64>) -> (tensor<4xi64>) {
  %0 = nn.reduce max %x axes [1] : tensor<4x9xi64> -> tensor<4xi64>
  nn.return %0 : tensor<4xi64>
}

nn.function @reduce_min_i32(%x: tensor<4x9xi32>) -> (tensor<4xi32>) {
  %0 = nn.reduce min %x axes [1] : tensor<4x9xi32> -> tensor<4xi32>
  nn.return %0 : tensor<4xi32>
}

nn.function @reduce_min_i64(%x: tensor<4x9xi64>) -> (tensor<4xi64>) {
  %0 = nn.reduce min %x axes [1] : tensor<4x9xi64> -> tensor<4xi64>
  nn.return %0 : tensor<4xi64>
}

nn.function @reduce_prod_i32(%x: tensor<4x9xi32>) -> (tensor<4xi32>) {
  %0 = nn.reduce prod %x axes [1] : tensor<4x9xi32> -> tensor<4xi32>
  nn.return %0 : tensor<4xi32>
}

nn.function @reduce_prod_i64(%x: tensor<4x9xi64>) -> (tensor<4xi64>) {
  %0 = nn.reduce prod %x axes [1] : tensor<4x9xi64> -> tensor<4xi64>
  nn.return %0 : tensor<4xi64>
}

nn.function @cumulative_sum_0(%x: tensor<3x4x5xf32>) -> (tensor<3x4x5xf32>) {
  %0 = nn.cumulative_sum %x axis 0 : tensor<3x4x5xf32>
  nn.return %0 : tensor<3x4x5xf32>
}

nn.function @cumulative_sum_0_exclusive(%x: tensor<3x4x5xf32>) -> (tensor<3x4x5xf32>) {
  %0 = nn.cumulative_sum %x axis 0 exclusive : tensor<3x4x5xf32>
  nn.return %0 : tensor<3x4x5xf32>
}

nn.function @cumulative_sum_0_reverse(%x: tensor<3x4x5xf32>) -> (tensor<3x4x5xf32>) {
  %0 = nn.cumulative_sum %x axis 0 reverse : tensor<3x4x5xf32>
  nn.return %0 : tensor<3x4x5xf32>
}

nn.function @cumulative_sum_0_both(%x: tensor<3x4x5xf32>) -> (tensor<3x4x5xf32>) {
  %0 = nn.cumulative_sum %x axis 0 exclusive reverse : tensor<3x4x5xf32>
  nn.return %0 : tensor<3x4x5xf32>
}

nn.function @cumulative_sum_1(%x: tensor<3x4x5xf32>) -> (tensor<3x4x5xf32>) {
  %0 = nn.cumulative_sum %x axis 1 : tensor<3x4x5xf32>
  nn.return %0 : tensor<3x4x5xf32>
}

nn.function @cumulative_sum_1_exclusive(%x: tensor<3x4x5xf32>) -> (tensor<3x4x5xf32>) {
  %0 = nn.cumulative_sum %x axis 1 exclusive : tensor<3x4x5xf32>
  nn.return %0 : tensor<3x4x5xf32>
}

nn.function @cumulative_sum_1_reverse(%x: tensor<3x4x5xf32>) -> (tensor<3x4x5xf32>) {
  %0 = nn.cumulative_sum %x axis 1 reverse : tensor<3x4x5xf32>
  nn.return %0 : tensor<3x4x5xf32>
}

nn.function @cumulative_sum_1_both(%x: tensor<3x4x5xf32>) -> (tensor<3x4x5xf32>) {
  %0 = nn.cumulative_sum %x axis 1 exclusive reverse : tensor<3x4x5xf32>
  nn.return %0 : tensor<3x4x5xf32>
}

nn.function @cumulative_sum_2(%x: tensor<3x4x5xf32>) -> (tensor<3x4x5xf32>) {
  %0 = nn.cumulative_sum %x axis 2 : tensor<3x4x5xf32>
  nn.return %0 : tensor<3x4x5xf32>
}

nn.function @cumulative_sum_2_exclusive(%x: tensor<3x4x5xf32>) -> (tensor<3x4x5xf32>) {
  %0 = nn.cumulative_sum %x axis 2 exclusive : tensor<3x4x5xf32>
  nn.return %0 : tensor<3x4x5xf32>
}

nn.function @cumulative_sum_2_reverse(%x: tensor<3x4x5xf32>) -> (tensor<3x4x5xf32>) {
  %0 = nn.cumulative_sum %x axis 2 reverse : tensor<3x4x5xf32>
  nn.return %0 : tensor<3x4x5xf32>
}

nn.function @cumulative_sum_2_both(%x: tensor<3x4x5xf32>) -> (tensor<3x4x5xf32>) {
  %0 = nn.cumulative_sum %x axis 2 exclusive reverse : tensor<3x4x5xf32>
  nn.return %0 : tensor<3x4x5xf32>
}

// Long lines of integers are summed in parts: of 16, 17 and 31 elements, and
// not if a line has no such parts.

nn.function @cumulative_sum_of_long_lines(%x: tensor<272x2xi64>, %y: tensor<3x289xi64>, %z: tensor<2x961x3xi32>, %w: tensor<263x5xi64>) -> (tensor<272x2xi64>, tensor<3x289xi64>, tensor<2x961x3xi32>, tensor<263x5xi64>) {
  %0 = nn.cumulative_sum %x axis 0 exclusive : tensor<272x2xi64>
  %1 = nn.cumulative_sum %y axis 1 reverse : tensor<3x289xi64>
  %2 = nn.cumulative_sum %z axis 1 exclusive reverse : tensor<2x961x3xi32>
  %3 = nn.cumulative_sum %w axis 0 : tensor<263x5xi64>
  nn.return %0, %1, %2, %3 : tensor<272x2xi64>, tensor<3x289xi64>, tensor<2x961x3xi32>, tensor<263x5xi64>
}

nn.function @cumulative_sum_of_one_long_line(%x: tensor<512xi64>) -> tensor<512xi64> {
  %0 = nn.cumulative_sum %x axis 0 : tensor<512xi64>
  nn.return %0 : tensor<512xi64>
}

nn.function @top_k_1(%x: tensor<3x7x2xf32>) -> (tensor<3x3x2xi64>) {
  %0 = nn.top_k %x axis 1 : tensor<3x7x2xf32> -> tensor<3x3x2xi64>
  nn.return %0 : tensor<3x3x2xi64>
}

nn.function @top_k_smallest(%x: tensor<3x7xf32>) -> (tensor<3x7xi64>) {
  %0 = nn.top_k %x axis 1 smallest : tensor<3x7xf32> -> tensor<3x7xi64>
  nn.return %0 : tensor<3x7xi64>
}

nn.function @top_k_of_equal_integers(%x: tensor<4x9xi32> {test.low = 0.0, test.high = 2.0}) -> (tensor<4x4xi64>) {
  %0 = nn.top_k %x axis 1 : tensor<4x9xi32> -> tensor<4x4xi64>
  nn.return %0 : tensor<4x4xi64>
}
