/*===- Descriptor.h - What a compiled rank tells the runtime -----*- C -*-===*\
|*
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
|*===----------------------------------------------------------------------===*|
|*
|* A rank executable is one object file linked with libpprt. The object defines
|* `main`, which calls pprtMain with a constant PprtDescriptor; the functions
|* of the rank's tasks; and `step` and `eval`, the rank's action lists as calls
|* of pprtRun, pprtSend, pprtRecv, pprtAllToAll, pprtAllReduce and pprtUpdate.
|*
|* All memory of a rank is an arena of `arenaBytes`, in which everything has
|* the offset (bytes, a multiple of 64) that the compiler gave it. A task is
|* called with one pointer per binding and never allocates.
|*
|* The structures are plain C: the compiler emits them as constants, field by
|* field. A change here is a change of PPRT_ABI_VERSION.
|*
\*===----------------------------------------------------------------------===*/

#ifndef PPRT_DESCRIPTOR_H
#define PPRT_DESCRIPTOR_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PPRT_ABI_VERSION 8

/* Element types, as in the manifest. */
enum PprtDtype {
  PPRT_F32 = 0,
  PPRT_F64 = 1,
  PPRT_F16 = 2,
  PPRT_BF16 = 3,
  PPRT_I8 = 4,
  PPRT_I16 = 5,
  PPRT_I32 = 6,
  PPRT_I64 = 7,
  PPRT_BOOL = 8 /* one byte, 0 or 1 */
};

typedef struct PprtTensor {
  const char *name; /* ONNX name */
  uint32_t dtype;
  uint32_t rank;
  const int64_t *shape; /* `rank` extents */
  uint64_t bytes;
} PprtTensor;

/* A parameter or a large constant that this rank holds. Its initial value is
 * the tensor of that name in DIR/weights.safetensors. */
typedef struct PprtParameter {
  PprtTensor tensor;
  uint64_t offset;    /* of the value in the arena */
  uint32_t trainable; /* 0 or 1 */
  uint32_t order;     /* position among all trainable parameters of the model:
                         the global norm adds its parts in this order */
  uint64_t gradient;  /* arena offset of the sum of all contributions: that of
                         the first contribution whose offset is used here */
  uint64_t state[2];  /* arena offsets of optimizer state; SGD uses the first */
  uint32_t decayed;   /* 0 for rank-1 parameters: --no-decay-1d spares them */
  uint32_t owner;     /* pipeline rank that sums tied contributions and counts
                         the parameter in the norm; this rank if not tied */
  uint32_t contributionCount;
  const struct PprtContribution *contributions; /* in layer order */
  uint32_t shards; /* 1, or as `expertParallel`: the file's tensor has so many
                      parts along its first axis, and `tensor` is the one of
                      the replica's place in its group; its gradient is summed
                      over replicas of the same place */
} PprtParameter;

/* One layer's gradient for a parameter. A tied parameter has several, possibly
 * on several ranks: the owner receives the others, adds all in layer order and
 * sends the sum to each rank that holds a copy. */
typedef struct PprtContribution {
  uint32_t rank;   /* pipeline rank whose layer contributes */
  uint32_t layer;  /* index of the layer in the model */
  uint64_t offset; /* here: the accumulator if `rank` is this rank; on the
                      owner: a buffer to receive into otherwise; else unused */
} PprtContribution;

enum PprtBufferKind {
  PPRT_BUFFER_CHANNEL = 0,
  PPRT_BUFFER_SAVED = 1,
  PPRT_BUFFER_LOSS_SUM = 2,    /* one float per micro-batch: f32, or f64 in a
                                  model of f64, which `bytes` tells */
  PPRT_BUFFER_LOSS_WEIGHT = 3, /* as the sum */
  PPRT_BUFFER_OUTPUT = 4,
  PPRT_BUFFER_INPUT = 5,      /* the runtime copies the micro-batch into it */
  PPRT_BUFFER_RANDOM_KEY = 6, /* two int64, made by the runtime */
  PPRT_BUFFER_LOSS_SCALE = 7, /* one such float in one slot, the gradient of
                                 each loss sum: the runtime writes it before a
                                 step */
  PPRT_BUFFER_WORKSPACE = 8,  /* of a task, while it runs */
  PPRT_BUFFER_SENT = 9,       /* the blocks of an exchange, before and after */
  PPRT_BUFFER_RECEIVED = 10
};

/* Memory with one instance per micro-batch: micro-batch k of a step uses slot
 * slotOf[k], and in eval all use evalSlot, one after the other. From the first
 * to the last action on a micro-batch its slot shares no memory with another
 * buffer's that is in use then; before and after, others may lie there. What
 * is being sent stays untouched: the runtime waits for the send before
 * anything else uses the memory. */
typedef struct PprtBuffer {
  uint32_t kind;
  uint32_t slots;
  const uint64_t *offsets; /* of each slot in the arena */
  uint64_t bytes;          /* used in a slot */
  const uint16_t *slotOf;  /* one entry per micro-batch */
  uint32_t evalSlot;
  int64_t index; /* INPUT: of `inputs`; OUTPUT: of `outputs`; RANDOM_KEY:
                    the layer; CHANNEL: of `channels`; SENT, RECEIVED: of
                    `exchanges` */
} PprtBuffer;

