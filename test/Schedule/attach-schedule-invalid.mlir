// RUN: pp-opt %s --split-input-file --verify-diagnostics --pp-attach-schedule="schedule=gpipe microbatches=2"

// Stages in the wrong places for the schedule.

// expected-error @below {{is on rank 1; schedule 'gpipe' has stage 0 on rank 0}}
pp.stage @s0 index 0 rank 1 chunk 0 first_layer 0 layers ["a"] parameters []
pp.stage @s1 index 1 rank 0 chunk 0 first_layer 1 layers ["b"] parameters []
pp.task @s0.f role F stage @s0 () -> () {
  pp.yield
}
pp.task @s1.f role F stage @s1 () -> () {
  pp.yield
}
pp.task @s1.bw role BW stage @s1 () -> () {
  pp.yield
}

// -----

// Two stages on one rank are two chunks.

// expected-error @below {{schedule 'gpipe' needs 1 chunk per rank, not 2; use 1}}
module {
  pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
  pp.stage @s1 index 1 rank 0 chunk 1 first_layer 1 layers ["b"] parameters []
  pp.task @s0.f role F stage @s0 () -> () {
    pp.yield
  }
  pp.task @s1.f role F stage @s1 () -> () {
    pp.yield
  }
  pp.task @s1.bw role BW stage @s1 () -> () {
    pp.yield
  }
}

// -----

// expected-error @below {{the module has no stages}}
module {
}

// -----

// expected-error @below {{has index 2 where 1 is expected; stages are numbered from 0 without gaps}}
pp.stage @s2 index 2 rank 1 chunk 0 first_layer 1 layers ["b"] parameters []
pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []

// -----

// expected-error @below {{has no forward task}}
pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []

// -----

pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
// expected-note @below {{the first one is here}}
pp.task @s0.f role F stage @s0 () -> () {
  pp.yield
}
// expected-error @below {{is a second task of role F for stage 's0'}}
pp.task @s0.again role F stage @s0 () -> () {
  pp.yield
}
