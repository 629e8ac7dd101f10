module attributes {pp.phase = #pp.phase<layers>} {
  pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters [@""]
}
