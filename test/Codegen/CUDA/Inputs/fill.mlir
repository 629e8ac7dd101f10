func.func @fill(%x: memref<1024xf32>, %value: f32) {
  linalg.fill ins(%value : f32) outs(%x : memref<1024xf32>)
  return
}
