// RUN: pp-opt %s --split-input-file --verify-diagnostics

nn.function @returns_another_type(%x: tensor<4xf32>) -> tensor<2xf32> {
  // expected-error @below {{'nn.return' op returns other types than function 'returns_another_type' declares}}
  nn.return %x : tensor<4xf32>
}

// -----

nn.function @caller(%x: tensor<4xf32>) {
  // expected-error @below {{'nn.call' op calls 'nobody', which is not a function}}
  %0 = nn.call @nobody(%x) : (tensor<4xf32>) -> tensor<4xf32>
  nn.return
}

// -----

// expected-note @below {{its type is '(tensor<2xf32>) -> tensor<2xf32>'}}
nn.function @callee(%x: tensor<2xf32>) -> tensor<2xf32> {
  nn.return %x : tensor<2xf32>
}
nn.function @caller(%x: tensor<4xf32>) {
  // expected-error @below {{'nn.call' op calls 'callee' with other types}}
  %0 = nn.call @callee(%x) : (tensor<4xf32>) -> tensor<4xf32>
  nn.return
}

// -----

// expected-error @below {{'nn.derivative' op names 'layer', which is not a function}}
nn.derivative @layer forward @layer operands [] gradients [] operands [] gradients []

// -----

nn.function @layer(%x: tensor<2xf32>, %w: tensor<3xf32>) -> tensor<4xf32>
nn.function @layer.f(%x: tensor<2xf32>, %w: tensor<3xf32>) -> (tensor<4xf32>, tensor<5xf32>)
nn.function @layer.b(%dy: tensor<4xf32>, %s: tensor<5xf32>) -> (tensor<2xf32>, tensor<6xf32>)
nn.function @layer.w(%p: tensor<6xf32>, %a: tensor<3xf32>) -> tensor<3xf32>
// expected-error @below {{'nn.derivative' op has forward 'layer.b' of type '(tensor<4xf32>, tensor<5xf32>) -> (tensor<2xf32>, tensor<6xf32>)'; it must begin as 'layer' of type '(tensor<2xf32>, tensor<3xf32>) -> tensor<4xf32>'}}
nn.derivative @layer forward @layer.b
  backward @layer.b operands [#nn.operand<cotangent 0>, #nn.operand<saved 0>] gradients [0]
  operands [] gradients []

// -----

nn.function @layer(%x: tensor<2xf32>, %w: tensor<3xf32>) -> tensor<4xf32>
nn.function @layer.f(%x: tensor<2xf32>, %w: tensor<3xf32>) -> (tensor<4xf32>, tensor<5xf32>)
nn.function @layer.b(%dy: tensor<4xf32>, %s: tensor<5xf32>) -> (tensor<2xf32>, tensor<6xf32>)
nn.function @layer.w(%p: tensor<6xf32>, %a: tensor<3xf32>) -> tensor<3xf32>
// expected-error @below {{'nn.derivative' op lists operands or gradients of no backward function}}
nn.derivative @layer forward @layer.f
  operands [] gradients [0]
  operands [] gradients []

// -----

nn.function @layer(%x: tensor<2xf32>, %w: tensor<3xf32>) -> tensor<4xf32>
nn.function @layer.f(%x: tensor<2xf32>, %w: tensor<3xf32>) -> (tensor<4xf32>, tensor<5xf32>)
nn.function @layer.b(%dy: tensor<4xf32>, %s: tensor<5xf32>) -> (tensor<2xf32>, tensor<6xf32>)
nn.function @layer.w(%p: tensor<6xf32>, %a: tensor<3xf32>) -> tensor<3xf32>
// expected-error @below {{'nn.derivative' op gives 'layer.b' a pending, which only the weight function takes}}
nn.derivative @layer forward @layer.f
  backward @layer.b operands [#nn.operand<cotangent 0>, #nn.operand<pending 0>] gradients [0]
  operands [] gradients []

// -----

nn.function @layer(%x: tensor<2xf32>, %w: tensor<3xf32>) -> tensor<4xf32>
nn.function @layer.f(%x: tensor<2xf32>, %w: tensor<3xf32>) -> (tensor<4xf32>, tensor<5xf32>)
nn.function @layer.b(%dy: tensor<4xf32>, %s: tensor<5xf32>) -> (tensor<2xf32>, tensor<6xf32>)
nn.function @layer.w(%p: tensor<6xf32>, %a: tensor<3xf32>) -> tensor<3xf32>
// expected-error @below {{'nn.derivative' op lists 1 operands of 'layer.b', which takes 2}}
nn.derivative @layer forward @layer.f
  backward @layer.b operands [#nn.operand<cotangent 0>] gradients [0]
  operands [] gradients []

// -----

nn.function @layer(%x: tensor<2xf32>, %w: tensor<3xf32>) -> tensor<4xf32>
nn.function @layer.f(%x: tensor<2xf32>, %w: tensor<3xf32>) -> (tensor<4xf32>, tensor<5xf32>)
nn.function @layer.b(%dy: tensor<4xf32>, %s: tensor<5xf32>) -> (tensor<2xf32>, tensor<6xf32>)
nn.function @layer.w(%p: tensor<6xf32>, %a: tensor<3xf32>) -> tensor<3xf32>
// expected-error @below {{'nn.derivative' op names saved 1, but there are 1}}
nn.derivative @layer forward @layer.f
  backward @layer.b operands [#nn.operand<cotangent 0>, #nn.operand<saved 1>] gradients [0]
  operands [] gradients []

// -----

nn.function @layer(%x: tensor<2xf32>, %w: tensor<3xf32>) -> tensor<4xf32>
nn.function @layer.f(%x: tensor<2xf32>, %w: tensor<3xf32>) -> (tensor<4xf32>, tensor<5xf32>)
nn.function @layer.b(%dy: tensor<4xf32>, %s: tensor<5xf32>) -> (tensor<2xf32>, tensor<6xf32>)
nn.function @layer.w(%p: tensor<6xf32>, %a: tensor<3xf32>) -> tensor<3xf32>
// expected-error @below {{'nn.derivative' op gives 'layer.b' argument 0 of type 'tensor<2xf32>', but it takes 'tensor<5xf32>'}}
nn.derivative @layer forward @layer.f
  backward @layer.b operands [#nn.operand<cotangent 0>, #nn.operand<argument 0>] gradients [0]
  operands [] gradients []

// -----

nn.function @layer(%x: tensor<2xf32>, %w: tensor<3xf32>) -> tensor<4xf32>
nn.function @layer.f(%x: tensor<2xf32>, %w: tensor<3xf32>) -> (tensor<4xf32>, tensor<5xf32>)
nn.function @layer.b(%dy: tensor<4xf32>, %s: tensor<5xf32>) -> (tensor<2xf32>, tensor<6xf32>)
nn.function @layer.w(%p: tensor<6xf32>, %a: tensor<3xf32>) -> tensor<3xf32>
// expected-error @below {{'nn.derivative' op expects 3 gradients of 'layer.b', which has 2 results}}
nn.derivative @layer forward @layer.f
  backward @layer.b operands [#nn.operand<cotangent 0>, #nn.operand<saved 0>] gradients [0, 1, 0]
  operands [] gradients []

// -----

nn.function @layer(%x: tensor<2xf32>, %w: tensor<3xf32>) -> tensor<4xf32>
nn.function @layer.f(%x: tensor<2xf32>, %w: tensor<3xf32>) -> (tensor<4xf32>, tensor<5xf32>)
nn.function @layer.b(%dy: tensor<4xf32>, %s: tensor<5xf32>) -> (tensor<2xf32>, tensor<6xf32>)
nn.function @layer.w(%p: tensor<6xf32>, %a: tensor<3xf32>) -> tensor<3xf32>
// expected-error @below {{'nn.derivative' op names the gradient of argument 2, but there are 2}}
nn.derivative @layer forward @layer.f
  backward @layer.b operands [#nn.operand<cotangent 0>, #nn.operand<saved 0>] gradients [2]
  operands [] gradients []

// -----

nn.function @layer(%x: tensor<2xf32>, %w: tensor<3xf32>) -> tensor<4xf32>
nn.function @layer.f(%x: tensor<2xf32>, %w: tensor<3xf32>) -> (tensor<4xf32>, tensor<5xf32>)
nn.function @layer.b(%dy: tensor<4xf32>, %s: tensor<5xf32>) -> (tensor<2xf32>, tensor<6xf32>)
nn.function @layer.w(%p: tensor<6xf32>, %a: tensor<3xf32>) -> tensor<3xf32>
// expected-error @below {{'nn.derivative' op expects a gradient of type 'tensor<3xf32>' for argument 1, but 'layer.b' yields 'tensor<2xf32>'}}
nn.derivative @layer forward @layer.f
  backward @layer.b operands [#nn.operand<cotangent 0>, #nn.operand<saved 0>] gradients [1]
  operands [] gradients []

// -----

nn.function @layer(%x: tensor<2xf32>, %w: tensor<3xf32>) -> tensor<4xf32>
nn.function @layer.f(%x: tensor<2xf32>, %w: tensor<3xf32>) -> (tensor<4xf32>, tensor<5xf32>)
nn.function @layer.b(%dy: tensor<4xf32>, %s: tensor<5xf32>) -> (tensor<2xf32>, tensor<6xf32>)
nn.function @layer.w(%p: tensor<6xf32>, %a: tensor<3xf32>) -> tensor<3xf32>
// expected-error @below {{'nn.derivative' op lists operands or gradients of no weight function}}
nn.derivative @layer forward @layer.f
  backward @layer.b operands [#nn.operand<cotangent 0>, #nn.operand<saved 0>] gradients [0]
  operands [#nn.operand<argument 0>] gradients []

// -----

nn.function @layer(%x: tensor<2xf32>, %w: tensor<3xf32>) -> tensor<4xf32>
nn.function @layer.f(%x: tensor<2xf32>, %w: tensor<3xf32>) -> (tensor<4xf32>, tensor<5xf32>)
nn.function @layer.b(%dy: tensor<4xf32>, %s: tensor<5xf32>) -> (tensor<2xf32>, tensor<6xf32>)
nn.function @layer.w(%p: tensor<6xf32>, %a: tensor<3xf32>) -> tensor<3xf32>
// expected-error @below {{'nn.derivative' op lists 0 gradients of 'layer.w', which has 1 results}}
nn.derivative @layer forward @layer.f
  backward @layer.b operands [#nn.operand<cotangent 0>, #nn.operand<saved 0>] gradients [0]
  weight @layer.w operands [#nn.operand<pending 0>, #nn.operand<accumulator 1>] gradients []

// -----

nn.function @layer(%x: tensor<2xf32>, %w: tensor<3xf32>) -> tensor<4xf32>
nn.function @layer.f(%x: tensor<2xf32>, %w: tensor<3xf32>) -> (tensor<4xf32>, tensor<5xf32>)
nn.function @layer.b(%dy: tensor<4xf32>, %s: tensor<5xf32>) -> (tensor<2xf32>, tensor<6xf32>)
nn.function @layer.w(%p: tensor<6xf32>, %a: tensor<3xf32>) -> tensor<3xf32>
// expected-error @below {{'nn.derivative' op has no accumulator for the gradient of argument 1}}
nn.derivative @layer forward @layer.f
  backward @layer.b operands [#nn.operand<cotangent 0>, #nn.operand<saved 0>] gradients [0]
  weight @layer.w operands [#nn.operand<pending 0>, #nn.operand<argument 1>] gradients [1]

// -----

nn.function @layer(%x: tensor<2xf32>) -> tensor<4xf32>
nn.function @layer.f(%x: tensor<2xf32>) -> (tensor<4xf32>, tensor<5xf32>, tensor<6xf32>)
nn.function @layer.r(%s: tensor<5xf32>) -> tensor<6xf32>
// expected-error @below {{'nn.derivative' op lists 0 operands of 'layer.r', which takes 1}}
nn.derivative @layer forward @layer.f operands [] gradients [] operands [] gradients []
  recompute @layer.r operands []

// -----

nn.function @layer(%x: tensor<2xf32>) -> tensor<4xf32>
nn.function @layer.f(%x: tensor<2xf32>) -> (tensor<4xf32>, tensor<5xf32>, tensor<6xf32>)
nn.function @layer.r(%s: tensor<5xf32>) -> tensor<5xf32>
// expected-error @below {{'nn.derivative' op has recompute 'layer.r' of type '(tensor<5xf32>) -> tensor<5xf32>'; its results must be the last saved values of 'layer.f'}}
nn.derivative @layer forward @layer.f operands [] gradients [] operands [] gradients []
  recompute @layer.r operands [#nn.operand<saved 0>]

// -----

nn.function @layer(%x: tensor<2xf32>) -> tensor<4xf32>
nn.function @layer.f(%x: tensor<2xf32>) -> (tensor<4xf32>, tensor<5xf32>, tensor<6xf32>)
nn.function @layer.r(%s: tensor<6xf32>) -> tensor<6xf32>
// expected-error @below {{'nn.derivative' op gives 'layer.r' saved 1; it may take arguments and the saved values that it does not make}}
nn.derivative @layer forward @layer.f operands [] gradients [] operands [] gradients []
  recompute @layer.r operands [#nn.operand<saved 1>]

// -----

nn.function @layer(%x: tensor<2xf32>) -> tensor<4xf32>
nn.function @layer.f(%x: tensor<2xf32>) -> (tensor<4xf32>, tensor<5xf32>, tensor<6xf32>)
nn.function @layer.r(%s: tensor<4xf32>) -> tensor<6xf32>
// expected-error @below {{'nn.derivative' op gives 'layer.r' result 0; it may take arguments and the saved values that it does not make}}
nn.derivative @layer forward @layer.f operands [] gradients [] operands [] gradients []
  recompute @layer.r operands [#nn.operand<result 0>]

// -----

nn.function @layer(%x: tensor<2xf32>) -> tensor<4xf32>
nn.function @layer.f(%x: tensor<2xf32>) -> (tensor<4xf32>, tensor<5xf32>, tensor<6xf32>)
nn.function @layer.r(%s: tensor<5xf32>) -> tensor<6xf32>
// expected-error @below {{'nn.derivative' op names 'layer.s', which is not a function}}
nn.derivative @layer forward @layer.f operands [] gradients [] operands [] gradients []
  recompute @layer.s operands []
