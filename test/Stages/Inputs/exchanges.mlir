// A layer of experts that two replicas share out: "a" packs rows for both,
// "a/experts" works on the rows that have come, "a/combine" on what comes back.

pp.parameter @a.weight trainable : tensor<4x4xf32> = dense<0.5> : tensor<4x4xf32>
pp.parameter @w trainable shards 2 : tensor<2x4x4xf32> = dense<0.5> : tensor<4x4x4xf32>
pp.model @experts(%x: tensor<6x4xf32> = #pp.input_spec<"x", axis = 0>) {
  %0:3 = pp.layer "a" @a(%x) parameters [@a.weight] : (tensor<6x4xf32>) -> (tensor<6x4xf32>, tensor<12x4xf32>, tensor<12xi64>)
  %1 = pp.exchanged %0#1 peers 2 : tensor<12x4xf32>
  %2 = pp.exchanged %0#2 peers 2 : tensor<12xi64>
  %3 = pp.layer "a/experts" @multiply(%1, %2) parameters [@w] : (tensor<12x4xf32>, tensor<12xi64>) -> tensor<12x4xf32>
  %4 = pp.exchanged %3 peers 2 : tensor<12x4xf32>
  %5 = pp.layer "a/combine" @combine(%0#0, %4) parameters [] : (tensor<6x4xf32>, tensor<12x4xf32>) -> tensor<6x4xf32>
  %6 = pp.layer "loss" @sum(%5) parameters [] : (tensor<6x4xf32>) -> tensor<f32>
  pp.return outputs [] loss %6, %6 : tensor<f32>, tensor<f32>
}
nn.function @a(%x: tensor<6x4xf32>, %w: tensor<4x4xf32>) -> (tensor<6x4xf32>, tensor<12x4xf32>, tensor<12xi64>) {
  %0 = nn.matmul %x, %w : tensor<6x4xf32>, tensor<4x4xf32> -> tensor<6x4xf32>
  %t = nn.tanh %0 : tensor<6x4xf32>
  %1 = nn.concat %t, %0 axis 0 : tensor<6x4xf32>, tensor<6x4xf32> -> tensor<12x4xf32>
  %2 = nn.constant dense<[0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 2]> : tensor<12xi64>
  nn.return %t, %1, %2 : tensor<6x4xf32>, tensor<12x4xf32>, tensor<12xi64>
}
nn.function @multiply(%x: tensor<12x4xf32>, %e: tensor<12xi64>, %w: tensor<2x4x4xf32>) -> tensor<12x4xf32> {
  %0 = nn.expert_matmul %x, %w, %e : tensor<12x4xf32>, tensor<2x4x4xf32>, tensor<12xi64> -> tensor<12x4xf32>
  %1 = nn.tanh %0 : tensor<12x4xf32>
  nn.return %1 : tensor<12x4xf32>
}
nn.function @combine(%x: tensor<6x4xf32>, %y: tensor<12x4xf32>) -> tensor<6x4xf32> {
  %0 = nn.slice %y offsets [0, 0] strides [1, 1] : tensor<12x4xf32> -> tensor<6x4xf32>
  %1 = nn.mul %x, %0 : tensor<6x4xf32>
  nn.return %1 : tensor<6x4xf32>
}
nn.function @sum(%x: tensor<6x4xf32>) -> tensor<f32> {
  %0 = nn.reduce sum %x axes [0, 1] : tensor<6x4xf32> -> tensor<f32>
  nn.return %0 : tensor<f32>
}
