//===- Resize.cpp - Images of another size
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An axis is resized by taking, for each new element, a few old ones with
// weights: one look-up a tap. Axes are resized one after the other. So the
// gradient is that of look-ups.
//
//===----------------------------------------------------------------------===//

#include "pipewright/Dialect/NN/HostTensor.h"
#include "pipewright/Import/OnnxOpRegistry.h"

#include <cmath>

using namespace mlir;
using namespace pipewright;

namespace {

enum class Mode { Nearest, Linear, Cubic };

/// How the coordinates of new elements follow from those of old ones.
enum class Coordinates {
  HalfPixel,
  HalfPixelSymmetric,
  PyTorchHalfPixel,
  AlignCorners,
  Asymmetric,
  TFHalfPixelForNearest,
  TFCropAndResize
};

enum class Rounding { PreferFloor, PreferCeil, Floor, Ceil };

struct Method {
  Mode mode = Mode::Nearest;
  Coordinates coordinates = Coordinates::HalfPixel;
  Rounding rounding = Rounding::PreferFloor;
  /// Of the cubic polynomial (Keys, Cubic convolution interpolation, 1981).
  double cubic = -0.75;
  /// Taps outside of the image count nothing, instead of being its border.
  bool excludesOutside = false;
  /// Kernels are as much wider as the image gets smaller.
  bool antialiases = false;
  /// What elements beyond the image are, when a region is resized.
  double extrapolation = 0;
};

/// One axis: the old and the new size, and their ratio, which need not be
/// exactly that of the sizes.
struct Axis {
  int64_t from, to;
  double scale;
  /// The region that is resized, from 0 to 1; for TFCropAndResize.
  double start = 0, end = 1;

  bool isResized() const {
    return from != to || scale != 1.0 || start != 0 || end != 1;
  }
};

/// An old element of each new one, and its weight.
struct Tap {
  SmallVector<int64_t> positions;
  SmallVector<double> weights;
};

} // namespace

//===----------------------------------------------------------------------===//
// Taps
//===----------------------------------------------------------------------===//

/// Where the new element \p i lies between old ones.
static double locate(const Method &method, const Axis &axis, int64_t i) {
  switch (method.coordinates) {
  case Coordinates::HalfPixel:
    return (i + 0.5) / axis.scale - 0.5;
  case Coordinates::HalfPixelSymmetric: {
    double exact = axis.scale * axis.from;
    double center = axis.from / 2.0;
    return center * (1 - axis.to / exact) + (i + 0.5) / axis.scale - 0.5;
  }
  case Coordinates::PyTorchHalfPixel:
    return axis.to > 1 ? (i + 0.5) / axis.scale - 0.5 : 0;
  case Coordinates::AlignCorners: {
    // The new size before it is rounded, as the reference has it.
    double exact = axis.scale * axis.from;
    return exact == 1 ? 0 : i * (axis.from - 1) / (exact - 1);
  }
  case Coordinates::Asymmetric:
    return i / axis.scale;
  case Coordinates::TFHalfPixelForNearest:
    return (i + 0.5) / axis.scale;
  case Coordinates::TFCropAndResize: {
    double last = axis.from - 1;
    if (axis.to == 1)
      return (axis.start + axis.end) / 2 * last;
    return (axis.start + i * (axis.end - axis.start) / (axis.to - 1)) * last;
  }
  }
  llvm_unreachable("all kinds are above");
}

static int64_t roundTo(Rounding rounding, double x) {
  switch (rounding) {
  case Rounding::PreferFloor:
    return std::ceil(x - 0.5);
  case Rounding::PreferCeil:
    return std::floor(x + 0.5);
  case Rounding::Floor:
    return std::floor(x);
  case Rounding::Ceil:
    return std::ceil(x);
  }
  llvm_unreachable("all kinds are above");
}

/// The weight of an old element at \p distance from a new one.
static double getWeight(const Method &method, double distance) {
  double t = std::abs(distance);
  if (method.mode == Mode::Linear)
    return std::max(0.0, 1 - t);
  double a = method.cubic;
  if (t < 1)
    return ((a + 2) * t - (a + 3)) * t * t + 1;
  if (t < 2)
    return ((a * t - 5 * a) * t + 8 * a) * t - 4 * a;
  return 0;
}

