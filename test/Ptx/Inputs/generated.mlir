// Kernels in the form that MLIR's GPU dialect lowers: memory by memrefs, 16
// bytes a thread, reductions over a block by gpu.all_reduce.

gpu.module @generated {
  // One block of 256 threads a row of 1024: y = softmax(x).
  gpu.func @softmax(%x: memref<8x1024xf32>, %y: memref<8x1024xf32>) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c4 = arith.constant 4 : index
    %log2e = arith.constant dense<1.44269504> : vector<4xf32>
    %row = gpu.block_id x
    %thread = gpu.thread_id x
    %column = arith.muli %thread, %c4 : index
    %v = vector.load %x[%row, %column] {alignment = 16} : memref<8x1024xf32>, vector<4xf32>
    %own_max = vector.reduction <maxnumf>, %v : vector<4xf32> into f32
    %max = gpu.all_reduce maxnumf %own_max uniform {} : (f32) -> f32
    %max_v = vector.broadcast %max : f32 to vector<4xf32>
    %shifted = arith.subf %v, %max_v fastmath<contract> : vector<4xf32>
    %scaled = arith.mulf %shifted, %log2e fastmath<contract> : vector<4xf32>
    %e = math.exp2 %scaled fastmath<afn> : vector<4xf32>
    %own_sum = vector.reduction <add>, %e : vector<4xf32> into f32
    %sum = gpu.all_reduce add %own_sum uniform {} : (f32) -> f32
    %sum_v = vector.broadcast %sum : f32 to vector<4xf32>
    %r = arith.divf %e, %sum_v : vector<4xf32>
    vector.store %r, %y[%row, %column] {alignment = 16} : memref<8x1024xf32>, vector<4xf32>
    gpu.return
  }

  // 8 numbers a thread: y = bf16(x * scale), with the scale of the column.
  gpu.func @scale(%x: memref<4096xbf16>, %scale: memref<256xf32>, %y: memref<4096xbf16>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c8 = arith.constant 8 : index
    %c256 = arith.constant 256 : index
    %block = gpu.block_id x
    %thread = gpu.thread_id x
    %first = arith.muli %block, %c256 : index
    %column = arith.muli %thread, %c8 : index
    %at = arith.addi %first, %column : index
    %v = vector.load %x[%at] {alignment = 16} : memref<4096xbf16>, vector<8xbf16>
    %s = vector.load %scale[%column] {alignment = 32} : memref<256xf32>, vector<8xf32>
    %wide = arith.extf %v : vector<8xbf16> to vector<8xf32>
    %product = arith.mulf %wide, %s : vector<8xf32>
    %narrow = arith.truncf %product : vector<8xf32> to vector<8xbf16>
    vector.store %narrow, %y[%at] {alignment = 16} : memref<4096xbf16>, vector<8xbf16>
    gpu.return
  }

  // Each thread sums a column of 64 rows; 32 columns a block.
  gpu.func @column_sums(%x: memref<64x128xf32>, %y: memref<128xf32>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %block = gpu.block_id x
    %thread = gpu.thread_id x
    %first = arith.muli %block, %c32 : index
    %column = arith.addi %first, %thread : index
    %sum = scf.for %row = %c0 to %c64 step %c1 iter_args(%acc = %zero) -> f32 {
      %v = memref.load %x[%row, %column] : memref<64x128xf32>
      %next = arith.addf %acc, %v : f32
      scf.yield %next : f32
    }
    memref.store %sum, %y[%column] : memref<128xf32>
    gpu.return
  }
}
