// RUN: pp-opt %s --split-input-file --pp-shard-experts=peers=2 --pp-verify-layers | FileCheck %s
// RUN: pp-opt %s --split-input-file --pp-shard-experts="peers=2 capacity=1.25" | FileCheck %s --check-prefix=CAPACITY

// What chooses the experts comes first, then what computes with them, then what
// uses their results. The list of experts is spelled out twice.

pp.parameter @router trainable : tensor<3x4xf32> = dense<0.0> : tensor<3x4xf32>
// CHECK: pp.parameter @up trainable shards 2 : tensor<2x3x5xf32> = dense<0.000000e+00> : tensor<4x3x5xf32>
// CHECK: pp.parameter @up_bias trainable shards 2 : tensor<2x5xf32>
// CHECK: pp.parameter @down trainable shards 2 : tensor<2x5x3xf32>
// CHECK: pp.parameter @down_bias trainable shards 2 : tensor<2x3xf32>
pp.parameter @up trainable : tensor<4x3x5xf32> = dense<0.0> : tensor<4x3x5xf32>
pp.parameter @up_bias trainable : tensor<4x5xf32> = dense<0.0> : tensor<4x5xf32>
pp.parameter @down trainable : tensor<4x5x3xf32> = dense<0.0> : tensor<4x5x3xf32>
pp.parameter @down_bias trainable : tensor<4x3xf32> = dense<0.0> : tensor<4x3xf32>
// CHECK-LABEL: pp.model @biases
// CHECK-SAME: (%[[X:.*]]: tensor<8x3xf32>
pp.model @biases(%x: tensor<8x3xf32> = #pp.input_spec<"x", axis = 0>) {
  // CHECK-NEXT: %[[A:.*]]:4 = pp.layer "h.0" @h.0(%[[X]]) parameters [@router]
  // CHECK-NEXT: %[[ROWS:.*]] = pp.exchanged %[[A]]#0 peers 2 : tensor<16x3xf32>
  // CHECK-NEXT: %[[NUMBERS:.*]] = pp.exchanged %[[A]]#1 peers 2 : tensor<16xi64>
  // CHECK-NEXT: %[[E:.*]] = pp.layer "h.0/experts" @"h.0/experts"(%[[ROWS]], %[[NUMBERS]]) parameters [@up, @up_bias, @down, @down_bias]
  // CHECK-NEXT: %[[RESULTS:.*]] = pp.exchanged %[[E]] peers 2 : tensor<16x3xf32>
  // CHECK-NEXT: %[[Y:.*]] = pp.layer "h.0/combine" @"h.0/combine"(%[[A]]#2, %[[A]]#3, %[[RESULTS]], %[[X]]) parameters []
  // CHECK-NEXT: pp.return outputs ["y"] %[[Y]]
  %y = pp.layer "h.0" @h.0(%x) parameters [@router, @up, @up_bias, @down, @down_bias] : (tensor<8x3xf32>) -> tensor<8x3xf32>
  pp.return outputs ["y"] %y : tensor<8x3xf32>
}
// CHECK: nn.function @h.0(%[[X:.*]]: tensor<8x3xf32>, %{{.*}}: tensor<3x4xf32>) -> (tensor<16x3xf32>, tensor<16xi64>, tensor<8xi64>, tensor<16xi64>) {
// CHECK: %[[CHOSEN:.*]] = nn.reshape %{{.*}} -> tensor<8xi64>
// CHECK: %[[FROM_END:.*]] = nn.add %[[CHOSEN]], %{{.*}}
// CHECK: %[[NUMBER:.*]] = nn.select %{{.*}}, %[[FROM_END]], %[[CHOSEN]]
// CHECK: %[[NO_PEER:.*]] = nn.constant dense<2> : tensor<8xi64>
// CHECK-NEXT: %[[EXPERTS:.*]] = nn.constant dense<2> : tensor<8xi64>
// CHECK-NEXT: %[[QUOTIENT:.*]] = nn.div %[[NUMBER]], %[[EXPERTS]]
// CHECK: %[[PEER:.*]] = nn.select %{{.*}}, %[[NO_PEER]], %[[QUOTIENT]]
// CHECK: %[[SAME:.*]] = nn.cast %{{.*}} : tensor<8x2xi1> -> tensor<8x2xi64>
// CHECK: %[[EARLIER:.*]] = nn.cumulative_sum %[[SAME]] axis 0 exclusive : tensor<8x2xi64>
// CHECK: %[[PRODUCT:.*]] = nn.mul %[[SAME]], %[[EARLIER]]
// CHECK: %[[PLACE_IN_BLOCK:.*]] = nn.reduce sum %[[PRODUCT]] axes [1]
// CHECK: %[[BLOCK_ROWS:.*]] = nn.constant dense<8> : tensor<8xi64>
// CHECK: %[[BLOCK:.*]] = nn.mul %[[PEER]], %[[BLOCK_ROWS]]
// CHECK: %[[PLACE:.*]] = nn.add %[[BLOCK]], %[[PLACE_IN_BLOCK]]
// CHECK: %[[ROW:.*]] = nn.invert_indices %[[PLACE]] : tensor<8xi64> -> tensor<16xi64>
// CHECK: %[[MOVED:.*]] = nn.permute_rows %{{.*}}, %[[ROW]], %[[PLACE]] : tensor<8xi64>, tensor<16xi64>, tensor<8xi64> -> tensor<16xi64>
// CHECK: %[[LOCAL:.*]] = nn.add %[[MOVED]], %{{.*}} : tensor<16xi64>
// CHECK: %[[PACKED:.*]] = nn.permute_rows %[[X]], %[[ROW]], %[[PLACE]] : tensor<8x3xf32>, tensor<16xi64>, tensor<8xi64> -> tensor<16x3xf32>
// CHECK: nn.return %[[PACKED]], %[[LOCAL]], %[[PLACE]], %[[ROW]]

