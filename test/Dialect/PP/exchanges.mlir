// RUN: pp-opt %s | pp-opt | FileCheck %s
// RUN: pp-opt %s --mlir-print-op-generic | pp-opt | FileCheck %s

// CHECK: pp.parameter @w trainable shards 2 : tensor<2x4xf32> = dense<0.000000e+00> : tensor<4x4xf32>
pp.parameter @w trainable shards 2 : tensor<2x4xf32> = dense<0.0> : tensor<4x4xf32>
pp.model @m(%x: tensor<6x4xf32> = #pp.input_spec<"x", axis = 0>) {
  // CHECK: pp.exchanged %{{.*}} peers 2 : tensor<6x4xf32>
  %0 = pp.exchanged %x peers 2 : tensor<6x4xf32>
  pp.return outputs ["y"] %0 : tensor<6x4xf32>
}
pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
// CHECK: pp.exchange @rows.0.0 of @s0 peers 2 : tensor<6x4xf32>
pp.exchange @rows.0.0 of @s0 peers 2 : tensor<6x4xf32>
// CHECK: pp.task @s0.f role F stage @s0 (%{{.*}}: tensor<6x4xf32> = <input "x">) -> (tensor<6x4xf32> = <sent "rows.0.0">)
pp.task @s0.f role F stage @s0 (%x: tensor<6x4xf32> = <input "x">) -> (tensor<6x4xf32> = <sent "rows.0.0">) {
  pp.yield %x : tensor<6x4xf32>
}
// CHECK: pp.task @s0.f.1 role F stage @s0 part 1 (%{{.*}}: tensor<6x4xf32> = <received "rows.0.0">) -> ()
pp.task @s0.f.1 role F stage @s0 part 1 (%x: tensor<6x4xf32> = <received "rows.0.0">) -> () {
  pp.yield
}
pp.program eval rank 0 {
  pp.repeat %i = 0 to 2 {
    // CHECK: pp.overlap {
    // CHECK-NEXT: pp.run @s0.f[%[[I:.*]]]
    // CHECK-NEXT: pp.all_to_all @rows.0.0[%[[I]]]
    // CHECK-NEXT: pp.run @s0.f.1[%[[I]]]
    pp.overlap {
      pp.run @s0.f [%i]
      pp.all_to_all @rows.0.0 [%i]
      pp.run @s0.f.1 [%i]
    }
  }
}