static SmallVector<Tap> getNearest(const Method &method, const Axis &axis) {
  Tap tap;
  for (int64_t i = 0; i < axis.to; ++i) {
    int64_t position = roundTo(method.rounding, locate(method, axis, i));
    tap.positions.push_back(std::clamp<int64_t>(position, 0, axis.from - 1));
    tap.weights.push_back(1);
  }
  return {tap};
}

static SmallVector<Tap> getTaps(const Method &method, const Axis &axis) {
  if (method.mode == Mode::Nearest)
    return getNearest(method, axis);
  // A smaller image is one of wider kernels if it is not to alias.
  double shrinking = method.antialiases ? std::min(axis.scale, 1.0) : 1.0;
  int64_t reach = std::ceil((method.mode == Mode::Linear ? 1 : 2) / shrinking);
  SmallVector<Tap> taps(2 * reach);
  for (int64_t i = 0; i < axis.to; ++i) {
    double x = locate(method, axis, i), sum = 0;
    int64_t first = int64_t(std::floor(x)) - reach + 1;
    SmallVector<double> weights;
    for (int64_t position = first; position < first + 2 * reach; ++position) {
      bool outside = position < 0 || position >= axis.from;
      weights.push_back(method.excludesOutside && outside
                            ? 0
                            : getWeight(method, (position - x) * shrinking));
      sum += weights.back();
    }
    bool normalizes = method.excludesOutside || method.antialiases;
    for (auto [tap, weight] : llvm::enumerate(weights)) {
      taps[tap].positions.push_back(
          std::clamp<int64_t>(first + tap, 0, axis.from - 1));
      taps[tap].weights.push_back(normalizes ? weight / sum : weight);
    }
  }
  return taps;
}

//===----------------------------------------------------------------------===//
// Look-ups
//===----------------------------------------------------------------------===//

/// \p numbers along \p axis as a tensor that is broadcast to \p type.
static Value spread(NNBuilder &b, ArrayRef<double> numbers,
                    RankedTensorType type, int64_t axis) {
  auto f64 = b.getOpBuilder().getF64Type();
  SmallVector<int64_t> shape(type.getRank(), 1);
  shape[axis] = numbers.size();
  Value line = b.constant(
      DenseElementsAttr::get(RankedTensorType::get(shape, f64), numbers));
  return b.broadcast(b.cast(line, type.getElementType()), type.getShape());
}

static Value resizeAxis(NNBuilder &b, Value x, int64_t dim, const Axis &axis,
                        const Method &method) {
  SmallVector<int64_t> shape(getShape(x));
  shape[dim] = axis.to;
  RankedTensorType type = getTensorType(x).clone(shape);
  Value sum;
  for (const Tap &tap : getTaps(method, axis)) {
    Value part =
        b.create<nn::GatherOp>(type, x, b.integers(tap.positions), dim);
    if (method.mode != Mode::Nearest)
      part = b.create<nn::MulOp>(part, spread(b, tap.weights, type, dim));
    sum = sum ? b.create<nn::AddOp>(sum, part) : part;
  }
  return sum;
}