// A place without a row has a number that names no expert; biases are looked up
// for one all the same.
// CHECK: nn.function @"h.0/experts"(%[[ROWS:.*]]: tensor<16x3xf32>, %[[NUMBERS:.*]]: tensor<16xi64>, %[[UP:.*]]: tensor<2x3x5xf32>, %[[UP_BIAS:.*]]: tensor<2x5xf32>, %[[DOWN:.*]]: tensor<2x5x3xf32>, %[[DOWN_BIAS:.*]]: tensor<2x3xf32>) -> tensor<16x3xf32> {
// CHECK: %[[HIDDEN:.*]] = nn.expert_matmul %[[ROWS]], %[[UP]], %[[NUMBERS]]
// CHECK: %[[LAST:.*]] = nn.constant dense<1> : tensor<16xi64>
// CHECK: %[[INDICES:.*]] = nn.min %[[NUMBERS]], %[[LAST]]
// CHECK: nn.gather %[[UP_BIAS]], %[[INDICES]] axis 0 : tensor<2x5xf32>, tensor<16xi64> -> tensor<16x5xf32>
// CHECK: %[[HALF:.*]] = nn.constant dense<5.000000e-01> : tensor<16x5xf32>
// CHECK: nn.mul %{{.*}}, %[[HALF]]
// CHECK: %[[Z:.*]] = nn.expert_matmul %{{.*}}, %[[DOWN]], %[[NUMBERS]]
// CHECK: %[[B:.*]] = nn.gather %[[DOWN_BIAS]], %[[INDICES]] axis 0
// CHECK: %[[RESULT:.*]] = nn.add %[[Z]], %[[B]]
// CHECK: nn.return %[[RESULT]]

// CHECK: nn.function @"h.0/combine"(%[[PLACE:.*]]: tensor<8xi64>, %[[ROW:.*]]: tensor<16xi64>, %[[RESULTS:.*]]: tensor<16x3xf32>, %[[X:.*]]: tensor<8x3xf32>) -> tensor<8x3xf32> {
// CHECK: %[[UNPACKED:.*]] = nn.permute_rows %[[RESULTS]], %[[PLACE]], %[[ROW]] : tensor<16x3xf32>, tensor<8xi64>, tensor<16xi64> -> tensor<8x3xf32>
// CHECK: nn.add %[[X]], %[[UNPACKED]]

