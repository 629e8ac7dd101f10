// RUN: not pp-opt %s --pp-shard-experts=peers=1 2>&1 | FileCheck %s --check-prefix=PEERS
// RUN: not pp-opt %s --pp-shard-experts=capacity=-0.5 2>&1 | FileCheck %s --check-prefix=CAPACITY
// RUN: not pp-opt %s --pp-shard-experts=capacity=nan 2>&1 | FileCheck %s --check-prefix=NAN

// PEERS: error: experts are shared out over at least 2 peers, not 1
// CAPACITY: error: no peer can take -0.50 times its share of rows
// NAN: error: no peer can take nan times its share of rows
pp.model @any(%x: tensor<8x4xf32> = #pp.input_spec<"x", axis = 0>) {
  pp.return outputs ["y"] %x : tensor<8x4xf32>
}
