// RUN: pp-opt %s --split-input-file --verify-diagnostics --pp-check-schedule

// All is well.

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
  pp.run @s0.bw [0]
}
pp.program step rank 1 {
  pp.run @s1.f [0]
  pp.run @s1.bw [0]
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

// An action is missing.

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
// expected-error @below {{S1: rank 0: BW of stage 0, micro-batch 1 never runs; add it}}
pp.program step rank 0 {
  pp.run @s0.f [0]
  pp.run @s0.bw [0]
  pp.run @s0.f [1]
}
pp.program step rank 1 {
  pp.run @s1.f [0]
  pp.run @s1.bw [0]
  pp.run @s1.f [1]
  pp.run @s1.bw [1]
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

// An action runs twice.

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
  // expected-note @below {{the first time is here}}
  pp.run @s0.f [0]
  // expected-error @below {{S1: rank 0: F of stage 0, micro-batch 0 runs twice; remove one}}
  pp.run @s0.f [0]
  pp.run @s0.bw [0]
}
pp.program step rank 1 {
  pp.run @s1.f [0]
  pp.run @s1.bw [0]
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

// A micro-batch that does not exist.

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
  pp.run @s0.bw [0]
  // expected-error @below {{S1: rank 0: F of stage 0, micro-batch 1 does not exist; there are 2 stages and 1 micro-batches in each of 1 directions}}
  pp.run @s0.f [1]
}
pp.program step rank 1 {
  pp.run @s1.f [0]
  pp.run @s1.bw [0]
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

// A stage's task on another rank.

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
  pp.run @s0.bw [0]
  // expected-error @below {{S2: rank 0: BW of stage 1, micro-batch 0 is on rank 0, but rank 1 holds the stage; move it there}}
  pp.run @s1.bw [0]
}
pp.program step rank 1 {
  pp.run @s1.f [0]
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

// Forward after backward.

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
  // expected-error @below {{S3: rank 0: BW of stage 0, micro-batch 0 does not run after F of stage 0, micro-batch 0; move it there}}
  pp.run @s0.bw [0]
  // expected-note @below {{which is here}}
  pp.run @s0.f [0]
}
pp.program step rank 1 {
  pp.run @s1.f [0]
  pp.run @s1.bw [0]
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

// The weight gradient before the input gradient that it needs.

pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
pp.task @s0.f role F stage @s0 (%x: tensor<2xf32> = <input "x">) -> () {
  pp.yield
}
pp.task @s0.b role B stage @s0 (%x: tensor<2xf32> = <input "x">) -> (tensor<2xf32> = <saved "s0">) {
  pp.yield %x : tensor<2xf32>
}
pp.task @s0.w role W stage @s0 (%x: tensor<2xf32> = <input "x">) -> () {
  pp.yield
}
pp.schedule "zb-h1" ranks 1 microbatches 1 chunks 1
pp.program step rank 0 {
  pp.run @s0.f [0]
  // expected-error @below {{S3: rank 0: W of stage 0, micro-batch 0 does not run after B of stage 0, micro-batch 0; move it there}}
  pp.run @s0.w [0]
  // expected-note @below {{which is here}}
  pp.run @s0.b [0]
}
pp.program eval rank 0 {
  pp.run @s0.f [0]
}

// -----

// Orders that wait for each other: rank 0 wants a gradient before it has run
// the forward that rank 1 runs first.

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
  // expected-error @below {{S5: rank 0: rank 0 waits before BW of stage 0, micro-batch 0 for the backward of stage 1 on rank 1, and none of the ranks can go on; each must run first what another waits for}}
  pp.run @s0.bw [0]
  pp.run @s0.f [1]
  pp.run @s0.bw [1]
}
pp.program step rank 1 {
  pp.run @s1.f [0]
  // expected-note @below {{rank 1 waits before F of stage 1, micro-batch 1 for the forward of stage 0 on rank 0}}
  pp.run @s1.f [1]
  pp.run @s1.bw [0]
  pp.run @s1.bw [1]
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

// Weight gradients out of order.

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
  // expected-note @below {{which is here}}
  pp.run @s0.bw [1]
  // expected-error @below {{S7: rank 0: BW of stage 0, micro-batch 0 comes after that of micro-batch 1; weight gradients are added in the order of micro-batches}}
  pp.run @s0.bw [0]
}
pp.program step rank 1 {
  pp.run @s1.f [0]
  pp.run @s1.f [1]
  pp.run @s1.bw [0]
  pp.run @s1.bw [1]
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

// expected-error @below {{rank 1 has no step program}}
module {
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
  pp.run @s0.bw [0]
}
pp.program eval rank 0 {
  pp.run @s0.f [0]
  pp.send @h [0]
}
pp.program eval rank 1 {
  pp.recv @h [0]
  pp.run @s1.f [0]
}
}

// -----

// expected-error @below {{the module has no schedule; run '--pp-attach-schedule'}}
module {
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
}
