//===- RandomSamples.cpp - Functions of ops on random shapes
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RandomSamples.h"

#include "SampleText.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

#include <numeric>
#include <random>

using namespace llvm;
using namespace pipewright;

using Sizes = SmallVector<int64_t>;

/// `2x3xf64`.
static std::string type(ArrayRef<int64_t> shape, StringRef element = "f64") {
  std::string text;
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + element.str();
}

/// `[2, 3]`.
static std::string list(ArrayRef<int64_t> values) {
  return "[" +
         join(map_range(values,
                        [](int64_t value) { return std::to_string(value); }),
              ", ") +
         "]";
}

static Sizes concatenate(ArrayRef<int64_t> first, ArrayRef<int64_t> second) {
  Sizes both(first);
  append_range(both, second);
  return both;
}

namespace {
class SampleMaker {
public:
  explicit SampleMaker(uint64_t seed) : generator(seed) {}

  std::vector<GradientSample> run();

private:
  /// A number from \p least to \p most.
  int64_t pick(int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(generator);
  }
  bool flip() { return pick(0, 1) != 0; }
  int64_t pickSize();
  Sizes pickShape(int64_t leastRank, int64_t mostRank);
  /// Some of the axes of a tensor, at least one.
  Sizes pickAxes(int64_t rank);

  void add(const char *op, std::string text) {
    samples.push_back({op, std::move(text)});
  }
  void addElementwise();
  void addSelections();
  void addViews();
  void addSlices();
  void addPads();
  void addConcat();
  void addMatmul();
  void addExperts();
  void addMovedRows();
  void addAttention();
  void addAttentionWithStatistics();
  void addRotary();
  void addLookups();
  void addWindows();
  void addReductions();
  void addSoftmaxes();
  void addNorms();
  void addLoss();

  std::mt19937_64 generator;
  std::vector<GradientSample> samples;
};
} // namespace

int64_t SampleMaker::pickSize() {
  static constexpr int64_t sizes[] = {0, 1, 1, 1, 2, 2, 2, 3, 3, 4};
  return sizes[pick(0, std::size(sizes) - 1)];
}

Sizes SampleMaker::pickShape(int64_t leastRank, int64_t mostRank) {
  Sizes shape(pick(leastRank, mostRank));
  for (int64_t &size : shape)
    size = pickSize();
  return shape;
}

Sizes SampleMaker::pickAxes(int64_t rank) {
  Sizes axes;
  for (int64_t axis = 0; axis < rank; ++axis)
    if (flip())
      axes.push_back(axis);
  return axes.empty() ? Sizes{pick(0, rank - 1)} : axes;
}

//===----------------------------------------------------------------------===//
// Element by element
//===----------------------------------------------------------------------===//

void SampleMaker::addElementwise() {
  for (const char *op : {"neg", "abs", "exp", "tanh", "erf", "sin", "cos",
                         "sigmoid", "silu", "relu"})
    add(op, unary(op, type(pickShape(0, 4))));
  for (const char *op : {"log", "sqrt", "rsqrt", "reciprocal"})
    samples.push_back({op, unary(op, type(pickShape(0, 4))), 0.5, 2});
  add("gelu", unary("gelu erf", type(pickShape(0, 4))));
  add("gelu", unary("gelu tanh", type(pickShape(0, 4))));
  for (const char *op : {"add", "sub", "mul", "max", "min", "accumulate"})
    add(op, binary(op, type(pickShape(0, 4))));
  for (const char *op : {"div", "mod", "pow"})
    samples.push_back({op, binary(op, type(pickShape(0, 4))), 0.5, 2});
}

void SampleMaker::addSelections() {
  Sizes shape = pickShape(0, 4);
  std::string condition = type(shape, "i1"), value = type(shape);
  add("select", apply("select %a, %b, %c", {condition, value, value}, value,
                      "tensor<" + condition + ">, tensor<" + value + ">"));
  add("cast", applyListed("cast %a", {type(shape, "f32")}, value));
}

//===----------------------------------------------------------------------===//
// The same elements elsewhere
//===----------------------------------------------------------------------===//

