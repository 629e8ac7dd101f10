//===- LowerLaunches.cpp - Launches as calls of the runtime
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Chips.h"

#include "pipewright/Codegen/Passes.h"

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace pipewright {
#define GEN_PASS_DEF_LOWERLAUNCHES
#include "pipewright/Codegen/Passes.h.inc"
} // namespace pipewright

using namespace mlir;
using namespace pipewright;

static constexpr StringLiteral launchFunction = "pprtCudaLaunch";

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

namespace {
/// Makes the globals of one binary; their names begin with the binary's.
class GlobalBuilder {
public:
  GlobalBuilder(gpu::BinaryOp binary)
      : binary(binary), builder(binary.getLoc(), binary),
        pointerType(LLVM::LLVMPointerType::get(binary.getContext())) {}

  /// Machine code, aligned as the sections in it may have to be.
  LLVM::GlobalOp createCode(StringRef bytes, const Twine &name) {
    constexpr unsigned alignment = 128;
    auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), bytes.size());
    return create(type, builder.getStringAttr(bytes), name, alignment);
  }

  /// A string as C has it.
  LLVM::GlobalOp createString(StringRef text, const Twine &name) {
    std::string terminated = text.str() + '\0';
    auto type =
        LLVM::LLVMArrayType::get(builder.getI8Type(), terminated.size());
    return create(type, builder.getStringAttr(terminated), name);
  }

  /// An array of \p count null pointers that can be changed.
  LLVM::GlobalOp createNulls(size_t count, const Twine &name) {
    auto type = LLVM::LLVMArrayType::get(pointerType, count);
    LLVM::GlobalOp global = create(type, Attribute(), name);
    global.setConstant(false);
    fill(global, [&] { return LLVM::ZeroOp::create(builder, type); });
    return global;
  }

  /// A structure, or an array of structures, with these fields.
  LLVM::GlobalOp createStruct(Type type, function_ref<Value()> makeValue,
                              const Twine &name) {
    LLVM::GlobalOp global = create(type, Attribute(), name);
    fill(global, makeValue);
    return global;
  }

  /// \p fields one after the other in a value of \p type.
  Value pack(Type type, ArrayRef<Value> fields) {
    Value value = LLVM::UndefOp::create(builder, type);
    for (auto [index, field] : llvm::enumerate(fields))
      value = LLVM::InsertValueOp::create(builder, value, field, index);
    return value;
  }
  Value getAddress(LLVM::GlobalOp global) {
    return LLVM::AddressOfOp::create(builder, global);
  }
  Value getWord(uint64_t value) {
    return LLVM::ConstantOp::create(builder, builder.getI32IntegerAttr(value));
  }
  Value getWide(uint64_t value) {
    return LLVM::ConstantOp::create(builder, builder.getI64IntegerAttr(value));
  }

  Type getStructType(ArrayRef<Type> fields) {
    return LLVM::LLVMStructType::getLiteral(builder.getContext(), fields);
  }
  Type getPointerType() { return pointerType; }
  Type getWordType() { return builder.getI32Type(); }
  Type getWideType() { return builder.getI64Type(); }

private:
  LLVM::GlobalOp create(Type type, Attribute value, const Twine &name,
                        uint64_t alignment = 0) {
    return LLVM::GlobalOp::create(
        builder, type, /*isConstant=*/true, LLVM::Linkage::Internal,
        (binary.getName() + "." + name).str(), value, alignment);
  }

  void fill(LLVM::GlobalOp global, function_ref<Value()> makeValue) {
    OpBuilder::InsertionGuard guard(builder);
    builder.createBlock(&global.getInitializerRegion());
    LLVM::ReturnOp::create(builder, makeValue());
  }

  gpu::BinaryOp binary;
  ImplicitLocOpBuilder builder;
  Type pointerType;
};

/// A `gpu.binary` and the kernels that are launched of it, by number.
struct KernelModule {
  gpu::BinaryOp binary;
  SmallVector<gpu::LaunchFuncOp> launches;
  llvm::MapVector<StringRef, unsigned> kernels;
};

/// One `PprtKernelImage`.
struct Image {
  LLVM::GlobalOp data;
  unsigned chip;
  bool isPtx;
  uint64_t bytes;
};
} // namespace

