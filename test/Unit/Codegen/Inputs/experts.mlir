// Arguments take values from `test.low` to `test.high`.

// Numbers from -4 to 5 of four experts: some count from the end, and some name
// none.

nn.function @expert_matmul(%x: tensor<9x5xf32>, %w: tensor<4x5x7xf32>, %e: tensor<9xi64> {test.low = -4.0, test.high = 5.0}) -> tensor<9x7xf32> {
  %0 = nn.expert_matmul %x, %w, %e : tensor<9x5xf32>, tensor<4x5x7xf32>, tensor<9xi64> -> tensor<9x7xf32>
  nn.return %0 : tensor<9x7xf32>
}

nn.function @expert_matmul_transposed(%x: tensor<9x5xf32>, %w: tensor<4x7x5xf32>, %e: tensor<9xi64> {test.low = -4.0, test.high = 5.0}) -> tensor<9x7xf32> {
  %0 = nn.expert_matmul %x, %w, %e transpose_weights : tensor<9x5xf32>, tensor<4x7x5xf32>, tensor<9xi64> -> tensor<9x7xf32>
  nn.return %0 : tensor<9x7xf32>
}

nn.function @expert_outer(%x: tensor<9x5xf32>, %y: tensor<9x7xf32>, %e: tensor<9xi64> {test.low = -4.0, test.high = 5.0}) -> tensor<4x5x7xf32> {
  %0 = nn.expert_outer %x, %y, %e : tensor<9x5xf32>, tensor<9x7xf32>, tensor<9xi64> -> tensor<4x5x7xf32>
  nn.return %0 : tensor<4x5x7xf32>
}

nn.function @expert_outer_accumulated(%x: tensor<9x5xf32>, %y: tensor<9x7xf32>, %e: tensor<9xi64> {test.low = 0.0, test.high = 3.0}, %sum: tensor<4x5x7xf32>) -> tensor<4x5x7xf32> {
  %0 = nn.expert_outer %x, %y, %e : tensor<9x5xf32>, tensor<9x7xf32>, tensor<9xi64> -> tensor<4x5x7xf32>
  %1 = nn.accumulate %sum, %0 : tensor<4x5x7xf32>
  nn.return %1 : tensor<4x5x7xf32>
}

// The library has no kernels for these.

nn.function @expert_matmul_double(%x: tensor<9x5xf64>, %w: tensor<4x5x7xf64>, %e: tensor<9xi64> {test.low = -4.0, test.high = 5.0}) -> tensor<9x7xf64> {
  %0 = nn.expert_matmul %x, %w, %e : tensor<9x5xf64>, tensor<4x5x7xf64>, tensor<9xi64> -> tensor<9x7xf64>
  nn.return %0 : tensor<9x7xf64>
}

nn.function @expert_matmul_double_transposed(%x: tensor<9x5xf64>, %w: tensor<4x7x5xf64>, %e: tensor<9xi64> {test.low = -4.0, test.high = 5.0}) -> tensor<9x7xf64> {
  %0 = nn.expert_matmul %x, %w, %e transpose_weights : tensor<9x5xf64>, tensor<4x7x5xf64>, tensor<9xi64> -> tensor<9x7xf64>
  nn.return %0 : tensor<9x7xf64>
}

nn.function @expert_outer_double(%x: tensor<9x5xf64>, %y: tensor<9x7xf64>, %e: tensor<9xi64> {test.low = -4.0, test.high = 5.0}, %sum: tensor<4x5x7xf64>) -> (tensor<4x5x7xf64>, tensor<4x7x5xf64>) {
  %0 = nn.expert_outer %x, %y, %e : tensor<9x5xf64>, tensor<9x7xf64>, tensor<9xi64> -> tensor<4x5x7xf64>
  %1 = nn.accumulate %sum, %0 : tensor<4x5x7xf64>
  %2 = nn.expert_outer %y, %x, %e : tensor<9x7xf64>, tensor<9x5xf64>, tensor<9xi64> -> tensor<4x7x5xf64>
  nn.return %1, %2 : tensor<4x5x7xf64>, tensor<4x7x5xf64>
}

// Of 16 bits the sums are rounded once, or not at all.

nn.function @bf16_expert_matmul(%x: tensor<9x70xbf16>, %w: tensor<4x70x7xbf16>, %e: tensor<9xi64> {test.low = -4.0, test.high = 5.0}) -> tensor<9x7xbf16> {
  %0 = nn.expert_matmul %x, %w, %e : tensor<9x70xbf16>, tensor<4x70x7xbf16>, tensor<9xi64> -> tensor<9x7xbf16>
  nn.return %0 : tensor<9x7xbf16>
}

nn.function @bf16_expert_outer(%x: tensor<90x5xbf16>, %y: tensor<90x7xbf16>, %e: tensor<90xi64> {test.low = -4.0, test.high = 5.0}, %sum: tensor<4x5x7xf32>) -> (tensor<4x5x7xf32>, tensor<4x5x7xbf16>) {
  %0 = nn.expert_outer %x, %y, %e : tensor<90x5xbf16>, tensor<90x7xbf16>, tensor<90xi64> -> tensor<4x5x7xf32>
  %1 = nn.accumulate %sum, %0 : tensor<4x5x7xf32>
  %2 = nn.expert_outer %x, %y, %e : tensor<90x5xbf16>, tensor<90x7xbf16>, tensor<90xi64> -> tensor<4x5x7xbf16>
  nn.return %1, %2 : tensor<4x5x7xf32>, tensor<4x5x7xbf16>
}

