// RUN: pp-opt %s --split-input-file --verify-diagnostics

pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
pp.task @s0.f role F stage @s0 (%x: tensor<2xf32> = <input "x">) -> () {
  pp.yield
}
pp.program step rank 0 {
  // expected-error @below {{needs at least 2 branches, not 1; one alone overlaps with nothing}}
  pp.overlap {
    pp.run @s0.f [0]
  }
}

// -----

pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
pp.task @s0.f role F stage @s0 (%x: tensor<2xf32> = <input "x">) -> () {
  pp.yield
}
pp.program step rank 0 {
  // expected-error @below {{has nothing to run in branch 1}}
  pp.overlap {
    pp.run @s0.f [0]
  }, {
  }
}

// -----

pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
pp.stage @s1 index 1 rank 1 chunk 0 first_layer 1 layers ["b"] parameters []
pp.channel @h activation from @s0 to @s1 : tensor<2xf32>
pp.task @s0.f role F stage @s0 (%x: tensor<2xf32> = <input "x">) -> () {
  pp.yield
}
pp.program step rank 0 {
  // expected-error @below {{holds 'pp.send'; only 'pp.run' and 'pp.all_to_all' may overlap}}
  pp.overlap {
    pp.run @s0.f [0]
  }, {
    // expected-note @below {{which is here}}
    pp.send @h [0]
  }
}
