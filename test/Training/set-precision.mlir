// RUN: pp-opt %s --split-input-file --pp-set-precision=precision=bf16 | FileCheck %s
// RUN: pp-opt %s --split-input-file --pp-set-precision=precision=f16 | FileCheck %s --check-prefix=HALF
// RUN: pp-opt %s --split-input-file --pp-set-precision | FileCheck %s --check-prefix=MODEL

// Contractions and what follows them are narrow, what is passed on too; norms,
// sums with a residual and the loss are of f32, and so are parameters, inputs
// and outputs.

// CHECK-LABEL: pp.model @gpt
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>
// CHECK: %[[E:.*]] = pp.layer "embed" @embed(%[[X]]) {{.*}} : (tensor<4x8xf32>) -> tensor<4x8xbf16>
// CHECK: %[[H:.*]] = pp.layer "block" @block(%[[E]]) {{.*}} : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
// CHECK: %[[Y:.*]] = pp.layer "head" @head(%[[H]]) {{.*}} : (tensor<4x8xbf16>) -> tensor<4x8xf32>
// CHECK: pp.return outputs ["y"] %[[Y]] : tensor<4x8xf32> loss
// HALF-LABEL: pp.model @gpt
// HALF: pp.layer "block" {{.*}} : (tensor<4x8xf16>) -> tensor<4x8xf16>
// MODEL-LABEL: pp.model @gpt
// MODEL-NOT: f16
pp.parameter @w trainable : tensor<8x8xf32> = dense<1.0> : tensor<8x8xf32>
pp.parameter @b trainable : tensor<8xf32> = dense<1.0> : tensor<8xf32>
pp.model @gpt(%x: tensor<4x8xf32> = #pp.input_spec<"x", axis = 0>) {
  %e = pp.layer "embed" @embed(%x) parameters [@w] : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %h = pp.layer "block" @block(%e) parameters [@w, @b] : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = pp.layer "head" @head(%h) parameters [@w] : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %l:2 = pp.layer "loss" @loss(%y) parameters [] : (tensor<4x8xf32>) -> (tensor<f32>, tensor<f32>)
  pp.return outputs ["y"] %y : tensor<4x8xf32> loss %l#0, %l#1 : tensor<f32>, tensor<f32>
}
// CHECK-LABEL: nn.function @embed
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>, %[[W:.*]]: tensor<8x8xf32>) -> tensor<4x8xbf16>
nn.function @embed(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  // CHECK: %[[PRODUCT:.*]] = nn.matmul %{{.*}}, %{{.*}} : tensor<4x8xbf16>, tensor<8x8xbf16> -> tensor<4x8xbf16>
  // CHECK-NEXT: nn.return %[[PRODUCT]]
  %0 = nn.matmul %x, %w : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  nn.return %0 : tensor<4x8xf32>
}
// CHECK-LABEL: nn.function @block
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xbf16>, %[[W:.*]]: tensor<8x8xf32>, %[[B:.*]]: tensor<8xf32>)
nn.function @block(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  // CHECK-DAG: %[[WIDE:.*]] = nn.cast %[[X]] : tensor<4x8xbf16> -> tensor<4x8xf32>
  // CHECK-DAG: %[[TWO:.*]] = nn.constant dense<2.000000e+00> : tensor<4x8xbf16>
  // CHECK: nn.layer_norm %[[WIDE]], {{.*}} : (tensor<4x8xf32>, tensor<8xf32>)
  // CHECK: %[[ROWS:.*]] = nn.cast %{{.*}} : tensor<4x8xf32> -> tensor<4x8xbf16>
  // CHECK: %[[PRODUCT:.*]] = nn.matmul %[[ROWS]], %{{.*}} : tensor<4x8xbf16>, tensor<8x8xbf16> -> tensor<4x8xbf16>
  // CHECK: %[[SHIFTED:.*]] = nn.add %[[PRODUCT]], %{{.*}} : tensor<4x8xbf16>
  // CHECK: %[[ACTIVE:.*]] = nn.gelu tanh %[[SHIFTED]] : tensor<4x8xbf16>
  // CHECK: %[[SCALED:.*]] = nn.mul %[[ACTIVE]], %[[TWO]] : tensor<4x8xbf16>
  // CHECK: %[[SOFT:.*]] = nn.softmax %[[SCALED]] axis 1 : tensor<4x8xbf16>
  // CHECK: %[[PROMOTED:.*]] = nn.cast %[[SOFT]] : tensor<4x8xbf16> -> tensor<4x8xf32>
  // CHECK: %[[SUM:.*]] = nn.add %[[WIDE]], %[[PROMOTED]] : tensor<4x8xf32>
  // CHECK: %[[RESULT:.*]] = nn.cast %[[SUM]] : tensor<4x8xf32> -> tensor<4x8xbf16>
  // CHECK: nn.return %[[RESULT]]
  %n:3 = nn.layer_norm %x, %b axis 1 epsilon 1.0e-5 : (tensor<4x8xf32>, tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>)
  %p = nn.matmul %n#0, %w : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  %bias = nn.broadcast %b : tensor<8xf32> -> tensor<4x8xf32>
  %shifted = nn.add %p, %bias : tensor<4x8xf32>
  %active = nn.gelu tanh %shifted : tensor<4x8xf32>
  %two = nn.constant dense<2.0> : tensor<4x8xf32>
  %scaled = nn.mul %active, %two : tensor<4x8xf32>
  %soft = nn.softmax %scaled axis 1 : tensor<4x8xf32>
  %sum = nn.add %x, %soft : tensor<4x8xf32>
  nn.return %sum : tensor<4x8xf32>
}
// CHECK-LABEL: nn.function @head
nn.function @head(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  // CHECK: nn.matmul %{{.*}} : tensor<4x8xbf16>, tensor<8x8xbf16> -> tensor<4x8xbf16>
  // CHECK: nn.cast %{{.*}} : tensor<4x8xbf16> -> tensor<4x8xf32>
  %0 = nn.matmul %x, %w : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  nn.return %0 : tensor<4x8xf32>
}
// CHECK-LABEL: nn.function @loss
// CHECK-NOT: bf16
// CHECK: nn.return
nn.function @loss(%y: tensor<4x8xf32>) -> (tensor<f32>, tensor<f32>) {
  %0 = nn.reduce sum %y axes [0, 1] : tensor<4x8xf32> -> tensor<f32>
  nn.return %0, %0 : tensor<f32>, tensor<f32>
}