nn.function @f16_expert_products(%x: tensor<9x5xf16>, %w: tensor<4x7x5xf16>, %e: tensor<9xi64> {test.low = -4.0, test.high = 5.0}) -> (tensor<9x7xf32>, tensor<4x7x5xf16>) {
  %0 = nn.expert_matmul %x, %w, %e transpose_weights : tensor<9x5xf16>, tensor<4x7x5xf16>, tensor<9xi64> -> tensor<9x7xf32>
  %1 = nn.expert_matmul %x, %w, %e transpose_weights : tensor<9x5xf16>, tensor<4x7x5xf16>, tensor<9xi64> -> tensor<9x7xf16>
  %2 = nn.expert_outer %1, %x, %e : tensor<9x7xf16>, tensor<9x5xf16>, tensor<9xi64> -> tensor<4x7x5xf16>
  nn.return %0, %2 : tensor<9x7xf32>, tensor<4x7x5xf16>
}

// Rows go to other places: some have none, and some places no row. Numbers that
// name nothing are whatever they are.

nn.function @permute_rows(%x: tensor<5x3x2xf32>, %i: tensor<9xi64> {test.low = -3.0, test.high = 7.0}, %n: tensor<5xi64>) -> tensor<9x3x2xf32> {
  %0 = nn.permute_rows %x, %i, %n : tensor<5x3x2xf32>, tensor<9xi64>, tensor<5xi64> -> tensor<9x3x2xf32>
  nn.return %0 : tensor<9x3x2xf32>
}

nn.function @permute_rows_by_any_number(%x: tensor<4x2xf64>, %n: tensor<4xi64>) -> tensor<7x2xf64> {
  %i = nn.constant dense<[3, 9223372036854775807, 0, -9223372036854775808, 4294967296, -4294967294, 1]> : tensor<7xi64>
  %0 = nn.permute_rows %x, %i, %n : tensor<4x2xf64>, tensor<7xi64>, tensor<4xi64> -> tensor<7x2xf64>
  nn.return %0 : tensor<7x2xf64>
}

nn.function @bf16_permute_rows(%x: tensor<6x24xbf16>, %y: tensor<8x24xbf16>, %i: tensor<8xi64> {test.low = -2.0, test.high = 7.0}, %n: tensor<6xi64>) -> (tensor<8x24xbf16>, tensor<8x24xbf16>) {
  %0 = nn.permute_rows %x, %i, %n : tensor<6x24xbf16>, tensor<8xi64>, tensor<6xi64> -> tensor<8x24xbf16>
  %1 = nn.mul %0, %y : tensor<8x24xbf16>
  nn.return %0, %1 : tensor<8x24xbf16>, tensor<8x24xbf16>
}

nn.function @permute_numbers(%x: tensor<6xi64>, %i: tensor<9xi64> {test.low = -2.0, test.high = 8.0}, %n: tensor<6xi64>) -> tensor<9xi64> {
  %0 = nn.permute_rows %x, %i, %n : tensor<6xi64>, tensor<9xi64>, tensor<6xi64> -> tensor<9xi64>
  nn.return %0 : tensor<9xi64>
}

// What is read by its own elements is not written over.

nn.function @permute_numbers_by_themselves(%x: tensor<6xi64> {test.low = -2.0, test.high = 6.0}, %y: tensor<6xi64>) -> tensor<6xi64> {
  %0 = nn.add %x, %y : tensor<6xi64>
  %1 = nn.permute_rows %0, %0, %0 : tensor<6xi64>, tensor<6xi64>, tensor<6xi64> -> tensor<6xi64>
  %2 = nn.permute_rows %1, %1, %1 : tensor<6xi64>, tensor<6xi64>, tensor<6xi64> -> tensor<6xi64>
  nn.return %2 : tensor<6xi64>
}

nn.function @permute_flags(%x: tensor<6x5xi1>, %i: tensor<4xi64> {test.low = -2.0, test.high = 8.0}, %n: tensor<6xi64>) -> tensor<4x5xi1> {
  %0 = nn.permute_rows %x, %i, %n : tensor<6x5xi1>, tensor<4xi64>, tensor<6xi64> -> tensor<4x5xi1>
  nn.return %0 : tensor<4x5xi1>
}

nn.function @permute_no_rows(%x: tensor<0x5xf32>, %y: tensor<4x5xf32>, %i: tensor<4xi64>, %n: tensor<0xi64>) -> (tensor<4x5xf32>, tensor<0x5xf32>) {
  %0 = nn.permute_rows %x, %i, %n : tensor<0x5xf32>, tensor<4xi64>, tensor<0xi64> -> tensor<4x5xf32>
  %1 = nn.permute_rows %y, %n, %i : tensor<4x5xf32>, tensor<0xi64>, tensor<4xi64> -> tensor<0x5xf32>
  nn.return %0, %1 : tensor<4x5xf32>, tensor<0x5xf32>
}

