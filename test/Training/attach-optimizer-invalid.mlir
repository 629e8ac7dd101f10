// RUN: pp-opt %s --split-input-file --verify-diagnostics --nn-attach-optimizer
// RUN: not pp-opt %s --split-input-file --nn-attach-optimizer=optimizer=adam 2>&1 | FileCheck %s

// CHECK: error: unknown optimizer 'adam'; choose 'sgd' or 'adamw'

// expected-error @below {{has an optimizer already}}
module {
  pp.update_rule sgd
}
