// RUN: pp-opt %s --split-input-file --verify-diagnostics --pp-check-gradients

// All is well.

pp.parameter @w trainable : tensor<2xf32> = dense<0.0> : tensor<2xf32>
pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters [@w]
pp.task @s0.f role F stage @s0 (%x: tensor<2xf32> = <input "x">) -> () {
  pp.yield
}
pp.task @s0.bw role BW stage @s0 (%d: tensor<2xf32> = <gradient "w">) -> (tensor<2xf32> = <gradient "w">) {
  pp.yield %d : tensor<2xf32>
}
pp.update @w from layers [0]
pp.schedule "1f1b" ranks 1 microbatches 2 chunks 1
pp.program step rank 0 {
  pp.run @s0.f [0]
  pp.run @s0.bw [0]
  pp.run @s0.f [1]
  pp.run @s0.bw [1]
  pp.step
}

// -----

// The update comes before the last gradient.

pp.parameter @w trainable : tensor<2xf32> = dense<0.0> : tensor<2xf32>
pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters [@w]
pp.task @s0.f role F stage @s0 (%x: tensor<2xf32> = <input "x">) -> () {
  pp.yield
}
pp.task @s0.bw role BW stage @s0 (%d: tensor<2xf32> = <gradient "w">) -> (tensor<2xf32> = <gradient "w">) {
  pp.yield %d : tensor<2xf32>
}
pp.update @w from layers [0]
pp.schedule "1f1b" ranks 1 microbatches 2 chunks 1
pp.program step rank 0 {
  pp.run @s0.f [0]
  pp.run @s0.bw [0]
  pp.run @s0.f [1]
  // expected-error @below {{S7: rank 0 updates 'w' without micro-batch 1 of task 's0.bw'; run it before 'pp.step'}}
  pp.step
  // expected-error @below {{S7: rank 0 goes on after 'pp.step', which must be its last action}}
  pp.run @s0.bw [1]
}

// -----

// Two updates.

pp.parameter @w trainable : tensor<2xf32> = dense<0.0> : tensor<2xf32>
pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters [@w]
pp.task @s0.f role F stage @s0 (%x: tensor<2xf32> = <input "x">) -> () {
  pp.yield
}
pp.task @s0.bw role BW stage @s0 (%d: tensor<2xf32> = <gradient "w">) -> (tensor<2xf32> = <gradient "w">) {
  pp.yield %d : tensor<2xf32>
}
pp.update @w from layers [0]
pp.schedule "1f1b" ranks 1 microbatches 2 chunks 1
pp.program step rank 0 {
  pp.run @s0.f [0]
  pp.run @s0.bw [0]
  pp.run @s0.f [1]
  pp.run @s0.bw [1]
  pp.step
  // expected-error @below {{S7: rank 0 goes on after 'pp.step', which must be its last action}}
  pp.step
}

// -----

// No update.

pp.parameter @w trainable : tensor<2xf32> = dense<0.0> : tensor<2xf32>
pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters [@w]
pp.task @s0.f role F stage @s0 (%x: tensor<2xf32> = <input "x">) -> () {
  pp.yield
}
pp.task @s0.bw role BW stage @s0 (%d: tensor<2xf32> = <gradient "w">) -> (tensor<2xf32> = <gradient "w">) {
  pp.yield %d : tensor<2xf32>
}
pp.update @w from layers [0]
pp.schedule "1f1b" ranks 1 microbatches 2 chunks 1
// expected-error @below {{S7: rank 0 never updates its parameters; end its program with 'pp.step'}}
pp.program step rank 0 {
  pp.run @s0.f [0]
  pp.run @s0.bw [0]
  pp.run @s0.f [1]
  pp.run @s0.bw [1]
}

// -----

// A trainable parameter that is never updated.

