//===- PPDialect.cpp - Registration of the pp dialect
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Dialect/NN/TensorSize.h"
#include "pipewright/Dialect/PP/PP.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace pipewright;

static ParseResult
parseMicrobatch(OpAsmParser &parser,
                std::optional<OpAsmParser::UnresolvedOperand> &index,
                IntegerAttr &offset);
static void printMicrobatch(OpAsmPrinter &printer, Operation *, Value index,
                            IntegerAttr offset);
static ParseResult parseOffsets(OpAsmParser &parser,
                                DenseI64ArrayAttr &offsets);
static void printOffsets(OpAsmPrinter &printer, Operation *,
                         DenseI64ArrayAttr offsets);

#include "pipewright/Dialect/PP/PPDialect.cpp.inc"
#include "pipewright/Dialect/PP/PPEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "pipewright/Dialect/PP/PPAttrs.cpp.inc"
#define GET_OP_CLASSES
#include "pipewright/Dialect/PP/PPOps.cpp.inc"

void pp::PPDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "pipewright/Dialect/PP/PPAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "pipewright/Dialect/PP/PPOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// custom<Microbatch>: `3`, `%i` or `%i + -1`
//===----------------------------------------------------------------------===//

static ParseResult
parseMicrobatch(OpAsmParser &parser,
                std::optional<OpAsmParser::UnresolvedOperand> &index,
                IntegerAttr &offset) {
  OpAsmParser::UnresolvedOperand operand;
  OptionalParseResult hasOperand = parser.parseOptionalOperand(operand);
  int64_t value = 0;
  if (hasOperand.has_value()) {
    if (failed(*hasOperand))
      return failure();
    index = operand;
    if (succeeded(parser.parseOptionalPlus()) && parser.parseInteger(value))
      return failure();
  } else if (parser.parseInteger(value)) {
    return failure();
  }
  offset = parser.getBuilder().getI64IntegerAttr(value);
  return success();
}

static void printMicrobatch(OpAsmPrinter &printer, Operation *, Value index,
                            IntegerAttr offset) {
  if (!index) {
    printer << offset.getInt();
    return;
  }
  printer << index;
  if (offset.getInt() != 0)
    printer << " + " << offset.getInt();
}

//===----------------------------------------------------------------------===//
// CostAttr
//===----------------------------------------------------------------------===//

int64_t pp::CostAttr::getKeptBytes(RematPolicy policy) const {
  switch (policy) {
  case RematPolicy::None:
    return getResidualBytes();
  case RematPolicy::Selective:
    return getSelectiveBytes();
  case RematPolicy::Full:
    return getInputBytes();
  }
  llvm_unreachable("all policies are above");
}

int64_t pp::CostAttr::getRecomputePicoseconds(RematPolicy policy) const {
  switch (policy) {
  case RematPolicy::None:
    return 0;
  case RematPolicy::Selective:
    return getPicosecondsR();
  case RematPolicy::Full:
    return getPicosecondsF();
  }
  llvm_unreachable("all policies are above");
}

//===----------------------------------------------------------------------===//
// custom<Offsets>: `64` or `[64, 256]`
//===----------------------------------------------------------------------===//

static ParseResult parseOffsets(OpAsmParser &parser,
                                DenseI64ArrayAttr &offsets) {
  SmallVector<int64_t> values;
  auto parseOffset = [&] { return parser.parseInteger(values.emplace_back()); };
  OptionalParseResult single =
      parser.parseOptionalInteger(values.emplace_back());
  if (!single.has_value()) {
    values.clear();
    if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square,
                                       parseOffset))
      return failure();
  } else if (failed(*single)) {
    return failure();
  }
  offsets = parser.getBuilder().getDenseI64ArrayAttr(values);
  return success();
}

static void printOffsets(OpAsmPrinter &printer, Operation *,
                         DenseI64ArrayAttr offsets) {
  if (offsets.size() == 1)
    printer << offsets[0];
  else
    offsets.print(printer);
}

//===----------------------------------------------------------------------===//
// What all phases ask of a module
//===----------------------------------------------------------------------===//

static constexpr StringLiteral phaseName = "pp.phase";

LogicalResult pp::PPDialect::verifyOperationAttribute(Operation *op,
                                                      NamedAttribute named) {
  if (named.getName() == phaseName && isa<ModuleOp>(op) &&
      isa<PhaseAttr>(named.getValue()))
    return success();
  return op->emitOpError("has ")
         << named.getName() << " = " << named.getValue() << "; all there is is "
         << phaseName << " = #pp.phase of a module";
}

pp::Phase pp::getPhase(ModuleOp module) {
  auto phase = module->getAttrOfType<PhaseAttr>(phaseName);
  return phase ? phase.getValue() : Phase::Import;
}

void pp::setPhase(ModuleOp module, Phase phase) {
  module->setAttr(phaseName, PhaseAttr::get(module.getContext(), phase));
}

pp::ModelOp pp::getModel(ModuleOp module) {
  auto models = module.getOps<ModelOp>();
  return models.empty() ? ModelOp() : *models.begin();
}

int64_t pp::countStates(Optimizer optimizer) {
  return optimizer == Optimizer::AdamW ? 2 : 1;
}

int64_t pp::getBytes(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  unsigned bits = tensor.getElementType().getIntOrFloatBitWidth();
  return tensor.getNumElements() * ((bits + 7) / 8);
}
