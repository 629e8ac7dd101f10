pp.arena rank 1 bytes 576 {
  pp.place <channel "act.0.0"> at [0, 64] bytes 64 of [0, 1]
  pp.place <saved "s1"> at 128 bytes 64 of [0, 0]
  pp.place <saved "s1"[1]> at [192, 256] bytes 64 of [0, 1]
  pp.place <saved "s1"[2]> at [320, 384] bytes 64 of [0, 1]
  pp.place <channel "grad.1.0"> at [448, 512] bytes 64 of [0, 1]
}