// -----

// A constant that only f32 can hold keeps what it meets in f32, and a mask,
// which no parameter makes, is passed on as it is.

// CHECK-LABEL: pp.model @masked
// CHECK: %[[P:.*]]:2 = pp.layer "scores" {{.*}} -> (tensor<4x4xbf16>, tensor<4x4xf32>)
pp.parameter @w trainable : tensor<4x4xf32> = dense<1.0> : tensor<4x4xf32>
pp.model @masked(%x: tensor<4x4xf32> = #pp.input_spec<"x", axis = 0>) {
  %s:2 = pp.layer "scores" @scores(%x) parameters [@w] : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>)
  %y = pp.layer "head" @head(%s#0, %s#1) parameters [] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  pp.return outputs ["y"] %y : tensor<4x4xf32>
}
nn.function @scores(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = nn.matmul %x, %w : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %low = nn.constant dense<-3.40282347E+38> : tensor<4x4xf32>
  %mask = nn.mul %x, %low : tensor<4x4xf32>
  nn.return %0, %mask : tensor<4x4xf32>, tensor<4x4xf32>
}
// CHECK-LABEL: nn.function @head
// HALF-LABEL: nn.function @head
nn.function @head(%s: tensor<4x4xf32>, %mask: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK: nn.matmul {{.*}} -> tensor<4x4xbf16>
  // CHECK: nn.select {{.*}} tensor<4x4xbf16>
  // CHECK: nn.add {{.*}} : tensor<4x4xf32>
  // HALF: nn.matmul {{.*}} -> tensor<4x4xf16>
  // HALF: nn.select {{.*}} tensor<4x4xf32>
  %0 = nn.matmul %s, %s : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %low = nn.constant dense<-1.0e+09> : tensor<4x4xf32>
  %zero = nn.constant dense<0.0> : tensor<4x4xf32>
  %hidden = nn.compare lt %mask, %zero : tensor<4x4xf32> -> tensor<4x4xi1>
  %1 = nn.select %hidden, %low, %0 : tensor<4x4xi1>, tensor<4x4xf32>
  %2 = nn.add %1, %mask : tensor<4x4xf32>
  nn.return %2 : tensor<4x4xf32>
}

