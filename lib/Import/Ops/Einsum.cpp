//===- Einsum.cpp - Sums of products over named axes
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operands are contracted from left to right, two at a time, each pair by one
// matrix product.
//
//===----------------------------------------------------------------------===//

#include "pipewright/Import/OnnxOpRegistry.h"

using namespace mlir;
using namespace pipewright;

namespace {

/// A tensor whose axes have names, each another one.
struct Term {
  Value value;
  std::string axes;

  bool has(char axis) const { return StringRef(axes).contains(axis); }
  int64_t find(char axis) const { return axes.find(axis); }
  int64_t getSize(char axis) const { return getShape(value)[find(axis)]; }
};

/// The names of an equation. The axes of an ellipsis are named by digits.
struct Equation {
  std::vector<std::string> operands;
  std::string result;
};

class Contraction {
public:
  explicit Contraction(OnnxNode &node) : node(node), b(node.getBuilder()) {}

  FailureOr<Value> run();

private:
  FailureOr<Equation> parse();
  FailureOr<std::string> expandEllipsis(StringRef term, unsigned operand);
  LogicalResult checkSizes(const Equation &equation);
  FailureOr<Term> getTerm(unsigned operand, StringRef axes);
  Term takeDiagonal(Term term, size_t first, size_t second);
  Term sumOver(Term term, StringRef kept);
  Term multiply(Term lhs, Term rhs, StringRef kept);
  Value arrange(const Term &term, StringRef axes);
  Value group(const Term &term, ArrayRef<StringRef> groups);

  OnnxNode &node;
  NNBuilder &b;
  llvm::DenseMap<char, int64_t> sizes;
  int64_t ellipsisAxes = 0;
};

} // namespace

//===----------------------------------------------------------------------===//
// The equation
//===----------------------------------------------------------------------===//

/// \p term with digits for its ellipsis, the last axis being that of the
/// highest digit.
FailureOr<std::string> Contraction::expandEllipsis(StringRef term,
                                                   unsigned operand) {
  constexpr int64_t maxAxes = 10;
  auto [before, after] = term.split("...");
  if (!term.contains("..."))
    return before.str();
  int64_t rank = getTensorType(node.operand(operand)).getRank();
  int64_t covered = rank - int64_t(before.size() + after.size());
  if (covered < 0 || covered > maxAxes)
    return node.emitError() << "names more axes than "
                            << node.operand(operand).getType() << " has";
  ellipsisAxes = std::max(ellipsisAxes, covered);
  std::string digits;
  for (int64_t axis = maxAxes - covered; axis < maxAxes; ++axis)
    digits += char('0' + axis);
  return before.str() + digits + after.str();
}

FailureOr<Equation> Contraction::parse() {
  std::string text;
  for (char c : node.getString("equation", ""))
    if (c != ' ')
      text += c;
  auto [left, right] = StringRef(text).split("->");
  SmallVector<StringRef> terms;
  left.split(terms, ',');
  if (int64_t(terms.size()) != node.getNumOperands())
    return node.emitError() << "has equation '" << text << "' for "
                            << node.getNumOperands() << " operands";
  Equation equation;
  std::string all;
  for (auto [i, term] : llvm::enumerate(terms)) {
    FailureOr<std::string> axes = expandEllipsis(term, i);
    if (failed(axes))
      return failure();
    equation.operands.push_back(*axes);
    all += *axes;
  }
  std::string digits = StringRef("0123456789").take_back(ellipsisAxes).str();
  if (StringRef(text).contains("->")) {
    auto [before, after] = right.split("...");
    equation.result =
        (before + (right.contains("...") ? digits : "") + after).str();
  } else {
    // By default the axes of the ellipsis, then what occurs once, by name.
    llvm::sort(all);
    equation.result = digits;
    for (char axis : all)
      if (llvm::count(all, axis) == 1 && !llvm::isDigit(axis))
        equation.result += axis;
  }
  for (char axis : equation.result)
    if (!StringRef(all).contains(axis) ||
        llvm::count(equation.result, axis) > 1)
      return node.emitError() << "has equation '" << text
                              << "', whose result it does not define";
  return equation;
}

