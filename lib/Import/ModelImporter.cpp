//===- ModelImporter.cpp - One model while it is being imported
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelImporter.h"

#include "FrequencyTables.h"
#include "GraphOrder.h"
#include "GraphReads.h"
#include "OpsetImports.h"
#include "Proto/Onnx.pb.h"
#include "Tensors.h"
#include "WeightNames.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace pipewright;
using namespace pipewright::onnx;

/// Floating-point constants that are larger become parameters.
constexpr size_t maxInlineBytes = 1024;

ModelImporter::ModelImporter(OnnxFile &file, const ImportOptions &options,
                             MLIRContext *context)
    : file(file), options(options), context(context),
      root(options.path, file.getModel().graph(), context),
      module(ModuleOp::create(UnknownLoc::get(context))),
      builder(OpBuilder(context)) {}

OwningOpRef<ModuleOp> ModelImporter::run() {
  checkModel();
  std::vector<int> order = orderNodes(root);
  checkOperators(root);
  ModelInputs modelInputs =
      getModelInputs(root.graph, options, report, context);
  inputs = std::move(modelInputs.inputs);
  batchDim = std::move(modelInputs.batchDim);
  if (report.hasFailed())
    return {};
  createModel();
  importNodes(order);
  if (!report.hasFailed())
    importReturn();
  if (report.hasFailed())
    return {};
  describeInputs();
  noteTypes();
  // From here on not every value of the graph is there.
  removeConditionalRows();
  removeUnused();
  freezeFrequencyTables(model);
  checkElements();
  if (report.hasFailed() || failed(verify(*module)))
    return {};
  return std::move(module);
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

std::optional<int64_t> ModelImporter::getOpset(const NodeProto &node) const {
  if (node.has_opset_version())
    return node.opset_version();
  return getOpsetVersion(file.getModel().opset_import(), node.domain());
}

void ModelImporter::checkModel() {
  if (!file.getModel().has_graph()) {
    report.error() << "is not an ONNX model: it has no graph";
    return;
  }
  if (root.graph.output_size() == 0)
    report.error() << "has no outputs";
  if (root.graph.sparse_initializer_size() > 0)
    report.error() << "has sparse initializers, which are not supported";
}

void ModelImporter::checkOperators(GraphScope &scope) {
  // One diagnostic for all nodes of an operator.
  llvm::MapVector<StringAttr, SmallVector<int>> unsupported, undeclared;
  for (auto [index, node] : llvm::enumerate(scope.graph.node())) {
    StringRef domain = normalizeDomain(node.domain());
    if (!OnnxOpRegistry::get().find(domain, node.op_type())) {
      std::string name = node.op_type();
      if (!domain.empty())
        name = domain.str() + "." + name;
      unsupported[StringAttr::get(context, name)].push_back(index);
    } else if (!getOpset(node)) {
      undeclared[StringAttr::get(context, domain)].push_back(index);
    }
  }
  for (const auto &[name, nodes] : unsupported)
    scope.report.error() << "uses operator " << name.getValue()
                         << ", which is not supported, " << nodes.size()
                         << (nodes.size() == 1 ? " time" : " times")
                         << ", first in node "
                         << scope.report.describeNode(nodes.front());
  for (const auto &[domain, nodes] : undeclared)
    scope.report.error() << "does not say which version of operator set '"
                         << domain.getValue() << "' it uses, first in node "
                         << scope.report.describeNode(nodes.front());
}

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

/// The initializers that PyTorch's newer exporter says are no parameters: it
/// writes down what each of its inputs was.
static llvm::StringSet<> findBuffers(const GraphProto &graph) {
  llvm::StringSet<> buffers;
  for (const ValueInfoProto &value : graph.value_info())
    for (const StringStringEntryProto &entry : value.metadata_props())
      if (entry.key() == "pkg.torch.export.graph_signature.InputSpec.kind" &&
          entry.value() != "PARAMETER")
        buffers.insert(value.name());
  return buffers;
}

void ModelImporter::createModel() {
  if (options.tieCopies)
    copies = findWeightCopies(file, root.graph);
  buffers = findBuffers(root.graph);
  weightNames = findWeightNames(root.graph, [&](int index) {
    return cast<NameLoc>(report.getNodeLoc(index)).getName().str();
  });
  SmallVector<Attribute> specs;
  for (const ModelInput &input : inputs)
    specs.push_back(
        pp::InputAttr::get(context, input.name, input.axis, 0, 0, 0));

  // A parameter keeps its name, so the model gives way.
  std::string name = root.graph.name();
  if (name.empty())
    name = llvm::sys::path::stem(options.path).str();
  while (root.initializers.contains(name) || root.values.contains(name))
    name += "_model";

  pp::setPhase(*module, pp::Phase::Import);
  auto opBuilder = OpBuilder::atBlockEnd(module->getBody());
  model = pp::ModelOp::create(opBuilder, opBuilder.getUnknownLoc(), name,
                              opBuilder.getArrayAttr(specs));
  Block &body = model.getBody().emplaceBlock();
  for (const ModelInput &input : inputs) {
    Value argument = body.addArgument(
        input.type, NameLoc::get(StringAttr::get(context, input.name)));
    root.values[input.name] = argument;
    unsignedBits[argument] = input.unsignedBits;
  }
  builder = NNBuilder(OpBuilder::atBlockEnd(&body));
}

void ModelImporter::importNodes(ArrayRef<int> order) {
  for (int index : order)
    importNode(index);
}

void ModelImporter::importNode(int index) {
  const NodeProto &proto = scope->graph.node(index);
  builder.setLoc(scope->report.getNodeLoc(index));
  noteStage(proto);
  // The node that defines a missing value has been reported; say no more.
  for (const std::string &name : getReads(proto))
    if (!lookup(name))
      return;
  OnnxNode node(proto, index, *getOpset(proto), builder, *this);
  for (const std::string &name : proto.input())
    node.addOperand(name.empty() ? Value() : lookup(name));
  const OnnxOp *op = OnnxOpRegistry::get().find(normalizeDomain(proto.domain()),
                                                proto.op_type());
  bool takesSequence = proto.op_type() == "SequenceAt";
  for (Value operand : node.getOperands())
    if (!takesSequence && !checkTensor(operand, "takes"))
      return;
  bool isImported = succeeded(op->import(node));
  if (builder.takeFailure() || !isImported) {
    scope->report.fail();
    return;
  }
  for (StringRef name : node.getUnusedAttributes())
    remarkOnce(proto.op_type() + " has attribute '" + name.str() +
               "', which is not known and is left out");
  defineResults(index, node);
}

void ModelImporter::defineResults(int index, const OnnxNode &node) {
  for (auto [i, name] : llvm::enumerate(scope->graph.node(index).output())) {
    if (name.empty())
      continue;
    if (Value value = node.getResult(i))
      scope->values[name] = holdUnsigned(value, node.getUnsignedBits(i));
    else
      scope->report.nodeError(index) << "has result " << i << " ('" << name
                                     << "'), which is not supported";
  }
}

/// Whether \p op's results are elements of its operands.
static bool movesElements(Operation *op) {
  return isa_and_nonnull<nn::ReshapeOp, nn::TransposeOp, nn::BroadcastOp,
                         nn::SliceOp, nn::ConcatOp, nn::GatherOp>(op);
}

/// \p value as one that holds unsigned integers of \p bits bits: what overflows
/// them wraps around, which it does not in the type that holds them.
Value ModelImporter::holdUnsigned(Value value, unsigned bits) {
  unsigned has = unsignedBits.lookup(value);
  if (has == bits)
    return value;
  if (bits == 0)
    // The same numbers, but signed: a value of its own.
    return nn::ReshapeOp::create(builder.getOpBuilder(), builder.getLoc(),
                                 getTensorType(value), value);
  if (has != 0 || !movesElements(value.getDefiningOp()))
    value = builder.create<nn::ModOp>(
        value, builder.splatLike(value, std::ldexp(1.0, bits)));
  unsignedBits[value] = bits;
  return value;
}

/// A model may have a configuration for each of several sets of devices; its
/// nodes may also name one that it does not describe.
void ModelImporter::noteStage(const NodeProto &node) {
  if (!options.notes)
    return;
  const ModelProto &proto = file.getModel();
  for (const NodeDeviceConfigurationProto &device :
       node.device_configurations()) {
    bool isFirst = proto.configuration_size() == 0 ||
                   device.configuration_id() == proto.configuration(0).name();
    if (!isFirst || !device.has_pipeline_stage())
      continue;
    options.notes->stages[cast<NameLoc>(builder.getLoc()).getName()] =
        device.pipeline_stage();
    return;
  }
}

void ModelImporter::noteTypes() {
  if (!options.notes)
    return;
  for (const auto &[name, value] : root.values)
    if (value)
      options.notes->types[name] = getTensorType(value);
}

Value ModelImporter::lookup(const std::string &name) {
  for (GraphScope *inner = scope; inner; inner = inner->outer)
    if (Value value = lookup(name, *inner))
      return value;
  return {};
}

Value ModelImporter::lookup(const std::string &name, GraphScope &scope) {
  if (auto it = scope.values.find(name); it != scope.values.end())
    return it->second;
  auto it = scope.initializers.find(name);
  if (it == scope.initializers.end())
    return {};
  FailureOr<Value> value = importInitializer(*it->second);
  return scope.values[name] = succeeded(value) ? *value : Value();
}

//===----------------------------------------------------------------------===//
// Graphs of nodes
//===----------------------------------------------------------------------===//

/// A body that runs often, or bodies within bodies, must not exhaust the memory
/// or the stack.
constexpr int64_t maxNodes = int64_t(1) << 17;
constexpr int64_t maxDepth = 100;

FailureOr<SmallVector<Value>>
ModelImporter::importGraph(const GraphProto &graph, ArrayRef<Value> arguments) {
  Location nodeLoc = builder.getLoc();
  // A body without nodes costs something too.
  nodes += 1 + graph.node_size();
  if (depth == maxDepth || nodes > maxNodes)
    return emitError(nodeLoc)
           << "takes more than " << (depth == maxDepth ? maxDepth : maxNodes)
           << (depth == maxDepth ? " graphs within graphs" : " nodes");
  GraphScope inner(*scope, graph, nodeLoc);
  llvm::SaveAndRestore<GraphScope *> enter(scope, &inner);
  llvm::SaveAndRestore<int64_t> deepen(depth, depth + 1);
  llvm::scope_exit restore([&] { builder.setLoc(nodeLoc); });
  for (auto [input, argument] : llvm::zip_equal(graph.input(), arguments))
    inner.values[input.name()] = argument;
  // A body that runs again is in order already.
  auto [order, isNew] = orders.try_emplace(&graph);
  if (isNew) {
    order->second = orderNodes(inner);
    checkOperators(inner);
  }
  if (inner.report.hasFailed())
    return failure();
  importNodes(order->second);
  SmallVector<Value> results;
  for (const ValueInfoProto &output : graph.output()) {
    results.push_back(lookup(output.name()));
    checkTensor(results.back(), "has a graph that returns");
  }
  if (inner.report.hasFailed() || llvm::is_contained(results, Value()))
    return failure();
  return results;
}

//===----------------------------------------------------------------------===//
// The model's outputs
//===----------------------------------------------------------------------===//

void ModelImporter::importReturn() {
  SmallVector<Value> outputs;
  SmallVector<StringRef> names;
  SmallVector<int64_t> axes;
  for (const ValueInfoProto &output : root.graph.output()) {
    Value value = lookup(output.name());
    if (!value)
      return;
    if (!getSequence(value).empty()) {
      report.error() << "has output '" << output.name()
                     << "', a sequence of tensors, which is not supported";
      return;
    }
    outputs.push_back(value);
    names.push_back(output.name());
    axes.push_back(
        getBatchAxis(output, batchDim, getTensorType(value).getRank()));
  }
  OpBuilder &opBuilder = builder.getOpBuilder();
  DenseI64ArrayAttr axesAttr;
  if (llvm::any_of(axes, [](int64_t axis) { return axis != 0; }))
    axesAttr = opBuilder.getDenseI64ArrayAttr(axes);
  pp::ReturnOp::create(opBuilder, model.getLoc(),
                       opBuilder.getStrArrayAttr(names), outputs, ValueRange(),
                       axesAttr);
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

FailureOr<Value> ModelImporter::importInitializer(const TensorProto &tensor) {
  if (Value value = imported.lookup(&tensor))
    return value;
  Location nodeLoc = builder.getLoc();
  builder.setLoc(NameLoc::get(StringAttr::get(context, tensor.name())));
  llvm::scope_exit restore([&] { builder.setLoc(nodeLoc); });
  if (auto copy = copies.find(tensor.name()); copy != copies.end())
    return importCopy(tensor, copy->second);
  llvm::Expected<TensorContents> contents =
      file.hasValues(tensor) ? file.read(tensor) : file.describe(tensor);
  if (!contents) {
    report.error() << "has initializer '" << tensor.name() << "', which "
                   << toString(contents.takeError());
    return failure();
  }
  Type element = convertElementType(contents->dataType, context);
  if (isa_and_nonnull<FloatType>(element) && !contents->dims.empty()) {
    Value value = createParameter(*contents, tensor.name(), &tensor);
    if (buffers.contains(tensor.name())) {
      keepFixed(value);
      if (remarks.insert("buffers").second)
        emitRemark(UnknownLoc::get(context))
            << "initializer '" << tensor.name()
            << "' is a buffer in PyTorch; buffers are not trained";
    }
    return imported[&tensor] = value;
  }
  return createConstant(*contents);
}

Value ModelImporter::createConstant(const TensorContents &contents) {
  Value value = builder.constant(convertTensor(contents, context));
  unsignedBits[value] = pipewright::getUnsignedBits(contents.dataType);
  return value;
}

FailureOr<Value> ModelImporter::importCopy(const TensorProto &tensor,
                                           const WeightCopy &copy) {
  Value value = lookup(copy.weight);
  if (!value)
    return failure();
  emitRemark(UnknownLoc::get(context))
      << "initializer '" << tensor.name() << "' is "
      << (copy.isTransposed ? "the transpose" : "a copy") << " of '"
      << copy.weight << "'; they are one parameter";
  return copy.isTransposed ? builder.transpose(value, {1, 0}) : value;
}

FailureOr<Value> ModelImporter::importConstant(const TensorProto &tensor,
                                               StringRef name) {
  llvm::Expected<TensorContents> contents = file.read(tensor);
  if (!contents) {
    report.fail();
    return emitError(builder.getLoc())
           << "'" << name << "' " << toString(contents.takeError());
  }
  Type element = convertElementType(contents->dataType, context);
  if (isa_and_nonnull<FloatType>(element) &&
      contents->bytes.size() > maxInlineBytes)
    return createParameter(*contents, name, /*initializer=*/nullptr);
  return createConstant(*contents);
}

Value ModelImporter::createParameter(const TensorContents &contents,
                                     StringRef name,
                                     const TensorProto *initializer) {
  // Graphs of nodes may use a name again.
  std::string unique = name.str();
  for (int i = 1; !parameters.try_emplace(unique, initializer).second; ++i)
    unique = name.str() + "_" + std::to_string(i);
  auto type = RankedTensorType::get(
      contents.dims, convertElementType(contents.dataType, context));
  Attribute value;
  if (contents.range)
    value =
        pp::ExternalAttr::get(context, contents.range->file,
                              contents.range->offset, contents.range->length);
  else
    value = convertTensor(contents, context);
  OpBuilder moduleBuilder(model);
  // Where a parameter comes from is its name there.
  auto recovered = weightNames.find(name);
  StringRef original =
      recovered == weightNames.end() ? name : StringRef(recovered->second);
  pp::ParameterOp::create(
      moduleBuilder, NameLoc::get(StringAttr::get(context, original)), unique,
      /*trainable=*/initializer != nullptr, type, value);
  return pp::GetParameterOp::create(builder.getOpBuilder(), builder.getLoc(),
                                    type, unique);
}

Value ModelImporter::getRandomKey() {
  if (!randomKey) {
    OpBuilder &opBuilder = builder.getOpBuilder();
    auto type = RankedTensorType::get({2}, opBuilder.getI64Type());
    randomKey = pp::RandomKeyOp::create(opBuilder, builder.getLoc(), type,
                                        /*layer=*/0);
  }
  return randomKey;
}

DenseElementsAttr ModelImporter::getKnown(Value value) {
  auto get = value.getDefiningOp<pp::GetParameterOp>();
  const TensorProto *initializer =
      get ? parameters.lookup(get.getParameter()) : nullptr;
  if (!initializer)
    return getConstant(value);
  std::optional<TensorContents> contents =
      llvm::expectedToOptional(file.read(*initializer));
  return contents ? convertTensor(*contents, context) : DenseElementsAttr();
}

void ModelImporter::keepFixed(Value value) {
  auto get = value.getDefiningOp<pp::GetParameterOp>();
  if (!get)
    return;
  SymbolTable::lookupNearestSymbolFrom<pp::ParameterOp>(get,
                                                        get.getParameterAttr())
      .setTrainable(false);
}

ArrayRef<Value> ModelImporter::getSequence(Value value) {
  auto known = sequences.find(value);
  if (known == sequences.end())
    return {};
  return known->second;
}

Value ModelImporter::makeSequence(ArrayRef<Value> elements) {
  // A value of its own, which nothing reads.
  Value value =
      nn::ReshapeOp::create(builder.getOpBuilder(), builder.getLoc(),
                            getTensorType(elements.front()), elements.front());
  sequences[value] = elements.vec();
  return value;
}

/// Reports \p value if it is a sequence, which \p reader cannot take.
bool ModelImporter::checkTensor(Value value, StringRef reader) {
  if (getSequence(value).empty())
    return true;
  scope->report.fail();
  emitError(builder.getLoc())
      << reader << " a sequence of tensors, which is not supported";
  return false;
}

void ModelImporter::addConditionalRows(ConditionalRows rows) {
  conditionalRows.push_back(std::move(rows));
}

void ModelImporter::remarkOnce(StringRef message) {
  if (remarks.insert(message).second)
    emitRemark(builder.getLoc()) << message;
}

//===----------------------------------------------------------------------===//
// After the last node
//===----------------------------------------------------------------------===//

void ModelImporter::removeConditionalRows() {
  warnOfMissingExperts(conditionalRows);
  if (failed(removeAbsentRows(conditionalRows)))
    report.fail();
}

/// The ops that read the elements of \p value, in whatever shape.
static SmallVector<std::pair<Operation *, Value>> getReaders(Value value) {
  SmallVector<std::pair<Operation *, Value>> readers;
  SmallVector<Value> shapes{value};
  while (!shapes.empty()) {
    Value shaped = shapes.pop_back_val();
    for (Operation *op : shaped.getUsers()) {
      if (auto reshape = dyn_cast<nn::ReshapeOp>(op))
        shapes.push_back(reshape.getResult());
      else
        readers.push_back({op, shaped});
    }
  }
  return readers;
}

/// What is known of the values of \p argument from the ops that read it.
static pp::InputAttr describeValues(BlockArgument argument,
                                    pp::InputAttr spec) {
  int64_t classes = 0, ignored = 0, limit = 0;
  for (auto [op, value] : getReaders(argument)) {
    auto loss = dyn_cast<nn::CrossEntropyOp>(op);
    if (loss && loss.getLabels() == value) {
      classes = getShape(loss.getLogits()).back();
      ignored = loss.getIgnoreIndex();
    }
    auto gather = dyn_cast<nn::GatherOp>(op);
    if (!gather || gather.getIndices() != value)
      continue;
    int64_t size = getShape(gather.getTable())[gather.getAxis()];
    limit = limit == 0 ? size : std::min(limit, size);
  }
  return pp::InputAttr::get(argument.getContext(), spec.getName(),
                            spec.getAxis(), classes, ignored, limit);
}

void ModelImporter::describeInputs() {
  SmallVector<Attribute> specs;
  for (BlockArgument argument : model.getBody().getArguments())
    specs.push_back(
        describeValues(argument, model.getInputSpec(argument.getArgNumber())));
  model.setInputsAttr(ArrayAttr::get(context, specs));
}

/// A dimension of size 0, a past of no length, may only be there to vanish.
void ModelImporter::checkElements() {
  bool mayBeEmpty = llvm::any_of(
      options.bind, [](const auto &entry) { return entry.getValue() == 0; });
  if (!mayBeEmpty)
    return;
  for (Operation &op : model.getBody().front())
    for (Value operand : op.getOperands()) {
      if (getTensorType(operand).getNumElements() > 0)
        continue;
      emitError(op.getLoc()) << "computes with " << operand.getType()
                             << ", which has no elements; bind no dimension of "
                                "it to 0";
      report.fail();
    }
}

void ModelImporter::removeUnused() {
  Block &body = model.getBody().front();
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (isOpTriviallyDead(&op))
      op.erase();
  llvm::StringSet<> used;
  for (auto get : body.getOps<pp::GetParameterOp>())
    used.insert(get.getParameter());
  for (auto parameter :
       llvm::make_early_inc_range(module->getOps<pp::ParameterOp>()))
    if (!used.contains(parameter.getSymName()))
      parameter.erase();
}
