// RUN: pp-opt %s --split-input-file --verify-diagnostics

pp.arena rank 0 bytes 128 {
  // expected-error @below {{has no offset}}
  pp.place <channel "a"> at [] bytes 64 of [0, 0]
}

// -----

pp.arena rank 0 bytes 128 {
  // expected-error @below {{places 64 bytes at 96 of an arena of 128}}
  pp.place <channel "a"> at [0, 96] bytes 64 of [0, 1]
}

// -----

pp.arena rank 0 bytes 128 {
  // expected-error @below {{places 64 bytes at -64 of an arena of 128}}
  pp.place <parameter "w"> at -64 bytes 64
}

// -----

pp.arena rank 0 bytes 128 {
  // expected-error @below {{names slot 2 of 2}}
  pp.place <channel "a"> at [0, 64] bytes 64 of [0, 2]
}

// -----

pp.arena rank 0 bytes 128 {
  // expected-error @below {{names slot 1 of 1}}
  pp.place <channel "a"> at 0 bytes 64 of [0, 0] eval 1
}