nn.function @invert_indices(%x: tensor<7xi64>) -> (tensor<7xi64>, tensor<9xi64>) {
  %i = nn.constant dense<[4, 9, -1, 0, -9223372036854775808, 6, 9223372036854775807]> : tensor<7xi64>
  %0 = nn.invert_indices %i : tensor<7xi64> -> tensor<9xi64>
  %1 = nn.add %i, %x : tensor<7xi64>
  %2 = nn.sub %1, %x : tensor<7xi64>
  %3 = nn.invert_indices %2 : tensor<7xi64> -> tensor<9xi64>
  %4 = nn.invert_indices %3 : tensor<9xi64> -> tensor<7xi64>
  nn.return %4, %0 : tensor<7xi64>, tensor<9xi64>
}

nn.function @invert_one_index(%x: tensor<1xi64> {test.low = -1.0, test.high = 2.0}) -> (tensor<3xi64>, tensor<0xi64>) {
  %0 = nn.invert_indices %x : tensor<1xi64> -> tensor<3xi64>
  %1 = nn.invert_indices %x : tensor<1xi64> -> tensor<0xi64>
  nn.return %0, %1 : tensor<3xi64>, tensor<0xi64>
}

nn.function @invert_no_index(%x: tensor<0xi64>) -> tensor<3xi64> {
  %0 = nn.invert_indices %x : tensor<0xi64> -> tensor<3xi64>
  nn.return %0 : tensor<3xi64>
}

// Rows to two others, which have room for three rows each, and back: the places
// are counted, and a row without one comes back as zeros.

nn.function @rows_to_two_peers_and_back(%x: tensor<9x4xf32>, %peer: tensor<9xi64> {test.low = 0.0, test.high = 1.0}) -> (tensor<6x4xf32>, tensor<9x4xf32>, tensor<6xi64>, tensor<9xi64>) {
  %one = nn.constant dense<1> : tensor<9xi64>
  %room = nn.constant dense<3> : tensor<9xi64>
  %none = nn.constant dense<-1> : tensor<9xi64>
  %peers = nn.constant dense<[[0, 1]]> : tensor<1x2xi64>
  %all = nn.broadcast %peers : tensor<1x2xi64> -> tensor<9x2xi64>
  %column = nn.reshape %peer : tensor<9xi64> -> tensor<9x1xi64>
  %both = nn.broadcast %column : tensor<9x1xi64> -> tensor<9x2xi64>
  %is = nn.compare eq %both, %all : tensor<9x2xi64> -> tensor<9x2xi1>
  %hot = nn.cast %is : tensor<9x2xi1> -> tensor<9x2xi64>
  %before = nn.cumulative_sum %hot axis 0 exclusive : tensor<9x2xi64>
  %counted = nn.mul %before, %hot : tensor<9x2xi64>
  %rank = nn.reduce sum %counted axes [1] : tensor<9x2xi64> -> tensor<9xi64>
  %fits = nn.compare lt %rank, %room : tensor<9xi64> -> tensor<9xi1>
  %first = nn.mul %peer, %room : tensor<9xi64>
  %where = nn.add %first, %rank : tensor<9xi64>
  %place = nn.select %fits, %where, %none : tensor<9xi1>, tensor<9xi64>
  %row = nn.invert_indices %place : tensor<9xi64> -> tensor<6xi64>
  %packed = nn.permute_rows %x, %row, %place : tensor<9x4xf32>, tensor<6xi64>, tensor<9xi64> -> tensor<6x4xf32>
  %back = nn.permute_rows %packed, %place, %row : tensor<6x4xf32>, tensor<9xi64>, tensor<6xi64> -> tensor<9x4xf32>
  nn.return %packed, %back, %row, %place : tensor<6x4xf32>, tensor<9x4xf32>, tensor<6xi64>, tensor<9xi64>
}

nn.function @integer_places(%x: tensor<40xi64>, %y: tensor<40xi64> {test.low = 1.0, test.high = 9.0}, %i: tensor<12xi64> {test.low = 0.0, test.high = 39.0}) -> (tensor<40xi64>, tensor<40xi64>, tensor<12xi64>) {
  %quotient = nn.div %x, %y : tensor<40xi64>
  %product = nn.mul %quotient, %y : tensor<40xi64>
  %rest = nn.sub %x, %product : tensor<40xi64>
  %least = nn.min %quotient, %rest : tensor<40xi64>
  %most = nn.max %quotient, %y : tensor<40xi64>
  %less = nn.compare le %least, %rest : tensor<40xi64> -> tensor<40xi1>
  %chosen = nn.select %less, %least, %most : tensor<40xi1>, tensor<40xi64>
  %taken = nn.gather %chosen, %i axis 0 : tensor<40xi64>, tensor<12xi64> -> tensor<12xi64>
  nn.return %quotient, %chosen, %taken : tensor<40xi64>, tensor<40xi64>, tensor<12xi64>
}
