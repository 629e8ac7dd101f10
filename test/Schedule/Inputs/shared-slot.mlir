pp.arena rank 1 bytes 576 {
  pp.place <channel "act.0.0"> at 0 bytes 64 slots 2 of [0, 1]
  pp.place <saved "s1"> at 128 bytes 64 of [0, 0]
  pp.place <saved "s1"[1]> at 192 bytes 64 slots 2 of [0, 1]
  pp.place <saved "s1"[2]> at 320 bytes 64 slots 2 of [0, 1]
  pp.place <channel "grad.1.0"> at 448 bytes 64 slots 2 of [0, 1]
}