/// Puts the number for elements beyond the image where \p axis left it.
static Value extrapolate(NNBuilder &b, Value x, int64_t dim, const Axis &axis,
                         const Method &method) {
  SmallVector<bool> isBeyond;
  for (int64_t i = 0; i < axis.to; ++i) {
    double position = locate(method, axis, i);
    isBeyond.push_back(position < 0 || position > axis.from - 1);
  }
  if (!llvm::is_contained(isBeyond, true))
    return x;
  SmallVector<int64_t> shape(getTensorType(x).getRank(), 1);
  shape[dim] = axis.to;
  Value mask = b.constant(DenseElementsAttr::get(
      RankedTensorType::get(shape, b.getOpBuilder().getI1Type()), isBeyond));
  return b.create<nn::SelectOp>(x.getType(), b.broadcast(mask, getShape(x)),
                                b.splatLike(x, method.extrapolation), x);
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

/// The value of string attribute \p name among \p known.
template <typename T>
static FailureOr<T>
getChoice(OnnxNode &node, StringRef name, StringRef otherwise,
          std::initializer_list<std::pair<StringRef, T>> known) {
  StringRef chosen = node.getString(name, otherwise);
  for (auto [text, value] : known)
    if (text == chosen)
      return value;
  return node.emitError() << "has " << name << " '" << chosen
                          << "', which is not supported";
}

static FailureOr<Method> getMethod(OnnxNode &node) {
  bool isOld = node.getOpset() < 11;
  FailureOr<Mode> mode = getChoice<Mode>(node, "mode", "nearest",
                                         {{"nearest", Mode::Nearest},
                                          {"linear", Mode::Linear},
                                          {"bilinear", Mode::Linear},
                                          {"cubic", Mode::Cubic}});
  FailureOr<Coordinates> coordinates = getChoice<Coordinates>(
      node, "coordinate_transformation_mode",
      isOld ? "asymmetric" : "half_pixel",
      {{"half_pixel", Coordinates::HalfPixel},
       {"half_pixel_symmetric", Coordinates::HalfPixelSymmetric},
       {"pytorch_half_pixel", Coordinates::PyTorchHalfPixel},
       {"align_corners", Coordinates::AlignCorners},
       {"asymmetric", Coordinates::Asymmetric},
       {"tf_half_pixel_for_nn", Coordinates::TFHalfPixelForNearest},
       {"tf_crop_and_resize", Coordinates::TFCropAndResize}});
  FailureOr<Rounding> rounding = getChoice<Rounding>(
      node, "nearest_mode", isOld ? "floor" : "round_prefer_floor",
      {{"round_prefer_floor", Rounding::PreferFloor},
       {"round_prefer_ceil", Rounding::PreferCeil},
       {"floor", Rounding::Floor},
       {"ceil", Rounding::Ceil}});
  if (failed(mode) || failed(coordinates) || failed(rounding))
    return failure();
  if (!isa<FloatType>(getElementType(node.operand(0))) &&
      *mode != Mode::Nearest)
    return node.emitError() << "interpolates between integers";
  return Method{*mode,
                *coordinates,
                *rounding,
                node.getFloat("cubic_coeff_a", -0.75),
                node.getInt("exclude_outside", 0) != 0,
                node.getInt("antialias", 0) != 0,
                node.getFloat("extrapolation_value", 0.0)};
}

/// The numbers of operand \p i; none if it is left out or empty.
static FailureOr<SmallVector<double>> getNumbers(OnnxNode &node, unsigned i) {
  SmallVector<double> numbers;
  if (!node.hasOperand(i) ||
      getTensorType(node.operand(i)).getNumElements() == 0)
    return numbers;
  DenseElementsAttr known = node.getContext().getKnown(node.operand(i));
  if (!known)
    return node.emitError()
           << "needs to know operand " << i << " when it is compiled";
  nn::HostTensor values = *nn::HostTensor::fromAttribute(known);
  if (values.isFloat())
    llvm::append_range(numbers, values.getFloats());
  else
    llvm::append_range(numbers, values.getIntegers());
  return numbers;
}

/// One scale for all axes that are resized to \p sizes: the smallest, or the
/// largest if sizes are to be at least those.
static void keepAspectRatio(StringRef policy, ArrayRef<int64_t> dims,
                            SmallVectorImpl<Axis> &axes) {
  if (dims.empty() || (policy != "not_larger" && policy != "not_smaller"))
    return;
  double scale = axes[dims.front()].scale;
  for (int64_t dim : dims)
    scale = policy == "not_larger" ? std::min(scale, axes[dim].scale)
                                   : std::max(scale, axes[dim].scale);
  for (int64_t dim : dims) {
    axes[dim].scale = scale;
    axes[dim].to = std::llround(scale * axes[dim].from);
  }
}

/// The axes, of which \p dims are resized by \p scales or, if there are none,
/// to \p sizes.
static FailureOr<SmallVector<Axis>> getAxes(OnnxNode &node,
                                            ArrayRef<int64_t> dims,
                                            ArrayRef<double> scales,
                                            ArrayRef<double> sizes) {
  constexpr double limit = double(int64_t(1) << 31);
  SmallVector<Axis> axes;
  for (int64_t size : getShape(node.operand(0)))
    axes.push_back({size, size, 1.0});
  ArrayRef<double> given = scales.empty() ? sizes : scales;
  if (given.size() != dims.size())
    return node.emitError() << "has " << given.size() << " scales or sizes for "
                            << dims.size() << " axes";
  for (auto [dim, number] : llvm::zip_equal(dims, given)) {
    Axis &axis = axes[dim];
    double to = scales.empty() ? number : std::floor(axis.from * number);
    if (!(number > 0) || !(to < limit) || axis.from == 0)
      return node.emitError() << "resizes an axis of " << axis.from
                              << " elements by or to " << number;
    axis.to = to;
    axis.scale = scales.empty() ? to / axis.from : number;
  }
  if (scales.empty())
    keepAspectRatio(node.getString("keep_aspect_ratio_policy", "stretch"), dims,
                    axes);
  return axes;
}

/// Notes the region of operand 1: where it starts on each axis, and then where
/// it ends.
static LogicalResult setRegion(OnnxNode &node, ArrayRef<int64_t> dims,
                               MutableArrayRef<Axis> axes) {
  FailureOr<SmallVector<double>> region = getNumbers(node, 1);
  if (failed(region))
    return failure();
  if (region->size() != 2 * dims.size())
    return node.emitError() << "has a region of " << region->size()
                            << " numbers for " << dims.size() << " axes";
  // Farther away nothing is of the image, and positions are no integers.
  constexpr double farthest = 1 << 20;
  for (double end : *region)
    if (!(std::abs(end) <= farthest))
      return node.emitError() << "has a region that starts or ends at " << end
                              << ", which is too far from the image";
  for (auto [i, dim] : llvm::enumerate(dims)) {
    axes[dim].start = (*region)[i];
    axes[dim].end = (*region)[dims.size() + i];
  }
  return success();
}

/// A wide kernel is many look-ups, and the places of a look-up are held in
/// memory.
static LogicalResult checkKernels(OnnxNode &node, const Method &method,
                                  ArrayRef<Axis> axes) {
  constexpr double smallest = 1.0 / 64;
  constexpr int64_t maxSize = int64_t(1) << 20;
  for (auto [dim, axis] : llvm::enumerate(axes)) {
    bool isComputed =
        axis.isResized() || method.coordinates == Coordinates::TFCropAndResize;
    if (isComputed && axis.to > maxSize)
      return node.emitError() << "resizes axis " << dim << " to " << axis.to
                              << " elements, which is more than " << maxSize;
    if (method.antialiases && axis.scale < smallest)
      return node.emitError()
             << "resizes axis " << dim << " from " << axis.from << " to "
             << axis.to << " elements, which is too much for antialias=1";
  }
  return success();
}

static FailureOr<Value> resize(OnnxNode &node, ArrayRef<double> scales,
                               ArrayRef<double> sizes) {
  FailureOr<Method> method = getMethod(node);
  int64_t rank = getTensorType(node.operand(0)).getRank();
  SmallVector<int64_t> dims = node.getInts("axes").value_or(getAllAxes(rank));
  if (failed(method) || failed(node.normalizeAxes(dims, rank)))
    return failure();
  FailureOr<SmallVector<Axis>> axes = getAxes(node, dims, scales, sizes);
  bool crops = method->coordinates == Coordinates::TFCropAndResize;
  if (failed(axes) || failed(checkKernels(node, *method, *axes)) ||
      (crops && failed(setRegion(node, dims, *axes))))
    return failure();
  NNBuilder &b = node.getBuilder();
  Value result = node.operand(0);
  for (auto [dim, axis] : llvm::enumerate(*axes))
    if (axis.isResized())
      result = resizeAxis(b, result, dim, axis, *method);
  if (crops)
    for (auto [dim, axis] : llvm::enumerate(*axes))
      result = extrapolate(b, result, dim, axis, *method);
  return result;
}

/// Operands: the image, then the scales (operator set 10), or a region, scales
/// and sizes.
static FailureOr<Value> importResize(OnnxNode &node) {
  bool isOld = node.getOpset() < 11;
  FailureOr<SmallVector<double>> scales = getNumbers(node, isOld ? 1 : 2);
  FailureOr<SmallVector<double>> sizes = getNumbers(node, 3);
  if (failed(scales) || failed(sizes))
    return failure();
  return resize(node, *scales, *sizes);
}

/// The older form of Resize, whose scales are an attribute before operator set
/// 9.
static FailureOr<Value> importUpsample(OnnxNode &node) {
  FailureOr<SmallVector<double>> scales =
      node.getOpset() < 9 ? node.getFloats("scales") : getNumbers(node, 1);
  if (failed(scales))
    return failure();
  return resize(node, *scales, {});
}

namespace pipewright {
void registerResize(OnnxOpRegistry &registry) {
  registry.add("Resize", /*since=*/10, {1, 4}, importResize);
  registry.add("Upsample", /*since=*/7, {1, 2}, importUpsample);
}
} // namespace pipewright
