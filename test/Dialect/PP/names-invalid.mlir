// RUN: pp-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{attribute 'sym_name' failed to satisfy constraint: string attribute which is not empty}}
pp.parameter @"" : tensor<4xf32> = dense<0.0> : tensor<4xf32>

// -----

// expected-error @below {{attribute 'sym_name' failed to satisfy constraint: string attribute which is not empty}}
nn.function @""() {
  nn.return
}

// -----

// expected-error @below {{holds 'w', which is not a parameter}}
pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters [@w]

// -----

// expected-error @below {{has "pp.phase" = "cost"; all there is is pp.phase = #pp.phase of a module}}
module attributes {pp.phase = "cost"} {
}

// -----

// expected-error @below {{has "pp.faze" = #pp.phase<cost>; all there is is pp.phase = #pp.phase of a module}}
module attributes {pp.faze = #pp.phase<cost>} {
}
