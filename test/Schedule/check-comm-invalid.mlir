// RUN: pp-opt %s --split-input-file --verify-diagnostics --pp-check-comm

// All is well, also in a loop.

pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
pp.stage @s1 index 1 rank 1 chunk 0 first_layer 1 layers ["b"] parameters []
pp.channel @h activation from @s0 to @s1 : tensor<2xf32>
pp.channel @dh gradient from @s1 to @s0 : tensor<2xf32>
pp.task @s0.f role F stage @s0 (%x: tensor<2xf32> = <input "x">) -> (tensor<2xf32> = <channel "h">) {
  pp.yield %x : tensor<2xf32>
}
pp.task @s0.bw role BW stage @s0 (%g: tensor<2xf32> = <channel "dh">) -> () {
  pp.yield
}
pp.task @s1.f role F stage @s1 (%h: tensor<2xf32> = <channel "h">) -> () {
  pp.yield
}
pp.task @s1.bw role BW stage @s1 (%h: tensor<2xf32> = <channel "h">) -> (tensor<2xf32> = <channel "dh">) {
  pp.yield %h : tensor<2xf32>
}
pp.schedule "1f1b" ranks 2 microbatches 2 chunks 1
pp.program step rank 0 {
  pp.run @s0.f [0]
  pp.send @h [0]
  pp.repeat %i = 0 to 1 {
    pp.recv @dh [%i]
    pp.run @s0.bw [%i]
    pp.run @s0.f [%i + 1]
    pp.send @h [%i + 1]
  }
  pp.recv @dh [1]
  pp.run @s0.bw [1]
  pp.step
}
pp.program step rank 1 {
  pp.repeat %i = 0 to 2 {
    pp.recv @h [%i]
    pp.run @s1.f [%i]
    pp.run @s1.bw [%i]
    pp.send @dh [%i]
  }
  pp.step
}
pp.program eval rank 0 {
  pp.run @s0.f [0]
  pp.send @h [0]
  pp.run @s0.f [1]
  pp.send @h [1]
}
pp.program eval rank 1 {
  pp.recv @h [0]
  pp.run @s1.f [0]
  pp.recv @h [1]
  pp.run @s1.f [1]
}

// -----

// Both of two ranks send before they receive.

pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
pp.stage @s1 index 1 rank 1 chunk 0 first_layer 1 layers ["b"] parameters []
pp.channel @h activation from @s0 to @s1 : tensor<2xf32>
pp.channel @dh gradient from @s1 to @s0 : tensor<2xf32>
pp.task @s0.f role F stage @s0 (%x: tensor<2xf32> = <input "x">) -> (tensor<2xf32> = <channel "h">) {
  pp.yield %x : tensor<2xf32>
}
pp.task @s0.bw role BW stage @s0 (%g: tensor<2xf32> = <channel "dh">) -> () {
  pp.yield
}
pp.task @s1.f role F stage @s1 (%h: tensor<2xf32> = <channel "h">) -> () {
  pp.yield
}
pp.task @s1.bw role BW stage @s1 (%h: tensor<2xf32> = <channel "h">) -> (tensor<2xf32> = <channel "dh">) {
  pp.yield %h : tensor<2xf32>
}
pp.schedule "1f1b" ranks 2 microbatches 2 chunks 1
pp.program step rank 0 {
  pp.run @s0.f [0]
  pp.send @h [0]
  pp.run @s0.f [1]
  // expected-error @below {{S5: rank 0 waits to send 'h' micro-batch 1 before it can receive 'dh' micro-batch 0}}
  // expected-note @below {{with transport 'blocking' none of these can go on; change the order or run '--pp-order-messages'}}
  pp.send @h [1]
  pp.recv @dh [0]
  pp.run @s0.bw [0]
  pp.recv @dh [1]
  pp.run @s0.bw [1]
  pp.step
}
pp.program step rank 1 {
  pp.recv @h [0]
  pp.run @s1.f [0]
  pp.run @s1.bw [0]
  // expected-note @below {{rank 1 waits to send 'dh' micro-batch 0 before it can receive 'h' micro-batch 1}}
  pp.send @dh [0]
  pp.recv @h [1]
  pp.run @s1.f [1]
  pp.run @s1.bw [1]
  pp.send @dh [1]
  pp.step
}
pp.program eval rank 0 {
  pp.run @s0.f [0]
  pp.send @h [0]
  pp.run @s0.f [1]
  pp.send @h [1]
}
pp.program eval rank 1 {
  pp.recv @h [0]
  pp.run @s1.f [0]
  pp.recv @h [1]
  pp.run @s1.f [1]
}