enum PprtChannelKind { PPRT_ACTIVATION = 0, PPRT_GRADIENT = 1 };

typedef struct PprtChannel {
  const char *name;
  uint32_t kind;
  uint32_t id; /* position in the plan: equal on both ends, the message tag */
  uint32_t source; /* pipeline ranks; equal where two stages share a rank */
  uint32_t target;
  uint32_t sourceStage;
  uint32_t targetStage;
  PprtTensor tensor;
  uint32_t buffer; /* index of `buffers` */
} PprtChannel;

/* Between replicas of a group: each has a block for each, itself included, in
 * the order of their places. Block i of what the one at place j receives is
 * block j of what the one at place i sends. */
typedef struct PprtExchange {
  const char *name;
  uint32_t id; /* as of a channel, after all of these */
  uint32_t stage;
  uint64_t blockBytes;
  uint32_t sent; /* indices of `buffers` */
  uint32_t received;
} PprtExchange;

enum PprtBindingKind {
  PPRT_BIND_PARAMETER = 0, /* index of `parameters` */
  PPRT_BIND_GRADIENT = 1,  /* arena offset in `offset` */
  PPRT_BIND_BUFFER = 2     /* index of `buffers` */
};

typedef struct PprtBinding {
  uint32_t kind;
  uint32_t index;
  uint64_t offset;
} PprtBinding;

enum PprtRole {
  PPRT_ROLE_F = 0,
  PPRT_ROLE_B = 1,
  PPRT_ROLE_W = 2,
  PPRT_ROLE_BW = 3,
  PPRT_ROLE_R = 4
};

typedef void (*PprtTaskFunction)(void *const *pointers);

typedef struct PprtTask {
  const char *name;
  uint32_t role;
  uint32_t stage;
  PprtTaskFunction function;
  uint32_t bindingCount;
  const PprtBinding *bindings; /* pointers[i] is made from bindings[i] */
} PprtTask;

typedef struct PprtInput {
  PprtTensor tensor; /* of one micro-batch */
  int64_t axis; /* axis along which micro-batches are cut; -1: replicated */
  int64_t labelClasses; /* not 0: class labels, each in [0, n) or ignoreIndex */
  int64_t ignoreIndex;
  int64_t indexLimit; /* not 0: indices, each in [-n, n) */
  uint32_t read;      /* 1 if a task of this rank reads it */
} PprtInput;

typedef struct PprtOutput {
  PprtTensor tensor; /* of one micro-batch */
  int64_t axis;      /* axis along which micro-batches follow each other */
  uint32_t buffer;   /* index of `buffers`; UINT32_MAX if another rank has it */
} PprtOutput;

enum PprtOptimizer { PPRT_SGD = 0, PPRT_ADAMW = 1 };

typedef struct PprtContext PprtContext;

typedef struct PprtDescriptor {
  uint32_t abiVersion;
  const char *toolVersion;
  const char *modelName;
  uint8_t planHash[32]; /* SHA-256 of the plan: equal on all ranks */

  uint32_t rank; /* of the pipeline */
  uint32_t ranks;
  uint32_t dataParallel;   /* pipelines with the same executables: rank r of
                              pipeline d is process d * ranks + r, and has the
                              micro-batches from d * microbatches on */
  uint32_t expertParallel; /* replicas in a group, of which each has a part of
                              all experts: pipelines g * expertParallel to
                              (g + 1) * expertParallel - 1 */
  uint32_t stages;
  uint32_t microbatches;
  uint32_t microbatchSize; /* samples in a micro-batch */
  uint32_t forwardOnly;    /* 1: built for inference, `step` is null */
  uint32_t lossRank;       /* pipeline rank that owns the loss */
  uint32_t secondLossRank; /* the same unless the pipeline has two directions:
                              then of the second half of the micro-batches */
  uint32_t optimizer;

  uint64_t arenaBytes;
  uint64_t messageBytes;    /* at its end, which only messages use: a device may
                               have other memory for them */
  uint64_t reductionOffset; /* with several pipelines, of room for the part
                               of any gradient that one of those who add it up
                               does, during pprtUpdate */

  uint32_t parameterCount;
  uint32_t bufferCount;
  uint32_t channelCount;
  uint32_t exchangeCount;
  uint32_t taskCount;
  uint32_t inputCount;             /* all inputs of the model, on each rank */
  uint32_t outputCount;            /* all outputs of the model, on each rank */
  const PprtParameter *parameters; /* in the order of the model */
  const PprtBuffer *buffers;
  const PprtChannel *channels;
  const PprtExchange *exchanges;
  const PprtTask *tasks;
  const PprtInput *inputs;
  const PprtOutput *outputs;

  void (*step)(
      PprtContext *context); /* one training step; null if forwardOnly */
  void (*eval)(PprtContext *context); /* all micro-batches forward */
} PprtDescriptor;

/* What libpprt exports. */
#pragma GCC visibility push(default)

