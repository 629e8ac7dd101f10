// RUN: pp-opt %s --split-input-file --verify-diagnostics --pp-order-messages

// Messages cannot be ordered where the tasks themselves wait for each other.

// expected-error @below {{the ranks' tasks wait for each other; '--pp-check-schedule' tells which}}
module {
  pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
  pp.stage @s1 index 1 rank 1 chunk 0 first_layer 1 layers ["b"] parameters []
  pp.channel @h activation from @s0 to @s1 : tensor<2xf32>
  pp.channel @dh gradient from @s1 to @s0 : tensor<2xf32>
  pp.task @s0.f role F stage @s0 () -> (tensor<2xf32> = <channel "h">) {
    %x = nn.constant dense<0.0> : tensor<2xf32>
    pp.yield %x : tensor<2xf32>
  }
  pp.task @s0.bw role BW stage @s0 (%g: tensor<2xf32> = <channel "dh">) -> () {
    pp.yield
  }
  pp.task @s1.f role F stage @s1 (%h: tensor<2xf32> = <channel "h">) -> () {
    pp.yield
  }
  pp.task @s1.bw role BW stage @s1 (%h: tensor<2xf32> = <channel "h">) -> (tensor<2xf32> = <channel "dh">) {
    pp.yield %h : tensor<2xf32>
  }
  pp.schedule "mine" ranks 2 microbatches 1 chunks 1
  pp.program step rank 0 {
    pp.run @s0.bw [0]
    pp.run @s0.f [0]
  }
  pp.program step rank 1 {
    pp.run @s1.f [0]
    pp.run @s1.bw [0]
  }
}

// -----

// expected-error @below {{the module has no schedule; run '--pp-attach-schedule'}}
module {
  pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
  pp.task @s0.bw role BW stage @s0 () -> () {
    pp.yield
  }
}