// -----

// The same, with one side in the other order: it passes.

pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
pp.stage @s1 index 1 rank 1 chunk 0 first_layer 1 layers ["b"] parameters []
pp.channel @h activation from @s0 to @s1 : tensor<2xf32>
pp.channel @dh gradient from @s1 to @s0 : tensor<2xf32>
pp.task @s0.f role F stage @s0 (%x: tensor<2xf32> = <input "x">) -> (tensor<2xf32> = <channel "h">) {
  pp.yield %x : tensor<2xf32>
}
pp.task @s0.bw role BW stage @s0 (%g: tensor<2xf32> = <channel "dh">) -> () {
  pp.yield
}
pp.task @s1.f role F stage @s1 (%h: tensor<2xf32> = <channel "h">) -> () {
  pp.yield
}
pp.task @s1.bw role BW stage @s1 (%h: tensor<2xf32> = <channel "h">) -> (tensor<2xf32> = <channel "dh">) {
  pp.yield %h : tensor<2xf32>
}
pp.schedule "1f1b" ranks 2 microbatches 2 chunks 1
pp.program step rank 0 {
  pp.run @s0.f [0]
  pp.send @h [0]
  pp.run @s0.f [1]
  pp.send @h [1]
  pp.recv @dh [0]
  pp.run @s0.bw [0]
  pp.recv @dh [1]
  pp.run @s0.bw [1]
  pp.step
}
pp.program step rank 1 {
  pp.recv @h [0]
  pp.run @s1.f [0]
  pp.run @s1.bw [0]
  pp.recv @h [1]
  pp.send @dh [0]
  pp.run @s1.f [1]
  pp.run @s1.bw [1]
  pp.send @dh [1]
  pp.step
}
pp.program eval rank 0 {
  pp.run @s0.f [0]
  pp.send @h [0]
  pp.run @s0.f [1]
  pp.send @h [1]
}
pp.program eval rank 1 {
  pp.recv @h [0]
  pp.run @s1.f [0]
  pp.recv @h [1]
  pp.run @s1.f [1]
}

// -----

// A receive without a send.

pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
pp.stage @s1 index 1 rank 1 chunk 0 first_layer 1 layers ["b"] parameters []
pp.channel @h activation from @s0 to @s1 : tensor<2xf32>
pp.channel @dh gradient from @s1 to @s0 : tensor<2xf32>
pp.task @s0.f role F stage @s0 (%x: tensor<2xf32> = <input "x">) -> (tensor<2xf32> = <channel "h">) {
  pp.yield %x : tensor<2xf32>
}
pp.task @s0.bw role BW stage @s0 (%g: tensor<2xf32> = <channel "dh">) -> () {
  pp.yield
}
pp.task @s1.f role F stage @s1 (%h: tensor<2xf32> = <channel "h">) -> () {
  pp.yield
}
pp.task @s1.bw role BW stage @s1 (%h: tensor<2xf32> = <channel "h">) -> (tensor<2xf32> = <channel "dh">) {
  pp.yield %h : tensor<2xf32>
}
pp.schedule "1f1b" ranks 2 microbatches 1 chunks 1
pp.program step rank 0 {
  pp.run @s0.f [0]
  pp.recv @dh [0]
  pp.run @s0.bw [0]
  pp.step
}
pp.program step rank 1 {
  // expected-error @below {{S4: rank 0 never sends 'h' micro-batch 0 to rank 1; add a 'pp.send'}}
  pp.recv @h [0]
  pp.run @s1.f [0]
  pp.run @s1.bw [0]
  pp.send @dh [0]
  pp.step
}
pp.program eval rank 0 {
  pp.run @s0.f [0]
  pp.send @h [0]
}
pp.program eval rank 1 {
  pp.recv @h [0]
  pp.run @s1.f [0]
}