// Of 8 rows, 4 are a peer's share; 5 have a place.
// CAPACITY-LABEL: nn.function @h.0
// CAPACITY: %[[IN_BLOCK:.*]] = nn.reduce sum
// CAPACITY: %[[PLACE:.*]] = nn.add %{{.*}}, %[[IN_BLOCK]]
// CAPACITY: %[[NOWHERE:.*]] = nn.constant dense<10> : tensor<8xi64>
// CAPACITY: %[[ROOM:.*]] = nn.constant dense<5> : tensor<8xi64>
// CAPACITY: %[[FITS:.*]] = nn.compare lt %[[IN_BLOCK]], %[[ROOM]]
// CAPACITY: nn.select %[[FITS]], %[[PLACE]], %[[NOWHERE]]
// CAPACITY: nn.permute_rows %{{.*}} -> tensor<10x3xf32>
nn.function @h.0(%x: tensor<8x3xf32>, %router: tensor<3x4xf32>, %up: tensor<4x3x5xf32>, %up_bias: tensor<4x5xf32>, %down: tensor<4x5x3xf32>, %down_bias: tensor<4x3xf32>) -> tensor<8x3xf32> {
  %scores = nn.matmul %x, %router : tensor<8x3xf32>, tensor<3x4xf32> -> tensor<8x4xf32>
  %best = nn.top_k %scores axis 1 : tensor<8x4xf32> -> tensor<8x1xi64>
  %experts = nn.reshape %best : tensor<8x1xi64> -> tensor<8xi64>
  %0 = nn.expert_matmul %x, %up, %experts : tensor<8x3xf32>, tensor<4x3x5xf32>, tensor<8xi64> -> tensor<8x5xf32>
  %1 = nn.gather %up_bias, %experts axis 0 : tensor<4x5xf32>, tensor<8xi64> -> tensor<8x5xf32>
  %2 = nn.add %0, %1 : tensor<8x5xf32>
  %half = nn.constant dense<0.5> : tensor<8x5xf32>
  %3 = nn.mul %2, %half : tensor<8x5xf32>
  %same = nn.reshape %best : tensor<8x1xi64> -> tensor<8xi64>
  %4 = nn.expert_matmul %3, %down, %same : tensor<8x5xf32>, tensor<4x5x3xf32>, tensor<8xi64> -> tensor<8x3xf32>
  %5 = nn.gather %down_bias, %same axis 0 : tensor<4x3xf32>, tensor<8xi64> -> tensor<8x3xf32>
  %6 = nn.add %4, %5 : tensor<8x3xf32>
  %y = nn.add %x, %6 : tensor<8x3xf32>
  nn.return %y : tensor<8x3xf32>
}

// -----

// Layers that shared a function share all of its parts. Each part that draws
// random numbers has a key of its own, and so have the layers behind it. What
// is only used behind the experts is computed there if that takes less memory
// to hand on; what rows are weighted with goes with them.

