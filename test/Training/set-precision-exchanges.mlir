// RUN: pp-opt %S/../Stages/Inputs/exchanges.mlir --pp-set-precision=precision=bf16 --nn-differentiate | FileCheck %s

// Replicas exchange rows in 16 bits, and so do their gradients.

// CHECK: %[[A:.*]]:3 = pp.layer "a" {{.*}} -> (tensor<6x4xbf16>, tensor<12x4xbf16>, tensor<12xi64>)
// CHECK: pp.exchanged %[[A]]#1 peers 2 : tensor<12x4xbf16>
// CHECK: pp.exchanged %[[A]]#2 peers 2 : tensor<12xi64>
// CHECK: nn.function @multiply.b({{.*}}) -> {{.*}}tensor<12x4xbf16>