void SampleMaker::addViews() {
  Sizes shape = pickShape(0, 4);
  int64_t rank = shape.size();
  Sizes order(rank), permuted;
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), generator);
  for (int64_t axis : order)
    permuted.push_back(shape[axis]);
  add("transpose", applyListed("transpose %a " + list(order), {type(shape)},
                               type(permuted)));

  Sizes reshaped(permuted);
  reshaped.insert(reshaped.begin() + pick(0, rank), 1);
  add("reshape", applyListed("reshape %a", {type(shape)}, type(reshaped)));

  // Axes of size 1 become any size, and axes come before them.
  Sizes broadcast = concatenate(pickShape(0, 2), shape);
  for (int64_t &size : MutableArrayRef(broadcast).take_back(rank))
    if (size == 1)
      size = pickSize();
  add("broadcast", applyListed("broadcast %a", {type(shape)}, type(broadcast)));

  Sizes turned = pickShape(1, 4);
  add("reverse", applySame("reverse %a axes " + list(pickAxes(turned.size())),
                           type(turned)));
}

void SampleMaker::addSlices() {
  Sizes shape = pickShape(1, 4), offsets, strides, taken;
  for (int64_t size : shape) {
    int64_t stride = pick(1, 2), offset = pick(0, size);
    strides.push_back(stride);
    offsets.push_back(offset);
    taken.push_back(pick(0, (size - offset + stride - 1) / stride));
  }
  add("slice", applyListed("slice %a offsets " + list(offsets) + " strides " +
                               list(strides),
                           {type(shape)}, type(taken)));
}

void SampleMaker::addPads() {
  Sizes shape = pickShape(1, 3), low, high, interior, padded;
  for (int64_t size : shape) {
    low.push_back(pick(0, 2));
    high.push_back(pick(0, 2));
    interior.push_back(pick(0, 1));
    padded.push_back(low.back() + size +
                     std::max<int64_t>(size - 1, 0) * interior.back() +
                     high.back());
  }
  add("pad", applyListed("pad %a low " + list(low) + " high " + list(high) +
                             " interior " + list(interior),
                         {type(shape)}, type(padded)));
}

void SampleMaker::addConcat() {
  Sizes shape = pickShape(1, 4);
  int64_t axis = pick(0, shape.size() - 1);
  std::vector<std::string> parts, names;
  Sizes whole(shape);
  whole[axis] = 0;
  for (int64_t part = pick(1, 3); part > 0; --part) {
    shape[axis] = pickSize();
    whole[axis] += shape[axis];
    names.push_back("%" + std::string(1, 'a' + parts.size()));
    parts.push_back(type(shape));
  }
  add("concat", applyListed("concat " + join(names, ", ") + " axis " +
                                std::to_string(axis),
                            parts, type(whole)));
}

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

void SampleMaker::addMatmul() {
  Sizes batch = pickShape(0, 2);
  int64_t m = pickSize(), k = pickSize(), n = pickSize();
  bool left = flip(), right = flip();
  add("matmul",
      applyListed(std::string("matmul %a, %b") +
                      (left ? " transpose_lhs" : "") +
                      (right ? " transpose_rhs" : ""),
                  {type(concatenate(batch, left ? Sizes{k, m} : Sizes{m, k})),
                   type(concatenate(batch, right ? Sizes{n, k} : Sizes{k, n}))},
                  type(concatenate(batch, {m, n}))));
}

void SampleMaker::addExperts() {
  int64_t rows = pickSize(), in = pickSize(), out = pickSize();
  int64_t experts = pick(1, 3);
  std::string which = type({rows}, "i64");
  bool isTransposed = flip();
  GradientSample product{"expert_matmul", "", -2, 2, experts};
  product.text = applyListed(
      std::string("expert_matmul %a, %b, %c") +
          (isTransposed ? " transpose_weights" : ""),
      {type({rows, in}),
       type(isTransposed ? Sizes{experts, out, in} : Sizes{experts, in, out}),
       which},
      type({rows, out}));
  samples.push_back(product);
  GradientSample outer{"expert_outer", "", -2, 2, experts};
  outer.text = applyListed("expert_outer %a, %b, %c",
                           {type({rows, in}), type({rows, out}), which},
                           type({experts, in, out}));
  samples.push_back(outer);
}