pp.parameter @gate0 trainable : tensor<4x3x10xf32> = dense<0.0> : tensor<4x3x10xf32>
pp.parameter @down0 trainable : tensor<4x5x3xf32> = dense<0.0> : tensor<4x5x3xf32>
pp.parameter @gate1 trainable : tensor<4x3x10xf32> = dense<0.0> : tensor<4x3x10xf32>
pp.parameter @down1 trainable : tensor<4x5x3xf32> = dense<0.0> : tensor<4x5x3xf32>
// CHECK-LABEL: pp.model @gated
// CHECK-SAME: (%[[X:.*]]: tensor<8x3xf32> = {{.*}}, %[[EXPERTS:.*]]: tensor<8xi64> = {{.*}}, %[[SHARES:.*]]: tensor<8x1xf32>
pp.model @gated(%x: tensor<8x3xf32> = #pp.input_spec<"x", axis = 0>, %experts: tensor<8xi64> = #pp.input_spec<"experts", axis = 0>, %shares: tensor<8x1xf32> = #pp.input_spec<"shares", axis = 0>) {
  // CHECK-NEXT: %[[K0:.*]] = pp.random_key layer 0
  // CHECK-NEXT: %[[A0:.*]]:5 = pp.layer "h.0" @h.0(%[[X]], %[[SHARES]], %[[EXPERTS]], %[[K0]]) parameters []
  // CHECK-NEXT: pp.exchanged %[[A0]]#0
  // CHECK-NEXT: pp.exchanged %[[A0]]#1
  // CHECK-NEXT: pp.exchanged %[[A0]]#2
  // CHECK-NEXT: pp.layer "h.0/experts" @"h.0/experts"({{.*}}) parameters [@gate0, @down0]
  // CHECK-NEXT: %[[E0:.*]] = pp.exchanged
  // CHECK-NEXT: %[[K2:.*]] = pp.random_key layer 2
  // CHECK-NEXT: %[[H:.*]] = pp.layer "h.0/combine" @"h.0/combine"(%[[A0]]#3, %[[A0]]#4, %[[E0]], %[[X]], %[[K2]]) parameters []
  // CHECK-NEXT: %[[K3:.*]] = pp.random_key layer 3
  // CHECK-NEXT: %[[A1:.*]]:5 = pp.layer "h.1" @h.0(%[[H]], %[[SHARES]], %[[EXPERTS]], %[[K3]]) parameters []
  // CHECK: pp.layer "h.1/experts" @"h.0/experts"({{.*}}) parameters [@gate1, @down1]
  // CHECK: %[[K5:.*]] = pp.random_key layer 5
  // CHECK-NEXT: pp.layer "h.1/combine" @"h.0/combine"({{.*}}, %[[H]], %[[K5]]) parameters []
  // CHECK-NEXT: %[[K6:.*]] = pp.random_key layer 6
  // CHECK-NEXT: pp.layer "head" @head({{.*}}, %[[K6]])
  %k0 = pp.random_key layer 0 : tensor<2xi64>
  %h = pp.layer "h.0" @h.0(%x, %experts, %shares, %k0) parameters [@gate0, @down0] : (tensor<8x3xf32>, tensor<8xi64>, tensor<8x1xf32>, tensor<2xi64>) -> tensor<8x3xf32>
  %k1 = pp.random_key layer 1 : tensor<2xi64>
  %z = pp.layer "h.1" @h.0(%h, %experts, %shares, %k1) parameters [@gate1, @down1] : (tensor<8x3xf32>, tensor<8xi64>, tensor<8x1xf32>, tensor<2xi64>) -> tensor<8x3xf32>
  %k2 = pp.random_key layer 2 : tensor<2xi64>
  %y = pp.layer "head" @head(%z, %k2) parameters [] : (tensor<8x3xf32>, tensor<2xi64>) -> tensor<8x3xf32>
  pp.return outputs ["y"] %y : tensor<8x3xf32>
}
// CHECK: nn.function @h.0(
// CHECK-NOT: ratio 5.000000e-01
// CHECK: nn.dropout_mask %{{.*}} ratio 2.500000e-01
// CHECK-NOT: ratio 5.000000e-01
// CHECK: nn.function @"h.0/experts"(
// CHECK: nn.slice %{{.*}} offsets [0, 0] strides [1, 2] : tensor<16x10xf32> -> tensor<16x5xf32>
// CHECK: %[[SHARES:.*]] = nn.broadcast %{{.*}} : tensor<16x1xf32> -> tensor<16x5xf32>
// CHECK: nn.mul %{{.*}}, %[[SHARES]] : tensor<16x5xf32>
// CHECK: nn.function @"h.0/combine"(
// CHECK-NOT: ratio 2.500000e-01
// CHECK: nn.dropout_mask %{{.*}} ratio 5.000000e-01
// CHECK-NOT: nn.function @h.0
// CAPACITY-LABEL: pp.model @gated
nn.function @h.0(%x: tensor<8x3xf32>, %experts: tensor<8xi64>, %shares: tensor<8x1xf32>, %key: tensor<2xi64>, %gate: tensor<4x3x10xf32>, %down: tensor<4x5x3xf32>) -> tensor<8x3xf32> {
  %mask0 = nn.dropout_mask %key ratio 0.25 stream 0 : tensor<2xi64> -> tensor<8x3xf32>
  %0 = nn.mul %x, %mask0 : tensor<8x3xf32>
  %1 = nn.expert_matmul %0, %gate, %experts : tensor<8x3xf32>, tensor<4x3x10xf32>, tensor<8xi64> -> tensor<8x10xf32>
  %2 = nn.slice %1 offsets [0, 0] strides [1, 2] : tensor<8x10xf32> -> tensor<8x5xf32>
  %3 = nn.slice %1 offsets [0, 1] strides [1, 2] : tensor<8x10xf32> -> tensor<8x5xf32>
  %4 = nn.silu %2 : tensor<8x5xf32>
  %5 = nn.mul %4, %3 : tensor<8x5xf32>
  %6 = nn.broadcast %shares : tensor<8x1xf32> -> tensor<8x5xf32>
  %7 = nn.mul %5, %6 : tensor<8x5xf32>
  %8 = nn.expert_matmul %7, %down, %experts : tensor<8x5xf32>, tensor<4x5x3xf32>, tensor<8xi64> -> tensor<8x3xf32>
  %mask1 = nn.dropout_mask %key ratio 0.5 stream 1 : tensor<2xi64> -> tensor<8x3xf32>
  %9 = nn.mul %8, %mask1 : tensor<8x3xf32>
  %y = nn.add %x, %9 : tensor<8x3xf32>
  nn.return %y : tensor<8x3xf32>
}
nn.function @head(%x: tensor<8x3xf32>, %key: tensor<2xi64>) -> tensor<8x3xf32> {
  %mask = nn.dropout_mask %key ratio 0.5 stream 0 : tensor<2xi64> -> tensor<8x3xf32>
  %y = nn.mul %x, %mask : tensor<8x3xf32>
  nn.return %y : tensor<8x3xf32>
}

