// RUN: pp-opt %s --pp-choose-remat="policy=selective" | FileCheck %s --check-prefix=ONE
// RUN: pp-opt %s --pp-choose-remat="policy=selective" --pp-choose-remat="layers=none,full,selective" | FileCheck %s --check-prefix=LIST

// One policy for all layers, or one for each; a later choice takes the place of
// an earlier one.

pp.model @three(%x: tensor<4xf32> = #pp.input_spec<"x", axis = 0>) {
  // ONE: pp.layer "a" @f(%{{.*}}) parameters [] remat selective :
  // ONE: pp.layer "b" {{.*}} remat selective :
  // ONE: pp.layer "c" {{.*}} remat selective :
  // LIST: pp.layer "a" @f(%{{.*}}) parameters [] :
  // LIST: pp.layer "b" {{.*}} remat full :
  // LIST: pp.layer "c" {{.*}} remat selective :
  %a = pp.layer "a" @f(%x) parameters [] : (tensor<4xf32>) -> tensor<4xf32>
  %b = pp.layer "b" @f(%a) parameters [] : (tensor<4xf32>) -> tensor<4xf32>
  %c = pp.layer "c" @f(%b) parameters [] : (tensor<4xf32>) -> tensor<4xf32>
  pp.return outputs ["c"] %c : tensor<4xf32>
}
nn.function @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = nn.exp %x : tensor<4xf32>
  nn.return %y : tensor<4xf32>
}
