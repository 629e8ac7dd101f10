// RUN: pp-opt %s --pass-pipeline='builtin.module(func.func(pp-plan-workspace))' --verify-diagnostics

func.func @dynamic(%n: index) {
  // expected-error @below {{'memref.alloc' op has no place in the workspace: its type is 'memref<?xf32>'}}
  %a = memref.alloc(%n) : memref<?xf32>
  return
}