// -----

// A look-up by other shapes of numbers is no matter of the experts: its
// parameter stays whole, in the part that uses it. So does one whose rows other
// ops look up, too; they go to the experts.

pp.parameter @w : tensor<4x3x3xf32> = dense<0.0> : tensor<4x3x3xf32>
// CHECK: pp.parameter @input_bias : tensor<4x3xf32>
// CHECK: pp.parameter @output_bias : tensor<4x3xf32>
pp.parameter @input_bias : tensor<4x3xf32> = dense<0.0> : tensor<4x3xf32>
pp.parameter @output_bias : tensor<4x3xf32> = dense<0.0> : tensor<4x3xf32>
// CHECK-LABEL: pp.model @whole_biases
pp.model @whole_biases(%x: tensor<8x3xf32> = #pp.input_spec<"x", axis = 0>, %experts: tensor<4x2xi64> = #pp.input_spec<"experts", axis = 0>) {
  // CHECK-NEXT: %[[A:.*]]:5 = pp.layer "h.0" @h.0({{.*}}) parameters [@input_bias]
  // CHECK: pp.layer "h.0/experts" @"h.0/experts"({{.*}}) parameters [@w]
  // CHECK: %[[Y:.*]] = pp.layer "h.0/combine" @"h.0/combine"({{.*}}) parameters [@output_bias]
  // CHECK-NEXT: pp.return outputs ["y", "sums"] %[[Y]], %[[A]]#0
  %y, %sums = pp.layer "h.0" @h.0(%x, %experts) parameters [@w, @input_bias, @output_bias] : (tensor<8x3xf32>, tensor<4x2xi64>) -> (tensor<4x2x3xf32>, tensor<3xf32>)
  pp.return outputs ["y", "sums"] %y, %sums : tensor<4x2x3xf32>, tensor<3xf32>
}
// CHECK: nn.function @h.0(
// CHECK: nn.gather %{{.*}} axis 0 : tensor<4x3xf32>, tensor<8xi64> -> tensor<8x3xf32>
// CHECK: nn.function @"h.0/experts"(
// CHECK-NOT: nn.gather
// CHECK: nn.function @"h.0/combine"(
// CHECK: nn.gather %{{.*}} axis 0 : tensor<4x3xf32>, tensor<4x2xi64> -> tensor<4x2x3xf32>
// CAPACITY-LABEL: pp.model @whole_biases
nn.function @h.0(%x: tensor<8x3xf32>, %experts: tensor<4x2xi64>, %w: tensor<4x3x3xf32>, %input_bias: tensor<4x3xf32>, %output_bias: tensor<4x3xf32>) -> (tensor<4x2x3xf32>, tensor<3xf32>) {
  %numbers = nn.reshape %experts : tensor<4x2xi64> -> tensor<8xi64>
  %0 = nn.gather %input_bias, %numbers axis 0 : tensor<4x3xf32>, tensor<8xi64> -> tensor<8x3xf32>
  %1 = nn.add %x, %0 : tensor<8x3xf32>
  %2 = nn.expert_matmul %1, %w, %numbers : tensor<8x3xf32>, tensor<4x3x3xf32>, tensor<8xi64> -> tensor<8x3xf32>
  %3 = nn.reshape %2 : tensor<8x3xf32> -> tensor<4x2x3xf32>
  %4 = nn.gather %output_bias, %experts axis 0 : tensor<4x3xf32>, tensor<4x2xi64> -> tensor<4x2x3xf32>
  %y = nn.add %3, %4 : tensor<4x2x3xf32>
  %sums = nn.reduce sum %input_bias axes [0] : tensor<4x3xf32> -> tensor<3xf32>
  nn.return %y, %sums : tensor<4x2x3xf32>, tensor<3xf32>
}