static FailureOr<SmallVector<Image>> createImages(gpu::BinaryOp binary,
                                                  GlobalBuilder &globals) {
  SmallVector<Image> images;
  for (Attribute attribute : binary.getObjects()) {
    auto object = cast<gpu::ObjectAttr>(attribute);
    auto target = dyn_cast<NVVM::NVVMTargetAttr>(object.getTarget());
    bool isPtx = object.getFormat() == gpu::CompilationTarget::Assembly;
    if (!target ||
        (!isPtx && object.getFormat() != gpu::CompilationTarget::Binary))
      return binary.emitOpError("has code that is neither PTX nor of one chip");
    StringRef code = object.getObject().getValue();
    if (isPtx)
      code = code.rtrim('\0');
    std::string name = "image" + std::to_string(images.size());
    images.push_back({isPtx ? globals.createString(code, name)
                            : globals.createCode(code, name),
                      cuda::getChipNumber(target.getChip()), isPtx,
                      code.size()});
  }
  return images;
}

static LLVM::GlobalOp createImageTable(ArrayRef<Image> images,
                                       GlobalBuilder &globals) {
  Type word = globals.getWordType();
  Type imageType = globals.getStructType(
      {word, word, globals.getPointerType(), globals.getWideType()});
  auto type = LLVM::LLVMArrayType::get(imageType, images.size());
  auto makeTable = [&] {
    SmallVector<Value> values;
    for (const Image &image : images)
      values.push_back(globals.pack(imageType, {globals.getWord(image.chip),
                                                globals.getWord(image.isPtx),
                                                globals.getAddress(image.data),
                                                globals.getWide(image.bytes)}));
    return globals.pack(type, values);
  };
  return globals.createStruct(type, makeTable, "images");
}

static LLVM::GlobalOp createNameTable(const KernelModule &module,
                                      GlobalBuilder &globals) {
  SmallVector<LLVM::GlobalOp> names;
  for (auto [name, number] : module.kernels)
    names.push_back(
        globals.createString(name, "kernel" + std::to_string(number)));
  auto type = LLVM::LLVMArrayType::get(globals.getPointerType(), names.size());
  auto makeTable = [&] {
    SmallVector<Value> values;
    for (LLVM::GlobalOp name : names)
      values.push_back(globals.getAddress(name));
    return globals.pack(type, values);
  };
  return globals.createStruct(type, makeTable, "kernels");
}

