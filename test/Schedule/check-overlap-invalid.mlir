// RUN: pp-opt %s --split-input-file --verify-diagnostics --pp-check-schedule

// All is well: a full backward of the pair may be in two tasks.

pp.parameter @w trainable : tensor<2xf32> = dense<0.0> : tensor<2xf32>
pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters [@w]
pp.task @s0.f role F stage @s0 (%x: tensor<2xf32> = <input "x">) -> (tensor<2xf32> = <saved "s0">) {
  pp.yield %x : tensor<2xf32>
}
pp.task @s0.b role B stage @s0 (%s: tensor<2xf32> = <saved "s0">) -> (tensor<2xf32> = <saved "s0"[1]>) {
  pp.yield %s : tensor<2xf32>
}
pp.task @s0.w role W stage @s0 (%s: tensor<2xf32> = <saved "s0"[1]>, %d: tensor<2xf32> = <gradient "w">) -> (tensor<2xf32> = <gradient "w">) {
  pp.yield %d : tensor<2xf32>
}
pp.schedule "pairs" ranks 1 microbatches 3 chunks 1
pp.program eval rank 0 {
  pp.repeat %i = 0 to 3 {
    pp.run @s0.f [%i]
  }
}
pp.program step rank 0 {
  pp.run @s0.f [0]
  pp.repeat %i = 0 to 2 {
    pp.overlap {
      pp.run @s0.f [%i + 1]
    }, {
      pp.run @s0.b [%i]
      pp.run @s0.w [%i]
    }
  }
  pp.run @s0.b [2]
  pp.run @s0.w [2]
  pp.step
}

// -----

// A backward needs what its own forward keeps.

pp.parameter @w trainable : tensor<2xf32> = dense<0.0> : tensor<2xf32>
pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters [@w]
pp.task @s0.f role F stage @s0 (%x: tensor<2xf32> = <input "x">) -> (tensor<2xf32> = <saved "s0">) {
  pp.yield %x : tensor<2xf32>
}
pp.task @s0.b role B stage @s0 (%s: tensor<2xf32> = <saved "s0">) -> (tensor<2xf32> = <saved "s0"[1]>) {
  pp.yield %s : tensor<2xf32>
}
pp.task @s0.w role W stage @s0 (%s: tensor<2xf32> = <saved "s0"[1]>, %d: tensor<2xf32> = <gradient "w">) -> (tensor<2xf32> = <gradient "w">) {
  pp.yield %d : tensor<2xf32>
}
pp.schedule "pairs" ranks 1 microbatches 3 chunks 1
pp.program eval rank 0 {
  pp.repeat %i = 0 to 3 {
    pp.run @s0.f [%i]
  }
}
pp.program step rank 0 {
  pp.overlap {
    // expected-note @below {{which is here}}
    pp.run @s0.f [0]
  }, {
    // expected-error @below {{S3: task 's0.b' of micro-batch 0 reads #pp.binding<saved "s0"> at the same time as task 's0.f' of micro-batch 0 writes it; run one after the other}}
    pp.run @s0.b [0]
    pp.run @s0.w [0]
  }
  pp.step
}

// -----

// Two micro-batches add to one gradient.

pp.parameter @w trainable : tensor<2xf32> = dense<0.0> : tensor<2xf32>
pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters [@w]
pp.task @s0.f role F stage @s0 (%x: tensor<2xf32> = <input "x">) -> (tensor<2xf32> = <saved "s0">) {
  pp.yield %x : tensor<2xf32>
}
pp.task @s0.b role B stage @s0 (%s: tensor<2xf32> = <saved "s0">) -> (tensor<2xf32> = <saved "s0"[1]>) {
  pp.yield %s : tensor<2xf32>
}
pp.task @s0.w role W stage @s0 (%s: tensor<2xf32> = <saved "s0"[1]>, %d: tensor<2xf32> = <gradient "w">) -> (tensor<2xf32> = <gradient "w">) {
  pp.yield %d : tensor<2xf32>
}
pp.schedule "pairs" ranks 1 microbatches 3 chunks 1
pp.program eval rank 0 {
  pp.repeat %i = 0 to 3 {
    pp.run @s0.f [%i]
  }
}
pp.program step rank 0 {
  pp.run @s0.f [0]
  pp.run @s0.f [1]
  pp.overlap {
    pp.run @s0.b [0]
    // expected-note @below {{which is here}}
    pp.run @s0.w [0]
  }, {
    pp.run @s0.b [1]
    // expected-error @below {{S7: task 's0.w' of micro-batch 1 writes #pp.binding<gradient "w"> at the same time as task 's0.w' of micro-batch 0 writes it; run one after the other}}
    pp.run @s0.w [1]
  }
  pp.step
}

// -----

// A repeat meets another micro-batch in its second round.