// expected-error @below {{S7: trainable parameter 'w' has no update; run '--nn-attach-optimizer'}}
pp.parameter @w trainable : tensor<2xf32> = dense<0.0> : tensor<2xf32>
pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters [@w]
pp.task @s0.f role F stage @s0 (%x: tensor<2xf32> = <input "x">) -> () {
  pp.yield
}
// expected-error @below {{S7: makes the gradient of 'w' from layer 0, which no update uses}}
pp.task @s0.bw role BW stage @s0 (%d: tensor<2xf32> = <gradient "w">) -> (tensor<2xf32> = <gradient "w">) {
  pp.yield %d : tensor<2xf32>
}
pp.schedule "1f1b" ranks 1 microbatches 2 chunks 1
pp.program step rank 0 {
  pp.run @s0.f [0]
  pp.run @s0.bw [0]
  pp.run @s0.f [1]
  pp.run @s0.bw [1]
  pp.step
}

// -----

// A tied parameter: its update names a layer whose gradient nobody makes.

pp.parameter @w trainable : tensor<2xf32> = dense<0.0> : tensor<2xf32>
pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters [@w]
pp.task @s0.f role F stage @s0 (%x: tensor<2xf32> = <input "x">) -> () {
  pp.yield
}
pp.task @s0.bw role BW stage @s0 (%d: tensor<2xf32> = <gradient "w">) -> (tensor<2xf32> = <gradient "w">) {
  pp.yield %d : tensor<2xf32>
}
// expected-error @below {{S7: no task makes the gradient of 'w' from layer 7}}
pp.update @w from layers [0, 7]
pp.schedule "1f1b" ranks 1 microbatches 2 chunks 1
pp.program step rank 0 {
  pp.run @s0.f [0]
  pp.run @s0.bw [0]
  pp.run @s0.f [1]
  pp.run @s0.bw [1]
  pp.step
}

// -----

// Two tasks add to one gradient.

pp.parameter @w trainable : tensor<2xf32> = dense<0.0> : tensor<2xf32>
pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters [@w]
pp.task @s0.f role F stage @s0 (%x: tensor<2xf32> = <input "x">) -> () {
  pp.yield
}
// expected-note @below {{which is here}}
pp.task @s0.bw role BW stage @s0 (%d: tensor<2xf32> = <gradient "w">) -> (tensor<2xf32> = <gradient "w">) {
  pp.yield %d : tensor<2xf32>
}
// expected-error @below {{S7: adds to the gradient of 'w' from layer 0 beside another task}}
pp.task @s0.w role W stage @s0 (%d: tensor<2xf32> = <gradient "w">) -> (tensor<2xf32> = <gradient "w">) {
  pp.yield %d : tensor<2xf32>
}
pp.update @w from layers [0]
pp.schedule "1f1b" ranks 1 microbatches 2 chunks 1
pp.program step rank 0 {
  pp.run @s0.f [0]
  pp.run @s0.bw [0]
  pp.run @s0.f [1]
  pp.run @s0.bw [1]
  pp.step
}

// -----

// A parameter is updated twice.

pp.parameter @w trainable : tensor<2xf32> = dense<0.0> : tensor<2xf32>
pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters [@w]
pp.task @s0.f role F stage @s0 (%x: tensor<2xf32> = <input "x">) -> () {
  pp.yield
}
pp.task @s0.bw role BW stage @s0 (%d: tensor<2xf32> = <gradient "w">) -> (tensor<2xf32> = <gradient "w">) {
  pp.yield %d : tensor<2xf32>
}
// expected-note @below {{the first update is here}}
pp.update @w from layers [0]
// expected-error @below {{S7: parameter 'w' is updated twice}}
pp.update @w from layers [0]
pp.schedule "1f1b" ranks 1 microbatches 2 chunks 1
pp.program step rank 0 {
  pp.run @s0.f [0]
  pp.run @s0.bw [0]
  pp.run @s0.f [1]
  pp.run @s0.bw [1]
  pp.step
}

// -----

// The gradient is added over the replicas, and all is well.

pp.parameter @w trainable : tensor<2xf32> = dense<0.0> : tensor<2xf32>
pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters [@w]
pp.task @s0.f role F stage @s0 (%x: tensor<2xf32> = <input "x">) -> () {
  pp.yield
}
pp.task @s0.bw role BW stage @s0 (%d: tensor<2xf32> = <gradient "w">) -> (tensor<2xf32> = <gradient "w">) {
  pp.yield %d : tensor<2xf32>
}
pp.update @w from layers [0]
pp.schedule "1f1b" ranks 1 microbatches 2 chunks 1 replicas 2
pp.program step rank 0 {
  pp.run @s0.f [0]
  pp.run @s0.bw [0]
  pp.run @s0.f [1]
  pp.run @s0.bw [1]
  pp.all_reduce [@w]
  pp.step
}

