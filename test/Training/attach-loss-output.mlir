// RUN: pp-opt %s --nn-attach-loss | FileCheck %s
// RUN: pp-opt %s --nn-attach-loss=loss=own | FileCheck %s

// The model computes its loss: it is found by itself or by name, and each
// micro-batch weighs 1. A counter is not taken for a loss.
// A loss of f64 stays one.

// CHECK-LABEL: pp.model @own_loss
// CHECK: %[[OWN:.*]]:2 = pp.layer "head"
// CHECK: %[[LOSS:.*]]:2 = pp.layer "loss" @loss(%[[OWN]]#0) parameters [] : (tensor<1xf64>)
// CHECK: pp.return outputs ["own", "step"] %[[OWN]]#0, %[[OWN]]#1 : {{.*}} loss %[[LOSS]]#0, %[[LOSS]]#1 : tensor<f64>, tensor<f64>
// CHECK: nn.function @loss(%[[OWN:.*]]: tensor<1xf64>) -> (tensor<f64>, tensor<f64>)
// CHECK: %[[SCALAR:.*]] = nn.reshape %[[OWN]] : tensor<1xf64> -> tensor<f64>
// CHECK: %[[ONE:.*]] = nn.constant dense<1.000000e+00> : tensor<f64>
// CHECK: nn.return %[[SCALAR]], %[[ONE]] : tensor<f64>, tensor<f64>
pp.model @own_loss(%x: tensor<1xf64> = #pp.input_spec<"x", axis = 0>, %step: tensor<i64> = #pp.input_spec<"step", axis = -1>) {
  %own:2 = pp.layer "head" @head(%x, %step) parameters [] : (tensor<1xf64>, tensor<i64>) -> (tensor<1xf64>, tensor<i64>)
  pp.return outputs ["own", "step"] %own#0, %own#1 : tensor<1xf64>, tensor<i64>
}
nn.function @head(%x: tensor<1xf64>, %step: tensor<i64>) -> (tensor<1xf64>, tensor<i64>) {
  nn.return %x, %step : tensor<1xf64>, tensor<i64>
}
