// RUN: not pp-opt %s --pp-annotate-costs="device=abacus" 2>&1 | FileCheck %s
// CHECK: error: there is no device 'abacus'; expected a100, b200, cpu, h100, h200, or a .json or .toml file

// RUN: not pp-opt %s --pp-annotate-costs="device=abacus.toml" 2>&1 | FileCheck %s --check-prefix=FILE
// FILE: error: abacus.toml: No such file or directory

pp.model @unknown_device(%x: tensor<4xf32> = #pp.input_spec<"x", axis = 0>) {
  pp.return outputs ["x"] %x : tensor<4xf32>
}