/// Some rows have a place; numbers that name nothing are whatever they are.
void SampleMaker::addMovedRows() {
  int64_t rows = pickSize(), places = pickSize();
  Sizes row = pickShape(0, 2);
  std::vector<int64_t> indices(places), inverse(rows), free(places);
  std::iota(free.begin(), free.end(), 0);
  std::shuffle(free.begin(), free.end(), generator);
  for (int64_t &index : indices)
    index = flip() ? pick(rows, rows + 9) : pick(-9, -1);
  for (auto [from, to] : enumerate(inverse)) {
    bool hasPlace = !free.empty() && flip();
    to = hasPlace ? free.back() : flip() ? pick(places, places + 9) : -1;
    if (!hasPlace)
      continue;
    indices[to] = from;
    free.pop_back();
  }
  add("permute_rows",
      permuteRows(type(concatenate({rows}, row)),
                  type(concatenate({places}, row)), indices, inverse));
}

void SampleMaker::addAttention() {
  Sizes batch = pickShape(0, 2);
  int64_t groups = pickSize(), heads = groups * pick(1, 3);
  int64_t queries = pickSize(), keys = pickSize();
  int64_t size = pickSize(), valueSize = pickSize();
  std::string text = "attention %a, %b, %c";
  std::vector<std::string> operands = {
      type(concatenate(batch, {heads, queries, size})),
      type(concatenate(batch, {groups, keys, size})),
      type(concatenate(batch, {groups, keys, valueSize}))};
  if (flip()) {
    Sizes mask = concatenate(batch, {heads, queries, keys});
    for (int64_t &length : mask)
      length = flip() ? length : 1;
    text += " mask %d";
    operands.push_back(type(mask));
  }
  if (queries <= keys && flip())
    text += " causal";
  add("attention",
      applyFunctional(text + " scale 0.75" + (flip() ? " softcap 1.5" : ""),
                      operands,
                      type(concatenate(batch, {heads, queries, valueSize}))));
}

void SampleMaker::addAttentionWithStatistics() {
  Sizes batch = pickShape(0, 2);
  int64_t groups = pickSize(), heads = groups * pick(1, 3);
  // Without keys the statistics are no numbers.
  int64_t queries = pickSize(), keys = std::max<int64_t>(pickSize(), 1);
  int64_t size = pickSize(), valueSize = pickSize();
  bool causal = queries <= keys && flip();
  add("attention_with_statistics",
      applyToResults(std::string("attention_with_statistics %a, %b, %c") +
                         (causal ? " causal" : "") + " scale 0.75",
                     {type(concatenate(batch, {heads, queries, size})),
                      type(concatenate(batch, {groups, keys, size})),
                      type(concatenate(batch, {groups, keys, valueSize}))},
                     {type(concatenate(batch, {heads, queries, valueSize})),
                      type(concatenate(batch, {heads, queries}))}));
}

void SampleMaker::addRotary() {
  std::string tensor = type(concatenate(pickShape(0, 3), {2 * pickSize()}));
  add("rotary",
      apply(std::string("rotary %a, %b, %c") + (flip() ? " interleaved" : ""),
            {tensor, tensor, tensor}, tensor, "tensor<" + tensor + ">"));
}

void SampleMaker::addLookups() {
  Sizes table = pickShape(1, 3), indices = pickShape(0, 2);
  int64_t axis = pick(0, table.size() - 1);
  // There must be something to look up.
  table[axis] = std::max<int64_t>(table[axis], 1);
  Sizes rows = concatenate(ArrayRef(table).take_front(axis), indices);
  append_range(rows, ArrayRef(table).drop_front(axis + 1));
  std::string suffix = " %a, %b axis " + std::to_string(axis);
  std::string which = type(indices, "i64");
  for (bool gathers : {true, false}) {
    GradientSample sample{gathers ? "gather" : "scatter_add", "", -2, 2,
                          table[axis]};
    sample.text =
        applyListed(sample.op + suffix, {type(gathers ? table : rows), which},
                    type(gathers ? rows : table));
    samples.push_back(sample);
  }
}