/// An axis has one size wherever it occurs; axes of an ellipsis may also have
/// size 1, which is broadcast.
LogicalResult Contraction::checkSizes(const Equation &equation) {
  for (auto [i, axes] : llvm::enumerate(equation.operands)) {
    ArrayRef<int64_t> shape = getShape(node.operand(i));
    if (shape.size() != axes.size())
      return node.emitError() << "names " << axes.size() << " axes of "
                              << node.operand(i).getType();
    for (auto [axis, size] : llvm::zip_equal(axes, shape)) {
      auto [known, isNew] = sizes.try_emplace(axis, size);
      if (isNew || known->second == size)
        continue;
      bool broadcasts = llvm::isDigit(axis);
      if (broadcasts && known->second == 1)
        known->second = size;
      else if (!broadcasts || size != 1)
        return node.emitError()
               << "has axes '" << std::string(1, axis) << "' of "
               << known->second << " and " << size << " elements";
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Terms
//===----------------------------------------------------------------------===//

/// Keeps the elements at which two axes agree, and one of the axes.
Term Contraction::takeDiagonal(Term term, size_t first, size_t second) {
  RankedTensorType type = getTensorType(term.value);
  auto positions = type.clone(b.getOpBuilder().getI64Type());
  Value agrees = b.compare(nn::Comparison::Equal, b.iota(positions, first),
                           b.iota(positions, second));
  Value kept = b.create<nn::SelectOp>(type, agrees, term.value,
                                      b.splatLike(term.value, 0.0));
  term.value = b.reduce(nn::Reduction::Sum, kept, int64_t(second),
                        /*keepAxes=*/false);
  term.axes.erase(second, 1);
  return term;
}

FailureOr<Term> Contraction::getTerm(unsigned operand, StringRef axes) {
  Term term = {node.operand(operand), axes.str()};
  // An ellipsis of fewer or shorter axes is broadcast.
  SmallVector<int64_t> shape;
  for (char axis : axes)
    shape.push_back(sizes[axis]);
  term.value = b.broadcast(term.value, shape);
  for (size_t first = 0; first < term.axes.size(); ++first)
    for (size_t second = term.axes.size() - 1; second > first; --second)
      if (term.axes[first] == term.axes[second])
        term = takeDiagonal(term, first, second);
  return term;
}

/// Adds up along the axes that \p kept does not have.
Term Contraction::sumOver(Term term, StringRef kept) {
  SmallVector<int64_t> summed;
  std::string left;
  for (auto [i, axis] : llvm::enumerate(term.axes))
    if (kept.contains(axis))
      left += axis;
    else
      summed.push_back(i);
  return {b.reduce(nn::Reduction::Sum, term.value, summed, /*keepAxes=*/false),
          left};
}

/// The elements of \p term with its axes in the order of \p axes.
Value Contraction::arrange(const Term &term, StringRef axes) {
  SmallVector<int64_t> order;
  for (char axis : axes)
    order.push_back(term.find(axis));
  return b.transpose(term.value, order);
}

/// One axis for each group of axes.
Value Contraction::group(const Term &term, ArrayRef<StringRef> groups) {
  std::string axes;
  SmallVector<int64_t> shape;
  for (StringRef names : groups) {
    axes += names;
    int64_t size = 1;
    for (char axis : names)
      size *= term.getSize(axis);
    shape.push_back(size);
  }
  return b.reshape(arrange(term, axes), shape);
}

/// The product of two terms, summed over the axes that \p kept does not have.
Term Contraction::multiply(Term lhs, Term rhs, StringRef kept) {
  lhs = sumOver(lhs, kept.str() + rhs.axes);
  rhs = sumOver(rhs, kept.str() + lhs.axes);
  std::string batch, contracted, rows, columns;
  for (char axis : lhs.axes)
    (!rhs.has(axis) ? rows : kept.contains(axis) ? batch : contracted) += axis;
  for (char axis : rhs.axes)
    if (!lhs.has(axis))
      columns += axis;
  Value product = b.matmul(group(lhs, {batch, rows, contracted}),
                           group(rhs, {batch, contracted, columns}));
  SmallVector<int64_t> shape;
  for (char axis : batch + rows)
    shape.push_back(lhs.getSize(axis));
  for (char axis : columns)
    shape.push_back(rhs.getSize(axis));
  return {b.reshape(product, shape), batch + rows + columns};
}

FailureOr<Value> Contraction::run() {
  if (!isa<FloatType>(getElementType(node.operand(0))))
    return node.emitError() << "contracts " << node.operand(0).getType()
                            << ", which is not of floating point";
  for (Value operand : node.getOperands())
    if (!operand || getElementType(operand) != getElementType(node.operand(0)))
      return node.emitError() << "has operands of different types";
  FailureOr<Equation> equation = parse();
  if (failed(equation) || failed(checkSizes(*equation)))
    return failure();
  std::optional<Term> product;
  for (auto [i, axes] : llvm::enumerate(equation->operands)) {
    FailureOr<Term> term = getTerm(i, axes);
    if (failed(term))
      return failure();
    // What is used later, too, must not be summed yet.
    std::string kept = equation->result;
    for (const std::string &later :
         ArrayRef(equation->operands).drop_front(i + 1))
      kept += later;
    product = product ? multiply(*product, *term, kept) : sumOver(*term, kept);
  }
  return arrange(*product, equation->result);
}

static FailureOr<Value> importEinsum(OnnxNode &node) {
  return Contraction(node).run();
}

namespace pipewright {
void registerEinsum(OnnxOpRegistry &registry) {
  registry.add("Einsum", /*since=*/12, {1, Arity::unlimited}, importEinsum);
}
} // namespace pipewright
