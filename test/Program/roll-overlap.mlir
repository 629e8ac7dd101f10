// RUN: pp-opt %s --pp-roll | FileCheck %s
// RUN: pp-opt %s > %t.flat && pp-opt %s --pp-roll --pp-unroll | diff - %t.flat

// A pair is one action: a loop holds it whole, and only pairs with the same
// tasks in the same branches are equal.

pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
pp.task @s0.f role F stage @s0 (%x: tensor<2xf32> = <input "x">) -> () {
  pp.yield
}
pp.task @s0.b role B stage @s0 (%x: tensor<2xf32> = <input "x">) -> () {
  pp.yield
}
pp.task @s0.w role W stage @s0 (%x: tensor<2xf32> = <input "x">) -> () {
  pp.yield
}

// CHECK-LABEL: step rank 0
// CHECK-NEXT: pp.repeat %[[I:.*]] = 3 to 5 {
// CHECK-NEXT:   pp.overlap {
// CHECK-NEXT:     pp.run @s0.f[%[[I]]]
// CHECK-NEXT:   }, {
// CHECK-NEXT:     pp.run @s0.b[%[[I]] + -3]
// CHECK-NEXT:     pp.run @s0.w[%[[I]] + -3]
// CHECK-NEXT:   }
// CHECK-NEXT: }
// CHECK-NEXT: pp.overlap {
// CHECK-NEXT:   pp.run @s0.f[5]
// CHECK-NEXT: }, {
// CHECK-NEXT:   pp.run @s0.b[2]
// CHECK-NEXT: }
// CHECK-NEXT: pp.run @s0.w[2]
// CHECK-NEXT: pp.overlap {
// CHECK-NEXT:   pp.run @s0.f[6]
// CHECK-NEXT:   pp.run @s0.b[3]
// CHECK-NEXT: }, {
// CHECK-NEXT:   pp.run @s0.w[3]
// CHECK-NEXT: }
// CHECK-NEXT: }
pp.program step rank 0 {
  pp.overlap {
    pp.run @s0.f [3]
  }, {
    pp.run @s0.b [0]
    pp.run @s0.w [0]
  }
  pp.overlap {
    pp.run @s0.f [4]
  }, {
    pp.run @s0.b [1]
    pp.run @s0.w [1]
  }
  pp.overlap {
    pp.run @s0.f [5]
  }, {
    pp.run @s0.b [2]
  }
  pp.run @s0.w [2]
  pp.overlap {
    pp.run @s0.f [6]
    pp.run @s0.b [3]
  }, {
    pp.run @s0.w [3]
  }
}