// -----

// Layers whose arguments get other types no longer share a function.

// CHECK-LABEL: pp.model @shared
// CHECK: pp.layer "first" @fc(%{{.*}}) {{.*}} : (tensor<4x8xf32>) -> tensor<4x8xbf16>
// CHECK: pp.layer "second" @fc_0(%{{.*}}) {{.*}} : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
// CHECK: pp.layer "third" @fc_0(%{{.*}}) {{.*}} : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
// CHECK: pp.layer "fourth" @fc_1(%{{.*}}) {{.*}} : (tensor<4x8xbf16>) -> tensor<4x8xf32>
// CHECK: nn.function @fc(%{{.*}}: tensor<4x8xf32>
pp.parameter @w trainable : tensor<8x8xf32> = dense<1.0> : tensor<8x8xf32>
pp.model @shared(%x: tensor<4x8xf32> = #pp.input_spec<"x", axis = 0>) {
  %0 = pp.layer "first" @fc(%x) parameters [@w] : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = pp.layer "second" @fc(%0) parameters [@w] : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = pp.layer "third" @fc(%1) parameters [@w] : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = pp.layer "fourth" @fc(%2) parameters [@w] : (tensor<4x8xf32>) -> tensor<4x8xf32>
  pp.return outputs ["y"] %3 : tensor<4x8xf32>
}
nn.function @fc(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %0 = nn.matmul %x, %w : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  nn.return %0 : tensor<4x8xf32>
}

// -----

// Products by expert are contractions, too, and the bias of a row's expert is
// part of one. What names the experts stays as it is.

// CHECK-LABEL: pp.model @experts
pp.parameter @w trainable : tensor<3x8x8xf32> = dense<1.0> : tensor<3x8x8xf32>
pp.parameter @b trainable : tensor<3x8xf32> = dense<1.0> : tensor<3x8xf32>
pp.model @experts(%x: tensor<4x8xf32> = #pp.input_spec<"x", axis = 0>, %e: tensor<4xi64> = #pp.input_spec<"e", axis = 0>) {
  %y = pp.layer "moe" @moe(%x, %e) parameters [@w, @b] : (tensor<4x8xf32>, tensor<4xi64>) -> tensor<4x8xf32>
  pp.return outputs ["y"] %y : tensor<4x8xf32>
}
// CHECK-LABEL: nn.function @moe
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>, %[[E:.*]]: tensor<4xi64>,
nn.function @moe(%x: tensor<4x8xf32>, %e: tensor<4xi64>, %w: tensor<3x8x8xf32>, %b: tensor<3x8xf32>) -> tensor<4x8xf32> {
  // CHECK: %[[PRODUCT:.*]] = nn.expert_matmul %{{.*}}, %{{.*}}, %[[E]] : tensor<4x8xbf16>, tensor<3x8x8xbf16>, tensor<4xi64> -> tensor<4x8xbf16>
  // CHECK: nn.add %[[PRODUCT]], %{{.*}} : tensor<4x8xbf16>
  %0 = nn.expert_matmul %x, %w, %e : tensor<4x8xf32>, tensor<3x8x8xf32>, tensor<4xi64> -> tensor<4x8xf32>
  %1 = nn.gather %b, %e axis 0 : tensor<3x8xf32>, tensor<4xi64> -> tensor<4x8xf32>
  %2 = nn.add %0, %1 : tensor<4x8xf32>
  nn.return %2 : tensor<4x8xf32>
}

