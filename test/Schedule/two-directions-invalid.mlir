// RUN: pp-opt %s --split-input-file --verify-diagnostics --pp-check-schedule

pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
pp.stage @s1 index 1 rank 1 chunk 0 first_layer 1 layers ["b"] parameters []
// expected-error @below {{is one of 1 stages of direction 1; direction 0 has 2}}
pp.stage @u0 index 0 rank 1 chunk 0 first_layer 2 layers ["a"] parameters [] direction 1

// -----

pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
// expected-error @below {{has index 1 where 0 is expected; stages are numbered from 0 without gaps}}
pp.stage @u1 index 1 rank 0 chunk 0 first_layer 2 layers ["a"] parameters [] direction 1

// -----

// expected-error @below {{has direction 2; there are 0 and 1}}
pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters [] direction 2

// -----

pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
pp.stage @u1 index 1 rank 0 chunk 0 first_layer 2 layers ["a"] parameters [] direction 1
// expected-error @below {{joins stages of two directions}}
pp.channel @act.0.0 activation from @s0 to @u1 : tensor<4xf32>

// -----

// Direction 1 has the second half of the micro-batches.

pp.schedule "mine" ranks 1 microbatches 4 chunks 1
pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
pp.stage @u0 index 0 rank 0 chunk 0 first_layer 1 layers ["a"] parameters [] direction 1
pp.task @s0.f role F stage @s0 () -> () {
  pp.yield
}
pp.task @u0.bw role BW stage @u0 () -> () {
  pp.yield
}
pp.program step rank 0 {
  // expected-error @below {{is for micro-batch 1, which its direction never has}}
  pp.run @u0.bw[1]
}
pp.program eval rank 0 {
  pp.repeat %i = 0 to 4 {
    pp.run @s0.f[%i]
  }
}