/* Called by `step` and `eval`; `index` counts in the descriptor's tables. */
void pprtRun(PprtContext *context, uint32_t task, uint32_t microbatch);
void pprtSend(PprtContext *context, uint32_t channel, uint32_t microbatch);
/* Posts the receive; the task that uses the value waits for it. */
void pprtRecv(PprtContext *context, uint32_t channel, uint32_t microbatch);
/* Begins an exchange; the task that uses what is received waits for it. */
void pprtAllToAll(PprtContext *context, uint32_t exchange, uint32_t microbatch);
/* Begins to add the gradients of parameters, which are complete, over all
 * pipelines. */
void pprtAllReduce(PprtContext *context, const uint32_t *parameters,
                   uint32_t count);
void pprtUpdate(PprtContext *context);

/* Called by `main`; returns the exit status. */
int pprtMain(int argc, char **argv, const PprtDescriptor *descriptor);

/* Called by `main` of a program that times layers: each stage is one layer, and
 * the slots of its buffers are copies that are run in turn. Inputs are filled
 * with numbers in their range. Prints times to stdout; returns the exit
 * status. */
int pprtProfileMain(int argc, char **argv, const PprtDescriptor *descriptor);

/*===----------------------------------------------------------------------===*\
|* Kernels of the CPU backend that tasks call
\*===----------------------------------------------------------------------===*/

/* c[i] = op(a[i]) op(b[i]) (+ c[i] if accumulate) for i in [0, batch),
 * row-major f32; op transposes where its flag is 1. Strides between batches in
 * elements. op(a) is m x k, op(b) is k x n, c is m x n. One thread. */
void pprtCpuMatmulF32(const float *a, const float *b, float *c, int64_t batch,
                      int64_t m, int64_t n, int64_t k, int64_t strideA,
                      int64_t strideB, int64_t strideC, int32_t transposeA,
                      int32_t transposeB, int32_t accumulate);

/* The same for operands of bf16 and f16, whose products are added up in f32; c
 * has their type or, where the name ends in F32, is of f32. */
void pprtCpuMatmulBF16(const uint16_t *a, const uint16_t *b, uint16_t *c,
                       int64_t batch, int64_t m, int64_t n, int64_t k,
                       int64_t strideA, int64_t strideB, int64_t strideC,
                       int32_t transposeA, int32_t transposeB,
                       int32_t accumulate);
void pprtCpuMatmulBF16F32(const uint16_t *a, const uint16_t *b, float *c,
                          int64_t batch, int64_t m, int64_t n, int64_t k,
                          int64_t strideA, int64_t strideB, int64_t strideC,
                          int32_t transposeA, int32_t transposeB,
                          int32_t accumulate);
void pprtCpuMatmulF16(const uint16_t *a, const uint16_t *b, uint16_t *c,
                      int64_t batch, int64_t m, int64_t n, int64_t k,
                      int64_t strideA, int64_t strideB, int64_t strideC,
                      int32_t transposeA, int32_t transposeB,
                      int32_t accumulate);
void pprtCpuMatmulF16F32(const uint16_t *a, const uint16_t *b, float *c,
                         int64_t batch, int64_t m, int64_t n, int64_t k,
                         int64_t strideA, int64_t strideB, int64_t strideC,
                         int32_t transposeA, int32_t transposeB,
                         int32_t accumulate);

/* Rows that each have one of several matrices, as experts[i] says: a negative
 * number counts from the end, and one that names no expert stands for zeros.
 * Types as above. The room for packed rows has as many rows as there are.
 *
 * ExpertMatmul: row i of c, of n elements, is row i of a, of m elements, times
 * matrix experts[i] of b, m x n, or n x m if transposeB.
 * ExpertOuter: matrix e of c, m x n, is the sum (+ c if accumulate) over the
 * rows i of expert e of row i of a, of m elements, times row i of b, of n. */
#define PPRT_DECLARE_EXPERTS(TYPES, OPERAND, RESULT)                           \
  void pprtCpuExpertMatmul##TYPES(                                             \
      const OPERAND *a, const OPERAND *b, const int64_t *experts, RESULT *c,   \
      OPERAND *packedA, RESULT *packedC, int64_t rows, int64_t expertCount,    \
      int64_t m, int64_t n, int32_t transposeB);                               \
  void pprtCpuExpertOuter##TYPES(                                              \
      const OPERAND *a, const OPERAND *b, const int64_t *experts, RESULT *c,   \
      OPERAND *packedA, OPERAND *packedB, int64_t rows, int64_t expertCount,   \
      int64_t m, int64_t n, int32_t accumulate);
PPRT_DECLARE_EXPERTS(F32, float, float)
PPRT_DECLARE_EXPERTS(BF16, uint16_t, uint16_t)
PPRT_DECLARE_EXPERTS(BF16F32, uint16_t, float)
PPRT_DECLARE_EXPERTS(F16, uint16_t, uint16_t)
PPRT_DECLARE_EXPERTS(F16F32, uint16_t, float)
#undef PPRT_DECLARE_EXPERTS

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif /* PPRT_DESCRIPTOR_H */