/// The `PprtKernelModule` of \p module.
static FailureOr<LLVM::GlobalOp> createGlobals(const KernelModule &module) {
  gpu::BinaryOp binary = module.binary;
  GlobalBuilder globals(binary);
  FailureOr<SmallVector<Image>> images = createImages(binary, globals);
  if (failed(images))
    return failure();
  LLVM::GlobalOp name = globals.createString(binary.getName(), "name");
  LLVM::GlobalOp imageTable = createImageTable(*images, globals);
  LLVM::GlobalOp nameTable = createNameTable(module, globals);
  size_t count = module.kernels.size();
  LLVM::GlobalOp handles = globals.createNulls(count, "handles");

  Type pointer = globals.getPointerType(), word = globals.getWordType();
  Type type =
      globals.getStructType({pointer, word, word, pointer, pointer, pointer});
  auto makeModule = [&] {
    return globals.pack(
        type, {globals.getAddress(name), globals.getWord(images->size()),
               globals.getWord(count), globals.getAddress(imageTable),
               globals.getAddress(nameTable), globals.getAddress(handles)});
  };
  return globals.createStruct(type, makeModule, "module");
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// Checks what the runtime's function has no argument for.
static LogicalResult verifyLaunch(gpu::LaunchFuncOp launch) {
  if (!launch.getAsyncDependencies().empty() || launch.getAsyncToken() ||
      launch.getAsyncObject())
    return launch.emitOpError("waits for others, which the runtime does not");
  if (launch.getDynamicSharedMemorySize() || launch.hasClusterSize())
    return launch.emitOpError("asks for shared memory or clusters, which the "
                              "runtime does not give");
  for (Value operand : launch.getKernelOperands()) {
    auto buffer = dyn_cast<MemRefType>(operand.getType());
    if (!buffer)
      continue;
    auto [strides, offset] = buffer.getStridesAndOffset();
    if (!buffer.hasStaticShape() || ShapedType::isDynamic(offset) ||
        llvm::any_of(strides, ShapedType::isDynamic))
      return launch.emitOpError("has an argument of ")
             << buffer << ", of which a pointer says too little";
  }
  return success();
}

namespace {
/// Lowers the launches of one function.
class LaunchLowering {
public:
  LaunchLowering(gpu::LaunchFuncOp launch, const LLVMTypeConverter &types)
      : launch(launch), types(types), builder(launch.getLoc(), launch),
        pointerType(LLVM::LLVMPointerType::get(launch.getContext())) {}

  LogicalResult lower(const KernelModule &module, LLVM::GlobalOp global) {
    SmallVector<Value> operands = {
        LLVM::AddressOfOp::create(builder, global),
        getWord(module.kernels.lookup(launch.getKernelName()))};
    for (gpu::KernelDim3 sizes : {launch.getGridSizeOperandValues(),
                                  launch.getBlockSizeOperandValues()})
      for (Value size : {sizes.x, sizes.y, sizes.z}) {
        std::optional<int64_t> value = getConstantIntValue(size);
        if (!value || *value < 1 || *value > INT32_MAX)
          return launch.emitOpError(
              "has sizes that are not constants from 1 to 2147483647");
        operands.push_back(getWord(*value));
      }
    operands.push_back(createArguments());
    LLVM::CallOp::create(builder, declare(), operands);
    return success();
  }

private:
  Value getWord(int64_t value) {
    return LLVM::ConstantOp::create(builder, builder.getI32IntegerAttr(value));
  }

  LLVM::LLVMFuncOp declare() {
    auto module = launch->getParentOfType<ModuleOp>();
    if (auto known = module.lookupSymbol<LLVM::LLVMFuncOp>(launchFunction))
      return known;
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(module.getBody());
    SmallVector<Type> parameters(9, builder.getI32Type());
    parameters.front() = parameters.back() = pointerType;
    return LLVM::LLVMFuncOp::create(
        builder, launchFunction,
        LLVM::LLVMFunctionType::get(
            LLVM::LLVMVoidType::get(builder.getContext()), parameters));
  }

  /// An argument as the kernel takes it: buffers are where their first element
  /// would be without the offset that their type tells.
  Value getArgument(Value operand) {
    Type type = types.convertType(operand.getType());
    Value value =
        type == operand.getType()
            ? operand
            : UnrealizedConversionCastOp::create(builder, type, operand)
                  .getResult(0);
    if (!isa<MemRefType>(operand.getType()))
      return value;
    return MemRefDescriptor(value).alignedPtr(builder, builder.getLoc());
  }

  /// Memory on the stack that is given back when the function returns.
  Value allocate(Type type, int64_t count) {
    OpBuilder::InsertionGuard guard(builder);
    auto function = launch->getParentOfType<func::FuncOp>();
    builder.setInsertionPointToStart(&function.getBody().front());
    Value size =
        LLVM::ConstantOp::create(builder, builder.getI64IntegerAttr(count));
    return LLVM::AllocaOp::create(builder, pointerType, type, size);
  }

  /// An array of the addresses of the kernel's arguments.
  Value createArguments() {
    int64_t count = launch.getNumKernelOperands();
    Value addresses = allocate(pointerType, count);
    for (auto [index, operand] : llvm::enumerate(launch.getKernelOperands())) {
      Value value = getArgument(operand);
      Value place = allocate(value.getType(), 1);
      LLVM::StoreOp::create(builder, value, place);
      Value entry = LLVM::GEPOp::create(
          builder, pointerType, pointerType, addresses,
          ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
      LLVM::StoreOp::create(builder, place, entry);
    }
    return addresses;
  }

  gpu::LaunchFuncOp launch;
  const LLVMTypeConverter &types;
  ImplicitLocOpBuilder builder;
  Type pointerType;
};

struct LowerLaunches : pipewright::impl::LowerLaunchesBase<LowerLaunches> {
  void runOnOperation() override {
    llvm::MapVector<StringAttr, KernelModule> modules;
    for (auto binary : getOperation().getOps<gpu::BinaryOp>())
      modules[binary.getSymNameAttr()].binary = binary;
    WalkResult walk = getOperation().walk([&](gpu::LaunchFuncOp launch) {
      return WalkResult(collect(launch, modules));
    });
    if (walk.wasInterrupted())
      return signalPassFailure();
    for (auto &[name, module] : modules) {
      if (!module.launches.empty() && failed(lower(module)))
        return signalPassFailure();
      module.binary.erase();
    }
    getOperation()->removeAttr(gpu::GPUDialect::getContainerModuleAttrName());
  }

private:
  LogicalResult collect(gpu::LaunchFuncOp launch,
                        llvm::MapVector<StringAttr, KernelModule> &modules) {
    auto module = modules.find(launch.getKernelModuleName());
    if (module == modules.end())
      return launch.emitOpError("is of kernels that are not a 'gpu.binary'");
    if (failed(verifyLaunch(launch)))
      return failure();
    KernelModule &kernels = module->second;
    kernels.launches.push_back(launch);
    kernels.kernels.try_emplace(launch.getKernelName().getValue(),
                                kernels.kernels.size());
    return success();
  }

  LogicalResult lower(const KernelModule &module) {
    FailureOr<LLVM::GlobalOp> global = createGlobals(module);
    if (failed(global))
      return failure();
    LLVMTypeConverter types(&getContext());
    for (gpu::LaunchFuncOp launch : module.launches) {
      if (failed(LaunchLowering(launch, types).lower(module, *global)))
        return failure();
      launch.erase();
    }
    return success();
  }
};
} // namespace
