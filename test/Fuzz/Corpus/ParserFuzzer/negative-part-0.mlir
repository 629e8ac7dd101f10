module {
  pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
  pp.task @s0.f role F stage @s0 part -1 (%arg0: tensor<6x4xf32> = <input "x">) -> () {
    pp.yield
  }
}