pp.parameter @w trainable : tensor<2xf32> = dense<0.0> : tensor<2xf32>
pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters [@w]
pp.task @s0.f role F stage @s0 (%x: tensor<2xf32> = <input "x">) -> (tensor<2xf32> = <saved "s0">) {
  pp.yield %x : tensor<2xf32>
}
pp.task @s0.b role B stage @s0 (%s: tensor<2xf32> = <saved "s0">) -> (tensor<2xf32> = <saved "s0"[1]>) {
  pp.yield %s : tensor<2xf32>
}
pp.task @s0.w role W stage @s0 (%s: tensor<2xf32> = <saved "s0"[1]>, %d: tensor<2xf32> = <gradient "w">) -> (tensor<2xf32> = <gradient "w">) {
  pp.yield %d : tensor<2xf32>
}
pp.schedule "pairs" ranks 1 microbatches 3 chunks 1
pp.program eval rank 0 {
  pp.repeat %i = 0 to 3 {
    pp.run @s0.f [%i]
  }
}
pp.program step rank 0 {
  pp.repeat %i = 0 to 2 {
    pp.overlap {
      // expected-note @below {{which is here}}
      pp.run @s0.f [%i]
    }, {
      // expected-error @below {{S3: task 's0.b' of micro-batch 1 reads #pp.binding<saved "s0"> at the same time as task 's0.f' of micro-batch 1 writes it; run one after the other}}
      pp.run @s0.b [1]
      pp.run @s0.w [1]
    }
  }
  pp.step
}

// -----

// Only a forward and a backward are a pair.

pp.parameter @w trainable : tensor<2xf32> = dense<0.0> : tensor<2xf32>
pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters [@w]
pp.task @s0.f role F stage @s0 (%x: tensor<2xf32> = <input "x">) -> (tensor<2xf32> = <saved "s0">) {
  pp.yield %x : tensor<2xf32>
}
pp.task @s0.b role B stage @s0 (%s: tensor<2xf32> = <saved "s0">) -> (tensor<2xf32> = <saved "s0"[1]>) {
  pp.yield %s : tensor<2xf32>
}
pp.task @s0.w role W stage @s0 (%s: tensor<2xf32> = <saved "s0"[1]>, %d: tensor<2xf32> = <gradient "w">) -> (tensor<2xf32> = <gradient "w">) {
  pp.yield %d : tensor<2xf32>
}
pp.schedule "pairs" ranks 1 microbatches 3 chunks 1
pp.program eval rank 0 {
  pp.repeat %i = 0 to 3 {
    pp.run @s0.f [%i]
  }
}
pp.program step rank 0 {
  // expected-error @below {{overlaps F of stage 0, micro-batch 0 with F of stage 0, micro-batch 1; a pair is one F and then one B or BW}}
  pp.overlap {
    pp.run @s0.f [0]
  }, {
    pp.run @s0.f [1]
  }
  pp.step
}

// -----

// The forward comes first.

pp.parameter @w trainable : tensor<2xf32> = dense<0.0> : tensor<2xf32>
pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters [@w]
pp.task @s0.f role F stage @s0 (%x: tensor<2xf32> = <input "x">) -> (tensor<2xf32> = <saved "s0">) {
  pp.yield %x : tensor<2xf32>
}
pp.task @s0.b role B stage @s0 (%s: tensor<2xf32> = <saved "s0">) -> (tensor<2xf32> = <saved "s0"[1]>) {
  pp.yield %s : tensor<2xf32>
}
pp.task @s0.w role W stage @s0 (%s: tensor<2xf32> = <saved "s0"[1]>, %d: tensor<2xf32> = <gradient "w">) -> (tensor<2xf32> = <gradient "w">) {
  pp.yield %d : tensor<2xf32>
}
pp.schedule "pairs" ranks 1 microbatches 3 chunks 1
pp.program eval rank 0 {
  pp.repeat %i = 0 to 3 {
    pp.run @s0.f [%i]
  }
}
pp.program step rank 0 {
  pp.run @s0.f [0]
  // expected-error @below {{overlaps B of stage 0, micro-batch 0 with F of stage 0, micro-batch 1; a pair is one F and then one B or BW}}
  pp.overlap {
    pp.run @s0.b [0]
  }, {
    pp.run @s0.f [1]
  }
  pp.step
}

// -----

// A branch is one part of the pair.

pp.parameter @w trainable : tensor<2xf32> = dense<0.0> : tensor<2xf32>
pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters [@w]
pp.task @s0.f role F stage @s0 (%x: tensor<2xf32> = <input "x">) -> (tensor<2xf32> = <saved "s0">) {
  pp.yield %x : tensor<2xf32>
}
pp.task @s0.b role B stage @s0 (%s: tensor<2xf32> = <saved "s0">) -> (tensor<2xf32> = <saved "s0"[1]>) {
  pp.yield %s : tensor<2xf32>
}
pp.task @s0.w role W stage @s0 (%s: tensor<2xf32> = <saved "s0"[1]>, %d: tensor<2xf32> = <gradient "w">) -> (tensor<2xf32> = <gradient "w">) {
  pp.yield %d : tensor<2xf32>
}
pp.schedule "pairs" ranks 1 microbatches 3 chunks 1
pp.program eval rank 0 {
  pp.repeat %i = 0 to 3 {
    pp.run @s0.f [%i]
  }
}
pp.program step rank 0 {
  pp.run @s0.f [0]
  pp.run @s0.f [1]
  pp.overlap {
    pp.run @s0.f [2]
  }, {
    pp.run @s0.b [1]
    // expected-error @below {{is W of stage 0, micro-batch 0 after B of stage 0, micro-batch 1 in one branch; only B with its W is one backward}}
    pp.run @s0.w [0]
  }
  pp.step
}
