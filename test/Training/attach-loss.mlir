// RUN: pp-opt %s --split-input-file --nn-attach-loss=loss=cross-entropy:y,labels | FileCheck %s --check-prefix=CE
// RUN: pp-opt %s --split-input-file --nn-attach-loss=loss=mse:y,target | FileCheck %s --check-prefix=MSE

// Labels become an input with the shape of the logits without the class axis;
// the range of valid labels is part of it. The outputs stay.

// CE-LABEL: pp.model @adds_the_target
// CE-SAME: (%[[X:[a-z0-9]+]]: tensor<2x3x8xf32> = #pp.input_spec<"x", axis = 0>,
// CE-SAME: %[[LABELS:[a-z0-9]+]]: tensor<2x3xi64> = #pp.input_spec<"labels", axis = 0, label_classes = 8, ignore_index = -100>)
// CE: %[[Y:.*]] = pp.layer "head"
// CE: %[[LOSS:.*]]:2 = pp.layer "loss" @loss(%[[Y]], %[[LABELS]]) parameters []
// CE: pp.return outputs ["y"] %[[Y]] : tensor<2x3x8xf32> loss %[[LOSS]]#0, %[[LOSS]]#1
// CE: nn.function @loss(%[[LOGITS:.*]]: tensor<2x3x8xf32>, %[[LABELS:.*]]: tensor<2x3xi64>) -> (tensor<f32>, tensor<f32>)
// CE: %[[SUM:.*]], %[[WEIGHT:.*]] = nn.cross_entropy %[[LOGITS]], %[[LABELS]] ignore -100
// CE: nn.return %[[SUM]], %[[WEIGHT]]

// The mean square is a sum and the number of elements.

// MSE-LABEL: pp.model @adds_the_target
// MSE-SAME: %[[TARGET:[a-z0-9]+]]: tensor<2x3x8xf32> = #pp.input_spec<"target", axis = 0>)
// MSE: pp.layer "loss" @loss(%{{.*}}, %[[TARGET]]) parameters []
// MSE: nn.function @loss(%[[Y:.*]]: tensor<2x3x8xf32>, %[[TARGET:.*]]: tensor<2x3x8xf32>)
// MSE: %[[DIFFERENCE:.*]] = nn.sub %[[Y]], %[[TARGET]]
// MSE: %[[SQUARE:.*]] = nn.mul %[[DIFFERENCE]], %[[DIFFERENCE]]
// MSE: %[[SUM:.*]] = nn.reduce {{ ?}}sum %[[SQUARE]] axes [0, 1, 2]
// MSE: %[[COUNT:.*]] = nn.constant dense<4.800000e+01> : tensor<f32>
// MSE: nn.return %[[SUM]], %[[COUNT]]
pp.model @adds_the_target(%x: tensor<2x3x8xf32> = #pp.input_spec<"x", axis = 0>) {
  %y = pp.layer "head" @head(%x) parameters [] : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  pp.return outputs ["y"] %y : tensor<2x3x8xf32>
}
nn.function @head(%x: tensor<2x3x8xf32>) -> tensor<2x3x8xf32> {
  nn.return %x : tensor<2x3x8xf32>
}

// -----

// Inputs of these names are used, also where a layer reads them too; labels
// may be i32.

// CE-LABEL: pp.model @uses_inputs
// CE-SAME: %[[LABELS:[a-z0-9]+]]: tensor<2xi32> = #pp.input_spec<"labels", axis = 0, label_classes = 8, ignore_index = -100>,
// CE-SAME: %{{.*}}: tensor<2x8xf32> = #pp.input_spec<"target", axis = 0>) {
// CE: pp.layer "loss" @loss(%{{.*}}, %[[LABELS]])
// MSE-LABEL: pp.model @uses_inputs
// MSE-SAME: %[[TARGET:[a-z0-9]+]]: tensor<2x8xf32> = #pp.input_spec<"target", axis = 0>) {
// MSE: pp.layer "loss" @loss(%{{.*}}, %[[TARGET]])
pp.model @uses_inputs(%labels: tensor<2xi32> = #pp.input_spec<"labels", axis = 0>,
                      %target: tensor<2x8xf32> = #pp.input_spec<"target", axis = 0>) {
  %y = pp.layer "head" @head(%target) parameters [] : (tensor<2x8xf32>) -> tensor<2x8xf32>
  pp.return outputs ["y"] %y : tensor<2x8xf32>
}
nn.function @head(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  nn.return %x : tensor<2x8xf32>
}

// -----

// Half-precision outputs are widened before they are summed, and a function
// named "loss" of the model keeps its name.

// CE-LABEL: pp.model @half
// CE: pp.layer "loss" @loss_0
// CE: nn.function @loss_0(%[[LOGITS:.*]]: tensor<2x8xf16>,
// CE: %[[WIDE:.*]] = nn.cast %[[LOGITS]] : tensor<2x8xf16> -> tensor<2x8xf32>
// CE: nn.cross_entropy %[[WIDE]]
// MSE-LABEL: pp.model @half
// MSE: nn.function @loss_0(%{{.*}}: tensor<2x8xf16>, %{{.*}}: tensor<2x8xf16>)
// MSE: nn.sub %{{.*}}, %{{.*}} : tensor<2x8xf32>
pp.model @half(%x: tensor<2x8xf16> = #pp.input_spec<"x", axis = 0>) {
  %y = pp.layer "loss" @loss(%x) parameters [] : (tensor<2x8xf16>) -> tensor<2x8xf16>
  pp.return outputs ["y"] %y : tensor<2x8xf16>
}
nn.function @loss(%x: tensor<2x8xf16>) -> tensor<2x8xf16> {
  nn.return %x : tensor<2x8xf16>
}

// -----

// Targets are cut along the axis along which the output is.

// CE-LABEL: pp.model @batch_second
// CE: tensor<2x3xi64> = #pp.input_spec<"labels", axis = 1,
// MSE-LABEL: pp.model @batch_second
// MSE: tensor<2x3x8xf32> = #pp.input_spec<"target", axis = 1>)
pp.model @batch_second(%x: tensor<2x3x8xf32> = #pp.input_spec<"x", axis = 1>) {
  %y = pp.layer "head" @head(%x) parameters [] : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  pp.return outputs ["y"] %y : tensor<2x3x8xf32> axes [1]
}
nn.function @head(%x: tensor<2x3x8xf32>) -> tensor<2x3x8xf32> {
  nn.return %x : tensor<2x3x8xf32>
}