void SampleMaker::addWindows() {
  Sizes image = pickShape(2, 2), windows(image), positions, strides, dilations;
  for (int64_t axis = pick(1, 2); axis > 0; --axis) {
    int64_t kernel = pick(1, 2), stride = pick(1, 2), dilation = pick(1, 2);
    int64_t reach = (kernel - 1) * dilation + 1, beyond = pick(0, 3);
    image.push_back(reach + beyond);
    windows.push_back(kernel);
    positions.push_back(beyond / stride + 1);
    strides.push_back(stride);
    dilations.push_back(dilation);
  }
  windows = concatenate(windows, positions);
  std::string suffix =
      " %a strides " + list(strides) + " dilations " + list(dilations);
  add("im2col", applyListed("im2col" + suffix, {type(image)}, type(windows)));
  add("col2im", applyListed("col2im" + suffix, {type(windows)}, type(image)));
}

//===----------------------------------------------------------------------===//
// Along axes
//===----------------------------------------------------------------------===//

void SampleMaker::addReductions() {
  for (const char *kind : {"sum", "mean", "max", "min", "prod"}) {
    Sizes shape = pickShape(1, 4), axes = pickAxes(shape.size()), kept;
    for (auto [axis, size] : enumerate(shape))
      if (!is_contained(axes, int64_t(axis)))
        kept.push_back(size);
    add("reduce",
        applyListed(std::string("reduce ") + kind + " %a axes " + list(axes),
                    {type(shape)}, type(kept)));
  }
  Sizes shape = pickShape(1, 4);
  add("cumulative_sum",
      applySame("cumulative_sum %a axis " +
                    std::to_string(pick(0, shape.size() - 1)) +
                    (flip() ? " exclusive" : "") + (flip() ? " reverse" : ""),
                type(shape)));
}

void SampleMaker::addSoftmaxes() {
  for (const char *op : {"softmax", "log_softmax"}) {
    Sizes shape = pickShape(1, 4);
    add(op, applySame(std::string(op) + " %a axis " +
                          std::to_string(pick(0, shape.size() - 1)),
                      type(shape)));
  }
}

void SampleMaker::addNorms() {
  Sizes shape = pickShape(1, 3);
  int64_t row = pick(0, shape.size() - 1);
  auto tensor = [](ArrayRef<int64_t> shape) {
    return "tensor<" + type(shape) + ">";
  };
  std::string x = tensor(shape), axis = std::to_string(row),
              scale = tensor(ArrayRef(shape).drop_front(row)),
              rows = tensor(ArrayRef(shape).take_front(row));
  bool hasBias = flip();
  add("layer_norm",
      norm(hasBias ? "layer_norm %x, %s, %b" : "layer_norm %x, %s", axis,
           "%x: " + x + ", %s: " + scale + (hasBias ? ", %b: " + scale : ""),
           x + ", " + scale + (hasBias ? ", " + scale : ""), "%y, %m, %r",
           x + ", " + rows + ", " + rows));
  add("rms_norm", norm("rms_norm %x, %s", axis, "%x: " + x + ", %s: " + scale,
                       x + ", " + scale, "%y, %r", x + ", " + rows));
}

void SampleMaker::addLoss() {
  Sizes labels = pickShape(0, 2);
  int64_t classes = pick(1, 3), ignored = pick(-1, classes - 1);
  std::string x = "tensor<" + type(concatenate(labels, {classes})) + ">",
              l = "tensor<" + type(labels, "i64") + ">";
  GradientSample sample{"cross_entropy", "", -2, 2, classes};
  sample.text =
      "nn.function @f(%x: " + x + ", %l: " + l +
      ") -> (tensor<f64>, tensor<f64>) {\n  %s, %w = nn.cross_entropy %x, %l "
      "ignore " +
      std::to_string(ignored) + " : (" + x + ", " + l +
      ") -> (tensor<f64>, tensor<f64>)\n  nn.return %s, %w : tensor<f64>, "
      "tensor<f64>\n}\n";
  samples.push_back(sample);
}

std::vector<GradientSample> SampleMaker::run() {
  addElementwise();
  addSelections();
  addViews();
  addSlices();
  addPads();
  addConcat();
  addMatmul();
  addExperts();
  addMovedRows();
  addAttention();
  addAttentionWithStatistics();
  addRotary();
  addLookups();
  addWindows();
  addReductions();
  addSoftmaxes();
  addNorms();
  addLoss();
  return std::move(samples);
}

std::vector<GradientSample> pipewright::makeRandomSamples(uint64_t seed) {
  return SampleMaker(seed).run();
}