// -----

// A task that reads what was never received.

pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
pp.stage @s1 index 1 rank 1 chunk 0 first_layer 1 layers ["b"] parameters []
pp.channel @h activation from @s0 to @s1 : tensor<2xf32>
pp.channel @dh gradient from @s1 to @s0 : tensor<2xf32>
pp.task @s0.f role F stage @s0 (%x: tensor<2xf32> = <input "x">) -> (tensor<2xf32> = <channel "h">) {
  pp.yield %x : tensor<2xf32>
}
pp.task @s0.bw role BW stage @s0 (%g: tensor<2xf32> = <channel "dh">) -> () {
  pp.yield
}
pp.task @s1.f role F stage @s1 (%h: tensor<2xf32> = <channel "h">) -> () {
  pp.yield
}
pp.task @s1.bw role BW stage @s1 (%h: tensor<2xf32> = <channel "h">) -> (tensor<2xf32> = <channel "dh">) {
  pp.yield %h : tensor<2xf32>
}
pp.schedule "1f1b" ranks 2 microbatches 1 chunks 1
pp.program step rank 0 {
  pp.run @s0.f [0]
  pp.send @h [0]
  pp.recv @dh [0]
  pp.run @s0.bw [0]
  pp.step
}
pp.program step rank 1 {
  // expected-error @below {{S3: task 's1.f' reads 'h' micro-batch 0 before it is received; receive it first}}
  pp.run @s1.f [0]
  // expected-error @below {{S3: task 's1.bw' reads 'h' micro-batch 0 before it is received; receive it first}}
  pp.run @s1.bw [0]
  pp.send @dh [0]
  pp.step
}
pp.program eval rank 0 {
  pp.run @s0.f [0]
  pp.send @h [0]
}
pp.program eval rank 1 {
  pp.recv @h [0]
  pp.run @s1.f [0]
}

// -----

// A send that nobody asks for.

pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
pp.stage @s1 index 1 rank 1 chunk 0 first_layer 1 layers ["b"] parameters []
pp.channel @h activation from @s0 to @s1 : tensor<2xf32>
pp.channel @dh gradient from @s1 to @s0 : tensor<2xf32>
pp.task @s0.f role F stage @s0 (%x: tensor<2xf32> = <input "x">) -> (tensor<2xf32> = <channel "h">) {
  pp.yield %x : tensor<2xf32>
}
pp.task @s0.bw role BW stage @s0 (%g: tensor<2xf32> = <channel "dh">) -> () {
  pp.yield
}
pp.task @s1.f role F stage @s1 (%h: tensor<2xf32> = <channel "h">) -> () {
  pp.yield
}
pp.task @s1.bw role BW stage @s1 (%h: tensor<2xf32> = <channel "h">) -> (tensor<2xf32> = <channel "dh">) {
  pp.yield %h : tensor<2xf32>
}
pp.schedule "1f1b" ranks 2 microbatches 1 chunks 1
pp.program step rank 0 {
  pp.run @s0.f [0]
  pp.send @h [0]
  pp.step
}
pp.program step rank 1 {
  pp.recv @h [0]
  pp.run @s1.f [0]
  pp.run @s1.bw [0]
  // expected-error @below {{S4: rank 0 never receives 'dh' micro-batch 0 from rank 1; add a 'pp.recv'}}
  pp.send @dh [0]
  pp.step
}
pp.program eval rank 0 {
  pp.run @s0.f [0]
  pp.send @h [0]
}
pp.program eval rank 1 {
  pp.recv @h [0]
  pp.run @s1.f [0]
}

// -----

// Sent before it is made.

pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
pp.stage @s1 index 1 rank 1 chunk 0 first_layer 1 layers ["b"] parameters []
pp.channel @h activation from @s0 to @s1 : tensor<2xf32>
pp.channel @dh gradient from @s1 to @s0 : tensor<2xf32>
pp.task @s0.f role F stage @s0 (%x: tensor<2xf32> = <input "x">) -> (tensor<2xf32> = <channel "h">) {
  pp.yield %x : tensor<2xf32>
}
pp.task @s0.bw role BW stage @s0 (%g: tensor<2xf32> = <channel "dh">) -> () {
  pp.yield
}
pp.task @s1.f role F stage @s1 (%h: tensor<2xf32> = <channel "h">) -> () {
  pp.yield
}
pp.task @s1.bw role BW stage @s1 (%h: tensor<2xf32> = <channel "h">) -> (tensor<2xf32> = <channel "dh">) {
  pp.yield %h : tensor<2xf32>
}
pp.schedule "1f1b" ranks 2 microbatches 1 chunks 1
pp.program step rank 0 {
  // expected-error @below {{S3: sends 'h' micro-batch 0 before it is made; run its task first}}
  pp.send @h [0]
  pp.run @s0.f [0]
  pp.recv @dh [0]
  pp.run @s0.bw [0]
  pp.step
}
pp.program step rank 1 {
  pp.recv @h [0]
  pp.run @s1.f [0]
  pp.run @s1.bw [0]
  pp.send @dh [0]
  pp.step
}
pp.program eval rank 0 {
  pp.run @s0.f [0]
  pp.send @h [0]
}
pp.program eval rank 1 {
  pp.recv @h [0]
  pp.run @s1.f [0]
}

// -----

// Sent twice, received twice.

pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
pp.stage @s1 index 1 rank 1 chunk 0 first_layer 1 layers ["b"] parameters []
pp.channel @h activation from @s0 to @s1 : tensor<2xf32>
pp.channel @dh gradient from @s1 to @s0 : tensor<2xf32>
pp.task @s0.f role F stage @s0 (%x: tensor<2xf32> = <input "x">) -> (tensor<2xf32> = <channel "h">) {
  pp.yield %x : tensor<2xf32>
}
pp.task @s0.bw role BW stage @s0 (%g: tensor<2xf32> = <channel "dh">) -> () {
  pp.yield
}
pp.task @s1.f role F stage @s1 (%h: tensor<2xf32> = <channel "h">) -> () {
  pp.yield
}
pp.task @s1.bw role BW stage @s1 (%h: tensor<2xf32> = <channel "h">) -> (tensor<2xf32> = <channel "dh">) {
  pp.yield %h : tensor<2xf32>
}
pp.schedule "1f1b" ranks 2 microbatches 1 chunks 1
pp.program step rank 0 {
  pp.run @s0.f [0]
  // expected-note @below {{the first time is here}}
  pp.send @h [0]
  // expected-error @below {{S4: sends 'h' micro-batch 0 again; remove one}}
  pp.send @h [0]
  pp.recv @dh [0]
  pp.run @s0.bw [0]
  pp.step
}
pp.program step rank 1 {
  // expected-note @below {{the first time is here}}
  pp.recv @h [0]
  // expected-error @below {{S4: receives 'h' micro-batch 0 again; remove one}}
  pp.recv @h [0]
  pp.run @s1.f [0]
  pp.run @s1.bw [0]
  pp.send @dh [0]
  pp.step
}
pp.program eval rank 0 {
  pp.run @s0.f [0]
  pp.send @h [0]
}
pp.program eval rank 1 {
  pp.recv @h [0]
  pp.run @s1.f [0]
}

// -----

// A pair of ranks that sends in one order and receives in another.

pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
pp.stage @s1 index 1 rank 1 chunk 0 first_layer 1 layers ["b"] parameters []
pp.channel @h activation from @s0 to @s1 : tensor<2xf32>
pp.channel @dh gradient from @s1 to @s0 : tensor<2xf32>
pp.task @s0.f role F stage @s0 (%x: tensor<2xf32> = <input "x">) -> (tensor<2xf32> = <channel "h">) {
  pp.yield %x : tensor<2xf32>
}
pp.task @s0.bw role BW stage @s0 (%g: tensor<2xf32> = <channel "dh">) -> () {
  pp.yield
}
pp.task @s1.f role F stage @s1 (%h: tensor<2xf32> = <channel "h">) -> () {
  pp.yield
}
pp.task @s1.bw role BW stage @s1 (%h: tensor<2xf32> = <channel "h">) -> (tensor<2xf32> = <channel "dh">) {
  pp.yield %h : tensor<2xf32>
}
pp.schedule "1f1b" ranks 2 microbatches 2 chunks 1
pp.program step rank 0 {
  pp.run @s0.f [0]
  pp.run @s0.f [1]
  // expected-note @below {{it is sent here}}
  pp.send @h [1]
  pp.send @h [0]
  pp.recv @dh [0]
  pp.run @s0.bw [0]
  pp.recv @dh [1]
  pp.run @s0.bw [1]
  pp.step
}
pp.program step rank 1 {
  // expected-error @below {{S4: rank 1 receives 'h' micro-batch 0 where rank 0 sends 'h' micro-batch 1; a pair of ranks must use one order}}
  pp.recv @h [0]
  pp.recv @h [1]
  pp.run @s1.f [0]
  pp.run @s1.bw [0]
  pp.send @dh [0]
  pp.run @s1.f [1]
  pp.run @s1.bw [1]
  pp.send @dh [1]
  pp.step
}
pp.program eval rank 0 {
  pp.run @s0.f [0]
  pp.send @h [0]
  pp.run @s0.f [1]
  pp.send @h [1]
}
pp.program eval rank 1 {
  pp.recv @h [0]
  pp.run @s1.f [0]
  pp.recv @h [1]
  pp.run @s1.f [1]
}

// -----

// Micro-batches that do not exist.

pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
pp.stage @s1 index 1 rank 1 chunk 0 first_layer 1 layers ["b"] parameters []
pp.channel @h activation from @s0 to @s1 : tensor<2xf32>
pp.task @s0.f role F stage @s0 (%x: tensor<2xf32> = <input "x">) -> (tensor<2xf32> = <channel "h">) {
  pp.yield %x : tensor<2xf32>
}
pp.task @s1.f role F stage @s1 (%h: tensor<2xf32> = <channel "h">) -> () {
  pp.yield
}
pp.schedule "forward" ranks 2 microbatches 1 chunks 1
pp.program eval rank 0 {
  pp.run @s0.f [0]
  pp.send @h [0]
}
pp.program eval rank 1 {
  pp.recv @h [0]
  pp.run @s1.f [0]
  // expected-error @below {{S1: there is no micro-batch 1; they are 0 to 0}}
  pp.recv @h [1]
  // expected-error @below {{S1: there is no micro-batch -1; they are 0 to 0}}
  pp.recv @h [-1]
}

// -----

// The wrong rank sends.

pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
pp.stage @s1 index 1 rank 1 chunk 0 first_layer 1 layers ["b"] parameters []
pp.channel @h activation from @s0 to @s1 : tensor<2xf32>
pp.channel @dh gradient from @s1 to @s0 : tensor<2xf32>
pp.task @s0.f role F stage @s0 (%x: tensor<2xf32> = <input "x">) -> (tensor<2xf32> = <channel "h">) {
  pp.yield %x : tensor<2xf32>
}
pp.task @s0.bw role BW stage @s0 (%g: tensor<2xf32> = <channel "dh">) -> () {
  pp.yield
}
pp.task @s1.f role F stage @s1 (%h: tensor<2xf32> = <channel "h">) -> () {
  pp.yield
}
pp.task @s1.bw role BW stage @s1 (%h: tensor<2xf32> = <channel "h">) -> (tensor<2xf32> = <channel "dh">) {
  pp.yield %h : tensor<2xf32>
}
pp.schedule "1f1b" ranks 2 microbatches 1 chunks 1
pp.program step rank 0 {
  pp.run @s0.f [0]
  pp.send @h [0]
  pp.recv @dh [0]
  pp.run @s0.bw [0]
  pp.step
}
pp.program step rank 1 {
  pp.recv @h [0]
  pp.run @s1.f [0]
  pp.run @s1.bw [0]
  // expected-error @below {{S2: rank 1 sends channel 'h', whose source stage is on rank 0; move it there}}
  pp.send @h [0]
  pp.send @dh [0]
  pp.step
}
pp.program eval rank 0 {
  pp.run @s0.f [0]
  pp.send @h [0]
}
pp.program eval rank 1 {
  pp.recv @h [0]
  pp.run @s1.f [0]
}
