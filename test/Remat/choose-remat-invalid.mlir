// RUN: not pp-opt %s --pp-choose-remat="layers=none,full" 2>&1 | FileCheck %s --check-prefix=COUNT
// COUNT: error: has 1 layers, but policies for 2 are given

// RUN: not pp-opt %s --pp-choose-remat="policy=full layers=none" 2>&1 | FileCheck %s --check-prefix=BOTH
// BOTH: error: cannot be recomputed by the policy 'full' and by a list of policies at once

// RUN: not pp-opt %s --pp-choose-remat="policy=most" 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: Cannot find option named 'most'

// RUN: not pp-opt %s --pp-choose-remat="layers=most" 2>&1 | FileCheck %s --check-prefix=LAYER
// LAYER: error: cannot be recomputed by the policy 'most'; there are none, selective and full

// RUN: echo "module {}" | not pp-opt --pp-choose-remat="policy=full" 2>&1 | FileCheck %s --check-prefix=MODEL
// MODEL: error: has no 'pp.model' whose layers to recompute

pp.model @one(%x: tensor<4xf32> = #pp.input_spec<"x", axis = 0>) {
  %a = pp.layer "a" @f(%x) parameters [] : (tensor<4xf32>) -> tensor<4xf32>
  pp.return outputs ["a"] %a : tensor<4xf32>
}
nn.function @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = nn.exp %x : tensor<4xf32>
  nn.return %y : tensor<4xf32>
}
