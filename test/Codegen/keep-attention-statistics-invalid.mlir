// RUN: not pp-opt %s --nn-keep-attention-statistics=target=abacus 2>&1 | FileCheck %s
// RUN: not pp-opt %s --nn-attention-to-library=target=abacus 2>&1 | FileCheck %s

// CHECK: error: there is no target 'abacus'
module {}