// -----

// The replicas go apart.

pp.parameter @w trainable : tensor<2xf32> = dense<0.0> : tensor<2xf32>
pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters [@w]
pp.task @s0.f role F stage @s0 (%x: tensor<2xf32> = <input "x">) -> () {
  pp.yield
}
pp.task @s0.bw role BW stage @s0 (%d: tensor<2xf32> = <gradient "w">) -> (tensor<2xf32> = <gradient "w">) {
  pp.yield %d : tensor<2xf32>
}
pp.update @w from layers [0]
pp.schedule "1f1b" ranks 1 microbatches 2 chunks 1 replicas 2
// expected-error @below {{S7: rank 0 never adds the gradient of 'w' over the 2 replicas; run '--pp-insert-reductions'}}
pp.program step rank 0 {
  pp.run @s0.f [0]
  pp.run @s0.bw [0]
  pp.run @s0.f [1]
  pp.run @s0.bw [1]
  pp.step
}

// -----

// The sum over the replicas lacks a micro-batch.

pp.parameter @w trainable : tensor<2xf32> = dense<0.0> : tensor<2xf32>
pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters [@w]
pp.task @s0.f role F stage @s0 (%x: tensor<2xf32> = <input "x">) -> () {
  pp.yield
}
pp.task @s0.bw role BW stage @s0 (%d: tensor<2xf32> = <gradient "w">) -> (tensor<2xf32> = <gradient "w">) {
  pp.yield %d : tensor<2xf32>
}
pp.update @w from layers [0]
pp.schedule "1f1b" ranks 1 microbatches 2 chunks 1 replicas 2
pp.program step rank 0 {
  pp.run @s0.f [0]
  pp.run @s0.bw [0]
  pp.run @s0.f [1]
  pp.all_reduce [@w]
  // expected-error @below {{S7: adds to the gradient of 'w' after it was added over the replicas}}
  pp.run @s0.bw [1]
  pp.step
}

// -----

// The sum is added up again.

pp.parameter @w trainable : tensor<2xf32> = dense<0.0> : tensor<2xf32>
pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters [@w]
pp.task @s0.f role F stage @s0 (%x: tensor<2xf32> = <input "x">) -> () {
  pp.yield
}
pp.task @s0.bw role BW stage @s0 (%d: tensor<2xf32> = <gradient "w">) -> (tensor<2xf32> = <gradient "w">) {
  pp.yield %d : tensor<2xf32>
}
pp.update @w from layers [0]
pp.schedule "1f1b" ranks 1 microbatches 2 chunks 1 replicas 2
pp.program step rank 0 {
  pp.run @s0.f [0]
  pp.run @s0.bw [0]
  pp.run @s0.f [1]
  pp.run @s0.bw [1]
  pp.all_reduce [@w]
  // expected-error @below {{S7: adds the gradient of 'w' over the replicas again}}
  pp.all_reduce [@w]
  pp.step
}

// -----

// Gradients of two layers are added before those of the replicas.

pp.parameter @w trainable : tensor<2xf32> = dense<0.0> : tensor<2xf32>
pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a", "b"] parameters [@w]
pp.task @s0.f role F stage @s0 (%x: tensor<2xf32> = <input "x">) -> () {
  pp.yield
}
pp.task @s0.bw role BW stage @s0 (%d: tensor<2xf32> = <gradient "w">, %e: tensor<2xf32> = <gradient "w"[1]>)
    -> (tensor<2xf32> = <gradient "w">, tensor<2xf32> = <gradient "w"[1]>) {
  pp.yield %d, %e : tensor<2xf32>, tensor<2xf32>
}
pp.update @w from layers [0, 1]
pp.schedule "1f1b" ranks 1 microbatches 1 chunks 1 replicas 2
pp.program step rank 0 {
  pp.run @s0.f [0]
  pp.run @s0.bw [0]
  // expected-error @below {{S7: adds one gradient of 'w' over the replicas; 'pp.step' adds those of its layers, and then these}}
  pp.all_reduce [@w]
  pp.step
}