// -----

// So is attention; its mask meets sums of f32 and may hold what only f32 can.

// CHECK-LABEL: pp.model @attention
pp.parameter @w trainable : tensor<2x4x8xf32> = dense<1.0> : tensor<2x4x8xf32>
pp.model @attention(%x: tensor<2x4x8xf32> = #pp.input_spec<"x", axis = 0>, %m: tensor<2x1x4xf32> = #pp.input_spec<"m", axis = 0>) {
  %y = pp.layer "attention" @attend(%x, %m) parameters [@w] : (tensor<2x4x8xf32>, tensor<2x1x4xf32>) -> tensor<2x4x8xf32>
  pp.return outputs ["y"] %y : tensor<2x4x8xf32>
}
// CHECK-LABEL: nn.function @attend
// CHECK-SAME: (%[[X:.*]]: tensor<2x4x8xf32>, %[[M:.*]]: tensor<2x1x4xf32>,
nn.function @attend(%x: tensor<2x4x8xf32>, %m: tensor<2x1x4xf32>, %w: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  // CHECK: nn.attention %{{.*}}, %{{.*}}, %{{.*}} mask %[[M]] scale 5.000000e-01 : (tensor<2x4x8xbf16>, tensor<2x4x8xbf16>, tensor<2x4x8xbf16>, tensor<2x1x4xf32>) -> tensor<2x4x8xbf16>
  %0 = nn.attention %x, %w, %w mask %m scale 0.5 : (tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x1x4xf32>) -> tensor<2x4x8xf32>
  nn.return %0 : tensor<2x4x8xf32>
}

// -----

// The largest of windows of narrow numbers is one of them; sums are wider.

// CHECK-LABEL: pp.model @pooling
pp.parameter @w trainable : tensor<8x8xf32> = dense<1.0> : tensor<8x8xf32>
pp.model @pooling(%x: tensor<2x4x8xf32> = #pp.input_spec<"x", axis = 0>) {
  %y, %z = pp.layer "pool" @pool(%x) parameters [@w] : (tensor<2x4x8xf32>) -> (tensor<2x4x4xf32>, tensor<2x4x4xf32>)
  pp.return outputs ["y", "z"] %y, %z : tensor<2x4x4xf32>, tensor<2x4x4xf32>
}
// CHECK-LABEL: nn.function @pool
nn.function @pool(%x: tensor<2x4x8xf32>, %w: tensor<8x8xf32>) -> (tensor<2x4x4xf32>, tensor<2x4x4xf32>) {
  %0 = nn.reshape %x : tensor<2x4x8xf32> -> tensor<8x8xf32>
  %1 = nn.matmul %0, %w : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  %2 = nn.reshape %1 : tensor<8x8xf32> -> tensor<2x4x8xf32>
  // CHECK: %[[WINDOWS:.*]] = nn.im2col %{{.*}} : tensor<2x4x8xbf16> -> tensor<2x4x2x4xbf16>
  %3 = nn.im2col %2 strides [2] dilations [1] : tensor<2x4x8xf32> -> tensor<2x4x2x4xf32>
  // CHECK: %[[WIDE:.*]] = nn.cast %[[WINDOWS]] : tensor<2x4x2x4xbf16> -> tensor<2x4x2x4xf32>
  // CHECK: nn.reduce max %[[WINDOWS]] axes [2] : tensor<2x4x2x4xbf16> -> tensor<2x4x4xbf16>
  %4 = nn.reduce max %3 axes [2] : tensor<2x4x2x4xf32> -> tensor<2x4x4xf32>
  // CHECK: nn.reduce sum %[[WIDE]] axes [2] : tensor<2x4x2x4xf32> -> tensor<2x4x4xf32>
  %5 = nn.reduce sum %3 axes [2] : tensor<2x4x2x4xf32> -> tensor<2x4x4xf32>
  nn.return %4, %5 : tensor<2x4x4xf32>, tensor<2x4x4xf32>
}
